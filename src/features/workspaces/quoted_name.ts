import { ADDRESSES, bareText } from '../../domain/text_addresses.js';

const MAIL_NAME_CHARS_MAX = 80; // ours: of a name that a mail quotes

/** Parts of an address by themselves: some programs make a link of `www.` and of whatever stands around an @. */
const PARTS = /:\/\/|\bwww\.|@/u;
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Joiners of letters stay. */
const UNSHOWN = /(?![\u200c\u200d])\p{C}/gu;
const QUOTATION_MARKS = /["\u00ab\u00bb\u201c-\u201f\uff02]/gu;

/**
 * A name that somebody chose, as a mail may have it: in quotation marks, on one line, of at most
 * `MAIL_NAME_CHARS_MAX` characters. Null where a mail program would see a link or an address in it: mails would
 * carry what strangers want to have clicked.
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
