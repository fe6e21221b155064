import type { Texts } from '../../domain/language/texts.js';

/** Functions by which templates write the texts of a language. */

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * Text that stays text. What would turn round the order of characters, or not be seen at all, is shown as a replacement
 * character: neither does it mislead, nor does it go unnoticed.
 */
export function escapeText(value: unknown): string {
  return String(value)
    .replace(/(?![\t\n\r])[\p{Bidi_Control}\p{Cc}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

export function templateWords(texts: Texts) {
  return {
    lang: texts.language,
    say: texts.say.bind(texts),
    sayCount: texts.sayCount.bind(texts),
    /** A text with markup in its places, which is printed as it is (`<%~`). */
    sayWith: (key: string, markup: Readonly<Record<string, string>>) =>
      texts
        .sayWith(key, markup)
        .map((part, n) => (n % 2 === 1 ? part : escapeText(part)))
        .join(''),
    /** A name that somebody chose. */
    name: (value: string) => `<bdi class="name">${escapeText(value)}</bdi>`,
    /** An email address, or another that reads from left to right. */
    address: (value: string) => `<bdi class="name" dir="ltr">${escapeText(value)}</bdi>`,
    bare: (value: string, dir?: 'ltr') => `<bdi${dir === undefined ? '' : ' dir="ltr"'}>${escapeText(value)}</bdi>`,
    strong: (value: string) => `<strong>${escapeText(value)}</strong>`,
    link: (address: string, words: string) =>
      `<a href="${escapeText(address)}" target="_blank" rel="noreferrer">${escapeText(words)}</a>`,
  };
}
