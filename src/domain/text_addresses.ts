/** Addresses of the web and of mail in text, as programs that show it would find them. */

const DOT = '[.\\u3002\\uff0e\\uff61]';
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}_-]*[\\p{L}\\p{N}])?';
const SCHEMES = 'mailto|tel|sms|javascript|data|vbscript|file|magnet|skype|whatsapp';

/** In text as `bareText` gives it. The longest first: what one form has taken is no part of another. */
export const ADDRESSES: readonly RegExp[] = [
  /[a-z][a-z0-9+.-]*:\/\/\S+/giu,
  new RegExp(`\\b(?:${SCHEMES}):\\S+`, 'giu'),
  /\/\/[\p{L}\p{N}]\S+/giu,
  /[^\s@]+@[^\s@]+/giu,
  new RegExp(`${LABEL}(?:${DOT}${LABEL})*${DOT}(?:\\p{L}{2,}|xn--[a-z0-9-]+)(?::\\d+)?(?:/\\S*)?`, 'giu'),
  /\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?(?:\/\S*)?/gu,
];

/** Text without case, width, and what does not show. */
export function bareText(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
}
