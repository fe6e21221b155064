/*
 * Fetches the built-in speech model and the model of voices to models/, once: the weights, the vocabulary and the licences.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from './build.mjs';
import { ensureModels } from './packed_models.mjs';

const MOONSHINE = 'dist/model/tiny/quantized';
/** Moonshine's vocabulary has so many entries behind those of Llama 2: `<<ST_0>>` and so on. */
const SPECIAL_TOKENS = 768;

const PACKAGES = [
  {
    name: '@moonshine-ai/moonshine-js@0.1.29',
    sha512: 'Gx1B3mJcbM68ihSy/LyJEuEkGq7sYMqTb04zNdcIeidU0URVlSmXP0GyiQOTTAqDZQXlIC7k+bky+FdXk0UPlg==',
    files: {
      LICENSE: 'moonshine-tiny/LICENSE',
      [`${MOONSHINE}/encoder_model.onnx`]: 'moonshine-tiny/encoder_model.onnx',
      [`${MOONSHINE}/decoder_model_merged.onnx`]: 'moonshine-tiny/decoder_model_merged.onnx',
    },
  },
  {
    name: 'llama-tokenizer-js@1.2.2',
    sha512: 'Wmth393dc3odWU3IzARJ3r2oIfWgw9GdJ5Gm+hGhfECNO18UHLRqEFSf511jn4E9KcQGzuuKw4Wl08pHAemLAw==',
    files: {
      'LICENSE.md': 'moonshine-tiny/LICENSE-vocabulary.md',
      'llama-tokenizer.js': 'moonshine-tiny/vocabulary.mjs',
    },
  },
  {
    name: '@ricky0123/vad-web@0.0.31',
    sha512: 'ePVq8TvB21sdHSxVMZOEIf9JVa7MAYpaIaNXeGgsPOiMCN8xbPCdF2LS5aYj7VRR3ZxzutedgV9ZplV65IA1Fg==',
    // Its licence stands in package.json alone.
    files: { 'package.json': 'silero-vad/package.json', 'dist/silero_vad_v6.onnx': 'silero-vad/silero_vad_v6.onnx' },
  },
];

/** Brings models/ to where the built-in engine can run; nothing where its runtime is not installed. */
export const ensureSpeechModels = async () => {
  if (!existsSync(join(root, 'node_modules', 'sherpa-onnx-node'))) return;
  await ensureModels({
    what: 'the speech model',
    megabytes: 27,
    folders: ['moonshine-tiny', 'silero-vad'],
    packages: PACKAGES,
    finish: (work) => writeTokens(join(work, 'moonshine-tiny')),
  });
};

/** The vocabulary as sherpa-onnx reads it: a line for each token, its text in base64 and its number. */
const writeTokens = async (folder) => {
  const source = join(folder, 'vocabulary.mjs');
  const { default: llama } = await import(pathToFileURL(source).href);
  const special = Array.from({ length: SPECIAL_TOKENS }, (_, number) => `<<ST_${number}>>`);
  const lines = [...llama.vocabById, ...special].map(
    (text, number) => `${Buffer.from(text).toString('base64')} ${number}\n`,
  );
  writeFileSync(join(folder, 'tokens.txt'), lines.join(''));
  rmSync(source);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureSpeechModels();
