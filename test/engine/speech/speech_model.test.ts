import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { type SpeechModel, speechModelOf } from '../../../src/engine/speech/speech_model.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

/** A folder of empty files, as an archive unpacks them. `tokens`: what is in its vocabulary. */
function folderOf(t: Parameters<typeof tempFolder>[0], files: readonly string[], tokens = ''): string {
  const folder = tempFolder(t);
  for (const file of files) writeFileSync(join(folder, file), file.endsWith('tokens.txt') ? tokens : '');
  return folder;
}

/** Paths in the config by their file's name. */
function namesIn(config: SpeechModel['config'] | undefined): unknown {
  return JSON.parse(JSON.stringify(config ?? null), (_, value) =>
    typeof value === 'string' && value.includes('/') ? basename(value) : value,
  );
}

t.test('K-160 a folder is recognised by its files', async (t) => {
  const rows: [what: string, files: string[], wanted: object, tokens?: string][] = [
    [
      'Moonshine with a merged decoder',
      ['encoder_model.onnx', 'decoder_model_merged.onnx', 'tokens.txt'],
      {
        languages: ['en'],
        checks_twice: true,
        config: { moonshine: { encoder: 'encoder_model.onnx', mergedDecoder: 'decoder_model_merged.onnx' } },
      },
    ],
    [
      'Moonshine in four parts, the smaller of two precisions',
      [
        ...['preprocess.onnx', 'encode.onnx', 'encode.int8.onnx', 'uncached_decode.int8.onnx'],
        ...['cached_decode.int8.onnx', 'tokens.txt'],
      ],
      { config: { moonshine: { preprocessor: 'preprocess.onnx', encoder: 'encode.int8.onnx' } }, checks_twice: true },
    ],
    [
      'Whisper',
      ['base-encoder.int8.onnx', 'base-encoder.onnx', 'base-decoder.int8.onnx', 'base-tokens.txt'],
      {
        languages: null,
        language_in: 'whisper',
        config: { whisper: { encoder: 'base-encoder.int8.onnx', decoder: 'base-decoder.int8.onnx' } },
      },
    ],
    [
      'English Whisper',
      ['tiny.en-encoder.onnx', 'tiny.en-decoder.onnx', 'tiny.en-tokens.txt'],
      { languages: ['en'], language_in: null, config: { tokens: 'tiny.en-tokens.txt' } },
    ],
    [
      'Parakeet',
      ['encoder.int8.onnx', 'decoder.int8.onnx', 'joiner.int8.onnx', 'tokens.txt'],
      { languages: null, config: { transducer: { joiner: 'joiner.int8.onnx' }, modelType: 'nemo_transducer' } },
    ],
    [
      'Zipformer',
      ['encoder-epoch-99-avg-1.onnx', 'decoder-epoch-99-avg-1.onnx', 'joiner-epoch-99-avg-1.onnx', 'tokens.txt'],
      { config: { modelType: '' } },
    ],
    [
      'SenseVoice',
      ['model.int8.onnx', 'model.onnx', 'tokens.txt'],
      { language_in: 'senseVoice', config: { senseVoice: { model: 'model.int8.onnx' } } },
      '<|zh|> 1\n<|yue|> 2\n',
    ],
    ['NeMo CTC', ['model.onnx', 'tokens.txt'], { config: { nemoCtc: { model: 'model.onnx' } } }, 'a 0\n<blk> 1\n'],
    [
      'with models of voices',
      ['encoder_model.onnx', 'decoder_model_merged.onnx', 'tokens.txt', 'segmentation.onnx', 'speaker.onnx'],
      { speakers: {} },
    ],
  ];
  for (const [what, files, wanted, tokens] of rows) {
    const folder = folderOf(t, files, tokens);
    const model = speechModelOf(folder);
    t.match({ ...model, config: namesIn(model?.config) }, { name: basename(folder), ...wanted }, what);
  }
});

t.test('K-160 a folder without a whole model is none', async (t) => {
  for (const files of [
    [],
    ['tokens.txt'],
    ['encoder_model.onnx', 'decoder_model_merged.onnx'],
    ['a-encoder.onnx', 'tokens.txt'],
  ])
    t.equal(speechModelOf(folderOf(t, files)), null, files.join(' '));
  t.equal(speechModelOf('/nonexistent'), null);
});
