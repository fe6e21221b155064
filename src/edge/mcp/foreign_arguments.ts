import leven from 'leven';
import { z } from 'zod';
import { LOOKS, type Tool } from './tool.js';

/**
 * Arguments that clients add to those of a model, such as the id of a call or of a chat. They are no fault of the model,
 * which could not leave them out.
 */

/** Names of this many characters or more may differ in two of them and still be meant to be the same. */
const LONG_NAME_CHARS_MIN = 4;
/** Words that say nothing of what an argument is for. */
const COMMON_WORDS = new Set(['id', 'at', 'of']);

/**
 * The arguments that a tool has. Others are left out, but where something is changed one that resembles an argument stays:
 * it is probably misspelled, and its schema refuses it.
 */
export function withoutForeignArguments(
  { input, does = LOOKS }: Pick<Tool, 'input' | 'does'>,
  given: unknown,
): unknown {
  if (!(input instanceof z.ZodObject) || typeof given !== 'object' || given === null || Array.isArray(given))
    return given;
  const names = Object.keys(input.shape);
  const is_kept = (name: string) =>
    names.includes(name) || (!does.readOnlyHint && names.some((known) => resembles(name, known)));
  return Object.fromEntries(Object.entries(given).filter(([name]) => is_kept(name)));
}

/** Whether a name shares a word with another, or nearly is it. */
function resembles(name: string, known: string): boolean {
  const [words, known_words] = [wordsOf(name), wordsOf(known)];
  if (words.some((word) => !COMMON_WORDS.has(word) && known_words.includes(word))) return true;
  const [one, other] = [words.join(''), known_words.join('')];
  const differing_max = Math.min(one.length, other.length) < LONG_NAME_CHARS_MIN ? 1 : 2;
  return leven(one, other, { maxDistance: differing_max + 1 }) <= differing_max;
}

/** `ownerContactId` and `owner_contact_id` have the same. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
