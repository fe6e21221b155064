import { isUtf8 } from 'node:buffer';
import { type DecodedDocument, NotReadable, refusalAt } from './document.js';
import { JsonReader } from './json_reader.js';

/**
 * Decodes JSON text in UTF-8, with or without a byte order mark (RFC 8259, 8.1), under the same demands as
 * `decodeCbor`. Returns the value, or the reason for the refusal. Never throws.
 */
export function decodeJson(bytes: Uint8Array): DecodedDocument {
  if (bytes.length === 0) return { ok: false, message: 'the body is empty' };
  if (!isUtf8(bytes)) return { ok: false, message: 'the body must be valid UTF-8' };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const reader = new JsonReader([withoutMark(text)], { is_strict: true });
  try {
    const value = reader.value();
    if (reader.peek() !== '') throw new NotReadable('text follows the end of the value');
    return { ok: true, value };
  } catch (error) {
    return refusalAt(reader.steps, error);
  }
}

/** The bytes are not valid UTF-8. */
export class NotUtf8 extends NotReadable {
  override name = 'NotUtf8';
}

/**
 * Decodes bytes piece by piece. Joining megabytes in one buffer, and again in one text, would delay all other work
 * while the system finds the memory.
 */
export function* textOf(pieces: readonly Uint8Array[]): Generator<string> {
  // It keeps byte order marks: from Node 24 on one that takes them away loses U+FEFF behind a character that was cut.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let is_first = true;
  for (const [index, piece] of pieces.entries()) {
    const text = decodePiece(decoder, piece, { stream: index < pieces.length - 1 });
    if (text === '') continue;
    yield is_first ? withoutMark(text) : text;
    is_first = false;
  }
}

function decodePiece(
  decoder: InstanceType<typeof TextDecoder>,
  piece: Uint8Array,
  options: { stream: boolean },
): string {
  try {
    return decoder.decode(piece, options);
  } catch {
    throw new NotUtf8('it is not UTF-8');
  }
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
