import { PARAKEET_V3_LANGUAGES, SENSE_VOICE_LANGUAGES } from '../../../engine/speech/speech_languages.js';

/** Speech models that `spool models install` knows, in the form that sherpa-onnx publishes them. */

/** One file to fetch. `kept`: the files of the archive that are kept, by their new names; otherwise those of the model. */
export type ModelSource = { url: string; kept?: Readonly<Record<string, string>> } | { url: string; file: string };

/**
 * `languages`: BCP 47 tags; null for any. `memory_mb` and `speed_s`, CPU seconds for each second of speech, are
 * estimates; null for files that only add to a model.
 */
export type CatalogueModel = {
  name: string;
  languages: readonly string[] | null;
  languages_text: string;
  sources: readonly ModelSource[];
  download_mb: number;
  memory_mb: number;
  speed_s: number | null;
  licence: string;
};

const RELEASES = 'https://github.com/k2-fsa/sherpa-onnx/releases/download';
const asrModel = (name: string): ModelSource => ({ url: `${RELEASES}/asr-models/${name}.tar.bz2` });

/** The name of the two files that tell speakers apart, beside any model. */
export const SPEAKERS = 'speakers';
/** The name of the model that comes with Spool. */
export const BUILT_IN = 'built-in';

export const CATALOGUE: readonly CatalogueModel[] = [
  {
    name: 'whisper-base',
    languages: null,
    languages_text: '99 languages',
    sources: [asrModel('sherpa-onnx-whisper-base')],
    download_mb: 200,
    memory_mb: 400,
    speed_s: 0.2,
    licence: 'MIT',
  },
  {
    name: 'whisper-small',
    languages: null,
    languages_text: '99 languages',
    sources: [asrModel('sherpa-onnx-whisper-small')],
    download_mb: 610,
    memory_mb: 900,
    speed_s: 0.6,
    licence: 'MIT',
  },
  {
    name: 'parakeet-v3',
    languages: PARAKEET_V3_LANGUAGES,
    languages_text: '25 languages of Europe',
    sources: [asrModel('sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8')],
    download_mb: 490,
    memory_mb: 1_300,
    speed_s: 0.2,
    licence: 'CC BY 4.0',
  },
  {
    name: 'sense-voice',
    languages: SENSE_VOICE_LANGUAGES,
    languages_text: 'zh, yue, en, ja, ko',
    sources: [asrModel('sherpa-onnx-sense-voice-zh-en-ja-ko-yue-int8-2024-07-17')],
    download_mb: 170,
    memory_mb: 500,
    speed_s: 0.1,
    licence: 'FunASR model licence',
  },
  {
    name: 'moonshine-base',
    languages: ['en'],
    languages_text: 'English',
    sources: [asrModel('sherpa-onnx-moonshine-base-en-int8')],
    download_mb: 240,
    memory_mb: 600,
    speed_s: 0.2,
    licence: 'MIT',
  },
  {
    name: SPEAKERS,
    languages: null,
    languages_text: 'any, beside a model',
    sources: [
      {
        url: `${RELEASES}/speaker-segmentation-models/sherpa-onnx-pyannote-segmentation-3-0.tar.bz2`,
        kept: { 'model.onnx': 'segmentation.onnx', LICENSE: 'LICENSE' },
      },
      { url: `${RELEASES}/speaker-recongition-models/nemo_en_titanet_small.onnx`, file: 'speaker.onnx' },
    ],
    download_mb: 50,
    memory_mb: 150,
    speed_s: null,
    licence: 'MIT, CC BY 4.0',
  },
];

/** Null for a name that only `--from` can install. */
export function catalogueModel(name: string): CatalogueModel | null {
  return CATALOGUE.find((one) => one.name === name) ?? null;
}
