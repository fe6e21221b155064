import {
  DOCUMENT_LIMITS,
  type DocumentRefusal,
  enterKey,
  leaveEntry,
  type OpenContainer,
  openContainer,
  refuseAt,
} from './document.js';
import { JsonTokens } from './json_tokens.js';

export type JsonScan = { ok: true } | DocumentRefusal;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const NINE = 0x39;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const ARRAY_START = 0x5b;
const ARRAY_END = 0x5d;
const MAP_START = 0x7b;
const MAP_END = 0x7d;

// Fifteen digits are always below 2^53 and no float of that length without an exponent overflows.
const PLAIN_NUMBER_CHARACTERS_MAX = 15;

// The upper six bits of the code units 0xdc00 to 0xdfff.
const LOW_SURROGATES = 0xdc00 >> 10;

const NOT_JSON = 'the body is not valid JSON';
const ENDS_EARLY = 'the body ends inside a value';
const TOO_MANY_ITEMS = `more than ${DOCUMENT_LIMITS.items_max} items`;

/**
 * Holds JSON text to what `scanCbor` demands of CBOR: `DOCUMENT_LIMITS`, no key twice (also not by way of escapes), no
 * `__proto__`, integers up to 2^53-1, finite numbers, no lone surrogates, nothing after the end. One pass, no recursion,
 * never throws. Grammar stays with `JSON.parse`: what passes here may still be refused there.
 */
export function scanJson(text: string): JsonScan {
  return new JsonScanner(text).scan();
}

class JsonScanner {
  readonly #tokens: JsonTokens;
  readonly #open: OpenContainer[] = [];
  #top: OpenContainer | undefined;
  #items = 0;
  #is_key_next = false;
  #is_complete = false;

  constructor(text: string) {
    this.#tokens = new JsonTokens(text);
  }

  scan(): JsonScan {
    const tokens = this.#tokens;
    const { length } = tokens.text;
    for (let code = tokens.next(); tokens.at < length; code = tokens.next()) {
      const message = this.#is_complete ? 'text follows the end of the value' : this.#readToken(code);
      if (message !== undefined) return refuseAt(this.#open, message);
    }
    return this.#is_complete ? { ok: true } : refuseAt(this.#open, length === 0 ? 'the body is empty' : ENDS_EARLY);
  }

  #readToken(code: number): string | undefined {
    switch (code) {
      case QUOTE:
        return this.#readString();
      case COMMA:
        return this.#readComma();
      case COLON:
        this.#tokens.at += 1;
        return undefined;
      case MAP_START:
      case ARRAY_START:
        return this.#enter(code === MAP_START);
      case MAP_END:
      case ARRAY_END:
        return this.#leave(code === MAP_END);
      default:
        return this.#readBare(code);
    }
  }

  #readComma(): undefined {
    this.#tokens.at += 1;
    if (this.#top === undefined) return;
    leaveEntry(this.#top);
    this.#is_key_next = this.#top.is_map;
  }

  #enter(is_map: boolean): string | undefined {
    if (++this.#items > DOCUMENT_LIMITS.items_max) return TOO_MANY_ITEMS;
    if (this.#open.length >= DOCUMENT_LIMITS.depth_max) return `nested deeper than ${DOCUMENT_LIMITS.depth_max}`;
    this.#tokens.at += 1;
    this.#top = openContainer({ is_map, heads_left: 0 });
    this.#open.push(this.#top);
    this.#is_key_next = is_map;
    return undefined;
  }

  #leave(is_map: boolean): string | undefined {
    if (this.#top?.is_map !== is_map) return NOT_JSON;
    this.#tokens.at += 1;
    this.#open.pop();
    this.#top = this.#open.at(-1);
    this.#is_key_next = false;
    this.#is_complete = this.#top === undefined;
    return undefined;
  }

  #readString(): string | undefined {
    if (++this.#items > DOCUMENT_LIMITS.items_max) return TOO_MANY_ITEMS;
    const token = this.#tokens.string();
    if (token === null) return ENDS_EARLY;
    const has_escapes = token.includes('\\');
    const fault = has_escapes ? escapeFault(token) : undefined;
    if (fault !== undefined) return fault;
    if (this.#is_key_next && this.#top !== undefined) {
      this.#is_key_next = false;
      const key = has_escapes ? unescaped(token) : token.slice(1, -1);
      return key === undefined ? NOT_JSON : enterKey(this.#top, key);
    }
    this.#is_complete = this.#top === undefined;
    return undefined;
  }

  #readBare(first: number): string | undefined {
    if (++this.#items > DOCUMENT_LIMITS.items_max) return TOO_MANY_ITEMS;
    const token = this.#tokens.bare();
    if (token === '') return NOT_JSON;
    this.#is_complete = this.#top === undefined;
    // Letters come behind digits and signs: they begin a literal.
    return first > NINE ? undefined : numberFault(token, first === MINUS);
  }
}

/** The fault in the escapes of a string; escapes that do not exist are refused by `JSON.parse`. */
function escapeFault(token: string): string | undefined {
  for (let at = token.indexOf('\\'); at > 0; at = token.indexOf('\\', at + 1)) {
    at += 1;
    if (token.charCodeAt(at) !== LOWER_U) continue;
    const unit = unitAt(token, at + 1);
    at += 4;
    if (at >= token.length - 1) return ENDS_EARLY;
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const is_pair =
      token.charCodeAt(at + 1) === BACKSLASH &&
      token.charCodeAt(at + 2) === LOWER_U &&
      unitAt(token, at + 3) >> 10 === LOW_SURROGATES;
    if (unit >= 0xdc00 || !is_pair) return 'text must not hold half a surrogate pair';
    at += 6;
  }
  return undefined;
}

/** The four hex digits of an escape; 0 where there are none. */
function unitAt(token: string, at: number): number {
  return Number.parseInt(token.slice(at, at + 4), 16) || 0;
}

function unescaped(token: string): string | undefined {
  try {
    return JSON.parse(token) as string;
  } catch {
    return undefined;
  }
}

function numberFault(token: string, is_negative: boolean): string | undefined {
  const has_exponent = token.includes('e') || token.includes('E');
  if (!is_negative && !has_exponent && token.length <= PLAIN_NUMBER_CHARACTERS_MAX) return undefined;
  const value = Number(token);
  // Not a number at all is a fault of grammar, and stays with JSON.parse.
  if (Math.abs(value) === Number.POSITIVE_INFINITY || Object.is(value, -0))
    return 'numbers must be finite, and zero without a sign';
  const is_integer = !has_exponent && !token.includes('.');
  if (is_integer && Math.abs(value) > Number.MAX_SAFE_INTEGER) return 'integers must be between -(2^53-1) and 2^53-1';
  return undefined;
}
