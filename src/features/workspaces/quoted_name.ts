import { ADDRESSES, bareText } from '../../domain/text_addresses.js';

const MAIL_NAME_CHARS_MAX = 80; // ours: of a name that a mail quotes

/** Signs of an address: some programs make a link of `www.` and of text around an @. */
const PARTS = /:\/\/|\bwww\.|@/u;
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Invisible characters; joiners of letters are kept. */
const UNSHOWN = /(?![\u200c\u200d])\p{C}/gu;
const QUOTATION_MARKS = /["\u00ab\u00bb\u201c-\u201f\uff02]/gu;

/**
 * A name that a person chose, in a form for mails: in quotation marks, on one line, of at most `MAIL_NAME_CHARS_MAX`
 * characters. Null if a mail program would see a link or an address in it, since strangers could then place links in
 * mails.
 */
export function quotedName(name: string): string | null {
  const bare = bareText(name);
  if (PARTS.test(bare) || ADDRESSES.some((form) => bare.search(form) >= 0)) return null;
  const line = name
    .replaceAll(BREAKS, ' ')
    .replaceAll(UNSHOWN, '')
    .replaceAll(QUOTATION_MARKS, "'")
    .replaceAll(/\s+/g, ' ')
    .trim();
  const shown = [...line].slice(0, MAIL_NAME_CHARS_MAX).join('').trim();
  return shown === '' ? null : `"${shown}"`;
}
