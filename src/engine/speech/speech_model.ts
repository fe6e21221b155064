import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Speech models as folders of files. A folder is recognised by the names of its files, as public archives have them. */

export type SpeechModel = {
  name: string;
  /** BCP 47 tags of languages it hears; null where it hears many. */
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
/** A language token of SenseVoice's vocabulary; other models of one file have none. */
const SENSE_VOICE_TOKEN = '<|yue|>';
const TOKENS_BYTES_MAX = 16 * 1024 * 1024;

/** The model in a folder; null where its files are those of no known model. */
export function speechModelOf(folder: string): SpeechModel | null {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  // Of a file in two precisions the smaller one is as good.
  const find = (pattern: RegExp) => {
    const found = names.filter((name) => pattern.test(name));
    const name = found.find((one) => one.includes('.int8.')) ?? found[0];
    return name === undefined ? undefined : join(folder, name);
  };
  const tokens = find(/(^|-)tokens\.txt$/);
  if (tokens === undefined) return null;
  const [segmentation, embedding] = [find(/^segmentation(\.int8)?\.onnx$/), find(/^speaker(\.int8)?\.onnx$/)];
  const known = {
    name: basename(folder),
    language_in: null,
    checks_twice: false,
    speakers: segmentation === undefined || embedding === undefined ? null : { segmentation, embedding },
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
    return { ...known, languages: null, config };
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
  return { ...known, languages: null, config: { senseVoice, tokens }, language_in: 'senseVoice' };
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
