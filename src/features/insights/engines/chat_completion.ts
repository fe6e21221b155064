import { EngineFailed } from '../../transcripts/engines/engine.js';

/**
 * The JSON in an answer of `/chat/completions`: models think aloud before it, put it into fences, channels or lists of
 * parts, say it twice or talk on behind it, and end lists with a comma.
 */

/** So many places from the beginning, and from the end, are tried as the beginning of the object. */
const TRIED = 12;
const BEGINS = /\{\s*["}]/gu;
/** Whatever comes before the last of these was thought, not said. */
const THOUGHT = /^[\s\S]*(?:<\/think(?:ing)?>|<\|message\|>|<\|channel\|>\w*)/iu;
const STRING_OR_LAST_COMMA = /"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/gu;

/**
 * The object in an answer: the last one with `member`, which is asked for, or else the longest. Throws EngineFailed where there is
 * none, or there was no room to say it to its end.
 */
export function readCompletion(answer: string, member: string): unknown {
  const completion = jsonOf(answer);
  if (completion === undefined) throw notJson();
  if (!isObject(completion)) throw bad('The answer is no chat completion.');
  const [choice] = Array.isArray(completion.choices) ? (completion.choices as unknown[]) : [];
  const message = isObject(choice) && isObject(choice.message) ? choice.message : {};
  const texts = [message.content, message.reasoning_content, message.reasoning]
    .map(textOf)
    .filter((text) => text !== '');
  if (texts.length === 0) throw bad('The answer holds no text.');
  for (const text of texts) {
    const found = objectIn(text.replace(THOUGHT, ''), member) ?? objectIn(text, member);
    if (found !== null) return found;
  }
  if (isObject(choice) && choice.finish_reason === 'length')
    throw new EngineFailed('ENGINE_CONTEXT_TOO_SMALL', 'The engine had no room to answer to the end.');
  throw notJson();
}

/** Of content parts their texts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

function objectIn(text: string, member: string): Record<string, unknown> | null {
  const begins = [...text.matchAll(BEGINS)].map(({ index }) => index);
  const tried = begins.length <= 2 * TRIED ? begins : [...begins.slice(0, TRIED), ...begins.slice(-TRIED)];
  const found: { value: Record<string, unknown>; length: number }[] = [];
  let end = 0;
  for (const from of tried) {
    // What stands inside another object is a part of it.
    if (from < end) continue;
    const to = endOfObject(text, from);
    const value = to === null ? undefined : jsonOf(text.slice(from, to));
    if (to === null || !isObject(value)) continue;
    found.push({ value, length: to - from });
    end = to;
  }
  const wanted = found.filter(({ value }) => Object.hasOwn(value, member)).at(-1);
  const longest = [...found].sort((a, b) => b.length - a.length)[0];
  return (wanted ?? longest)?.value ?? null;
}

/** Behind the brace that closes the one at `from`; null where none does. */
function endOfObject(text: string, from: number): number | null {
  let [depth, is_string] = [0, false];
  for (let at = from; at < text.length; at++) {
    const sign = text[at];
    if (is_string) {
      if (sign === '\\') at += 1;
      else if (sign === '"') is_string = false;
    } else if (sign === '"') is_string = true;
    else if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}

/** Undefined for what is none, with a comma before the end of a list or object or without. */
function jsonOf(text: string): unknown {
  for (const json of [text, text.replaceAll(STRING_OR_LAST_COMMA, (found) => (found === ',' ? '' : found))])
    try {
      return JSON.parse(json);
    } catch {}
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notJson(): EngineFailed {
  return new EngineFailed('ENGINE_NOT_JSON', 'The answer is not JSON.');
}

function bad(message: string): EngineFailed {
  return new EngineFailed('ENGINE_BAD_ANSWER', message);
}
