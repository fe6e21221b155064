/** Names of notes: `2026-11-29 Planning.md`, with a short id where another recording has that name. */

const TITLE_BYTES_MAX = 160;
const SHORT_ID_CHARS = 8;
const UNTITLED = 'Recording';

export const NOTE_NAME = /^(?!\.)[^/\\\p{Cc}]{1,250}\.md$/u;

/** Names that no file system and no link takes for anything else; the first that is free is the note's. */
export function noteNames({ id, day, title }: { id: string; day: string; title: string }): string[] {
  const plain = `${day} ${plainTitle(title)}`;
  const short = id.replaceAll('-', '').slice(-SHORT_ID_CHARS);
  return [`${plain}.md`, `${plain} ${short}.md`, `${day} ${id}.md`];
}

/** Two names that some file systems hold for one have the same key. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Without what file systems, links and marks of Markdown take for their own. */
export function plainTitle(title: string): string {
  const plain = title
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[/\\?%*:|"<>#^[\]\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const kept: string[] = [];
  let bytes = 0;
  for (const char of plain) {
    bytes += Buffer.byteLength(char);
    if (bytes > TITLE_BYTES_MAX) break;
    kept.push(char);
  }
  return kept.join('').replace(/[ .]+$/, '') || UNTITLED;
}
