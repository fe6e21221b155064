import { plainText } from '../../../domain/plain_text.js';
import { ADDRESSES, bareText } from '../../../domain/text_addresses.js';
import { wordsOf } from './stems.js';

/** Text of engines as it may be shown, and what in it leads somewhere else. */

/** Besides what no line of speech holds: signs that only programs see, and joiners at which no letters meet. */
const HIDDEN = /\u034f|[\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]/gu;
const LOOSE_JOINERS = /(?<![\p{L}\p{M}\p{Emoji}])[\u200c\u200d]+|[\u200c\u200d]+(?![\p{L}\p{M}\p{Emoji}])/gu;

/** One line, without anything that is not seen. */
export function cleanText(text: string): string {
  return plainText(text).replace(HIDDEN, '').replace(LOOSE_JOINERS, '').replace(/\s+/g, ' ').trim();
}

/** Words by which texts are compared: no case, no signs, no width. */
export function comparedWords(text: string): string[] {
  return wordsOf(bareText(text));
}

/** Counts the words of one that occur in the other, in the same order. */
export function wordsInOrder(words: readonly string[], others: readonly string[]): number {
  let row = new Uint32Array(others.length + 1);
  for (const word of words) {
    const next = new Uint32Array(others.length + 1);
    for (let at = 1; at <= others.length; at++)
      next[at] =
        others[at - 1] === word ? (row[at - 1] as number) + 1 : Math.max(row[at] as number, next[at - 1] as number);
    row = next;
  }
  return row[others.length] ?? 0;
}

const PHONE = /[+(]?\d[\d\s().\u2010-\u2015/-]{4,}\d/gu;
const PHONE_DIGITS_MIN = 7;
/** A day, a time, or both: digits that nobody dials. */
const MOMENT = /\b\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2})?)?\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b/giu;

/** Addresses of the web, of mail and of telephones that a text names and none of these turns does. */
export function foreignAddresses(text: string, turns: readonly { text: string }[]): string[] {
  const plain = bareText(text);
  const found: string[] = [];
  let rest = plain;
  for (const form of ADDRESSES)
    rest = rest.replace(form, (address) => {
      found.push(trimmed(address));
      return ' ';
    });
  const numbers = numbersIn(rest);
  if (found.length === 0 && numbers.length === 0) return [];
  const said = turns.map((turn) => bareText(turn.text));
  const called = new Set(said.flatMap(numbersIn));
  return [
    ...found.filter((address) => !said.some((turn) => isIn(turn, address))),
    ...numbers.filter((number) => !called.has(number)),
  ];
}

function trimmed(address: string): string {
  return address.replace(/^[("'<[{]+/u, '').replace(/[)"'>\]}.,;:!?…]+$/u, '');
}

/** As a whole: `a.example` does not stand in `a.example.org`. */
function isIn(turn: string, address: string): boolean {
  for (let at = turn.indexOf(address); at >= 0; at = turn.indexOf(address, at + 1)) {
    const [before, after] = [turn.slice(0, at), turn.slice(at + address.length)];
    if (!/[\p{L}\p{N}@_./:-]$/u.test(before) && !/^(?:[\p{L}\p{N}@_/:-]|\.[\p{L}\p{N}])/u.test(after)) return true;
  }
  return false;
}

/** By their digits, as they are dialled. */
function numbersIn(text: string): string[] {
  return (text.replaceAll(MOMENT, ' ').match(PHONE) ?? [])
    .map((number) => number.replaceAll(/\D/g, ''))
    .filter((digits) => digits.length >= PHONE_DIGITS_MIN);
}
