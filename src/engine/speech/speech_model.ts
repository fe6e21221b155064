import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PARAKEET_V3_LANGUAGES, SENSE_VOICE_LANGUAGES } from './speech_languages.js';

/** Speech models as folders of files. A folder is recognised by the names of its files, as public archives have them. */

export type SpeechModel = {
  name: string;
  /** BCP 47 tags of languages it hears; null where it hears many or that is not known. */
  languages: readonly string[] | null;
  /** The member of sherpa's model config, without the language. */
  config: Readonly<Record<string, unknown>> & { tokens: string };
  /** Takes the language of a request in this member of the config. */
  language_in: 'whisper' | 'senseVoice' | null;
  /** Decodes each utterance a second time: it writes fluent text of languages it does not know. */
  checks_twice: boolean;
  /** Tells speakers apart, by two more models. */
  speakers: { segmentation: string; embedding: string } | null;
};

/** Beside `dist/`: what `npm start` fetches. */
const MODELS_FOLDER = fileURLToPath(new URL('../../../../models', import.meta.url));
export const BUILT_IN_MODEL = join(MODELS_FOLDER, 'moonshine-tiny');
export const VOICE_MODEL = join(MODELS_FOLDER, 'silero-vad', 'silero_vad_v6.onnx');

/** Of Moonshine's models; those without a language in their name are English. */
const LANGUAGE_IN_NAME = /-(ar|es|ja|ko|uk|vi|zh)(?=-|$)/;
const PARAKEET_V3 = /parakeet.*-v3(?=-|$)/;
/** A language token of SenseVoice's vocabulary; other models of one file have none. */
const SENSE_VOICE_TOKEN = '<|yue|>';
const TOKENS_BYTES_MAX = 16 * 1024 * 1024;

/** The model in a folder; null where its files are those of no known model. `speakers_folder`: of models of voices beside it. */
export function speechModelOf(folder: string, speakers_folder: string | null = null): SpeechModel | null {
  const find = finderIn(folder);
  const tokens = find(/(^|-)tokens\.txt$/);
  if (tokens === undefined) return null;
  const known = {
    name: basename(folder),
    language_in: null,
    checks_twice: false,
    speakers: speakerFiles(folder) ?? (speakers_folder === null ? null : speakerFiles(speakers_folder)),
  };
  const moonshine = moonshineFiles(find);
  if (moonshine !== null) {
    const language = LANGUAGE_IN_NAME.exec(known.name)?.[1] ?? 'en';
    return { ...known, languages: [language], config: { moonshine, tokens }, checks_twice: true };
  }
  const encoder = find(/encoder.*\.onnx$/);
  const decoder = find(/decoder.*\.onnx$/);
  const joiner = find(/joiner.*\.onnx$/);
  if (encoder !== undefined && decoder !== undefined && joiner !== undefined) {
    // Archives of NeMo's models have plain names; those of others carry epochs in theirs.
    const is_nemo = /^encoder(\.int8)?\.onnx$/.test(basename(encoder));
    const config = { transducer: { encoder, decoder, joiner }, tokens, modelType: is_nemo ? 'nemo_transducer' : '' };
    return { ...known, languages: PARAKEET_V3.test(known.name) ? PARAKEET_V3_LANGUAGES : null, config };
  }
  if (encoder !== undefined && decoder !== undefined) {
    const languages = /\.en-/.test(basename(encoder)) ? ['en'] : null;
    const config = { whisper: { encoder, decoder, task: 'transcribe' }, tokens };
    return { ...known, languages, config, language_in: languages === null ? 'whisper' : null };
  }
  const model = find(/^model(\.int8)?\.onnx$/);
  if (model === undefined) return null;
  if (!readTokens(tokens).includes(SENSE_VOICE_TOKEN))
    return { ...known, languages: null, config: { nemoCtc: { model }, tokens } };
  const senseVoice = { model, useInverseTextNormalization: 1 };
  return { ...known, languages: SENSE_VOICE_LANGUAGES, config: { senseVoice, tokens }, language_in: 'senseVoice' };
}

/** The two models in a folder that tell speakers apart; null where it lacks one. */
export function speakerFiles(folder: string): SpeechModel['speakers'] {
  const find = finderIn(folder);
  const [segmentation, embedding] = [find(/^segmentation(\.int8)?\.onnx$/), find(/^speaker(\.int8)?\.onnx$/)];
  return segmentation === undefined || embedding === undefined ? null : { segmentation, embedding };
}

/** The bytes of a model's files, as they are loaded. */
export function modelBytes({ config, speakers }: SpeechModel): number {
  const paths = Object.values({ ...config, ...speakers }).flatMap((member) =>
    typeof member === 'object' && member !== null ? Object.values(member) : [member],
  );
  return paths.reduce((sum: number, path) => sum + (typeof path === 'string' ? fileBytes(path) : 0), 0);
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Finds a file by its name. Of a file in two precisions the smaller one is as good. */
function finderIn(folder: string): (pattern: RegExp) => string | undefined {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return (pattern) => {
    const found = names.filter((name) => pattern.test(name));
    const name = found.find((one) => one.includes('.int8.')) ?? found[0];
    return name === undefined ? undefined : join(folder, name);
  };
}

/** The two forms in which Moonshine's models are published. */
function moonshineFiles(find: (pattern: RegExp) => string | undefined): Record<string, string> | null {
  const mergedDecoder = find(/^decoder_model_merged(\.int8)?\.(onnx|ort)$/);
  const encoder = find(/^encoder_model(\.int8)?\.(onnx|ort)$/);
  if (mergedDecoder !== undefined && encoder !== undefined) return { encoder, mergedDecoder };
  const parts = {
    preprocessor: find(/^preprocess(\.int8)?\.onnx$/),
    encoder: find(/^encode(\.int8)?\.onnx$/),
    uncachedDecoder: find(/^uncached_decode(\.int8)?\.onnx$/),
    cachedDecoder: find(/^cached_decode(\.int8)?\.onnx$/),
  };
  return Object.values(parts).every((part) => part !== undefined) ? (parts as Record<string, string>) : null;
}

function readTokens(path: string): string {
  return readFileSync(path).subarray(0, TOKENS_BYTES_MAX).toString();
}
