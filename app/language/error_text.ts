import { table } from './language.js';
import { type PlainText, say } from './say.js';

/** Errors of the server in the language of the app. The server's own words stay in English, and where the app has none. */

const BY_CODE: Record<string, PlainText> = {
  NOT_FOUND: 'It is not there: it was deleted, or it belongs to somebody else.',
  FORBIDDEN: 'Your account may not do this.',
  CONTENT_EXPIRED: 'It is no longer kept.',
  PAYLOAD_TOO_LARGE: 'It is too large.',
  TOO_MANY_REQUESTS: 'Too many requests. Wait a little, then try again.',
  INTERNAL: 'Something went wrong on the server. Try again.',
  UNAVAILABLE: 'The server is not available at the moment. Try again in a moment.',
};

type Wording = (from: string, to: string) => string;

/** Rules of fields, as the server words them. */
const RULES: readonly (readonly [rule: RegExp, words: Wording])[] = [
  [/^must be (\d+) to (\d+) characters/, (from, to) => say('Enter {from} to {to} characters.', { from, to })],
  [
    /^must be a whole number from (\d+) to (\d+)/,
    (from, to) => say('Enter a whole number from {from} to {to}.', { from, to }),
  ],
  [/^must be an email address/, () => say('Enter an email address.')],
  [/^must be one line/, () => say('Enter one line without control characters.')],
  [/^must be an https:/, () => say('Enter an https:// address.')],
  [/^must be in the future/, () => say('Choose a time in the future.')],
];

/** `message`: what the server says. */
export function errorText(code: string, message: string): string {
  const words = table.peek() === null ? undefined : BY_CODE[code];
  return words === undefined ? message : say(words);
}

/** The same of a field. */
export function fieldErrorText(message: string): string {
  if (table.peek() === null) return message;
  for (const [rule, wording] of RULES) {
    const [found, from = '', to = ''] = rule.exec(message) ?? [];
    if (found !== undefined) return wording(from, to);
  }
  return message;
}
