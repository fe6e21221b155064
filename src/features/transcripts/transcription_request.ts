import { languageTag } from '../../domain/language_tag.js';
import { LIMITS } from '../../domain/limits.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { TRANSCRIPTION_FORMATS, type TranscriptionFormat } from './transcription_forms.js';

/** The model by which a file that is transcribed becomes a recording as well. */
export const KEEPING_MODEL = 'spool-keep';
/** Any other name is the engine of this server: clients have names of their own built in. */
export const MODEL_ALIAS = 'whisper-1';

export type TranscriptionAsked = {
  format: TranscriptionFormat;
  stream: boolean;
  language: string | null;
  prompt: string;
  words: boolean;
  keeps: boolean;
};

/** Reads the fields of a form. Others are left unread: clients send options of other engines. Throws Refused, which names the field. */
export function transcriptionAsked(
  fields: ReadonlyMap<string, readonly string[]>,
  { keeps }: { keeps: boolean },
): TranscriptionAsked {
  const last = (name: string) => fields.get(name)?.at(-1)?.trim() || undefined;
  const model = last('model');
  if (model === undefined) throw unsupported('model', 'must be the name of a model');
  const format = last('response_format') ?? 'json';
  if (!isFormat(format)) throw unsupported('response_format', `must be one of ${TRANSCRIPTION_FORMATS.join(', ')}`);
  const said = last('language');
  const language = said === undefined || said === 'auto' ? null : languageTag(said);
  if (language === undefined) throw unsupported('language', 'must be a language tag, such as en');
  return {
    format,
    stream: last('stream') === 'true',
    language,
    prompt: (last('prompt') ?? '').slice(0, LIMITS.engine_prompt_chars_max),
    words: fields.get('timestamp_granularities')?.includes('word') === true,
    keeps: keeps || model === KEEPING_MODEL,
  };
}

function isFormat(text: string): text is TranscriptionFormat {
  return (TRANSCRIPTION_FORMATS as readonly string[]).includes(text);
}

function unsupported(path: string, message: string): Refused {
  const details = [{ path, message }];
  return new Refused(refuse('BAD_REQUEST', `${path}: ${message}.`, { details, extra: { code: 'unsupported_value' } }));
}
