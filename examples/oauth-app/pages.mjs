/* HTML in which every value is escaped. */

class Html extends String {}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** A template whose values are text, unless they are HTML themselves, or lists of it. */
export function html(strings, ...values) {
  return new Html(String.raw({ raw: strings }, ...values.map(escaped)));
}

function escaped(value) {
  if (Array.isArray(value)) return value.map(escaped).join('\n');
  return value instanceof Html ? value : String(value).replaceAll(/[&<>"']/g, (character) => ESCAPES[character]);
}

export function page(title, content) {
  return html`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><h1>${title}</h1>
${content}
`;
}

/** Minutes and seconds; nothing while a recording has no end. */
export function lengthOf(ms) {
  if (ms === undefined) return '';
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
