import { isUtf8 } from 'node:buffer';
import type { DocumentRefusal } from './document.js';
import { scanJson } from './json_scan.js';

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/**
 * A value from JSON text in UTF-8, with or without a byte order mark (RFC 8259, 8.1), or why the text was not taken. Never
 * throws.
 */
export function decodeJson(bytes: Uint8Array): { ok: true; value: unknown } | DocumentRefusal {
  if (!isUtf8(bytes)) return { ok: false, message: 'the body must be valid UTF-8' };
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begin = all.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  const text = all.toString('utf8', begin);
  const scan = scanJson(text);
  if (!scan.ok) return scan;
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    // The parser's own message quotes the body, which may hold secrets.
    return { ok: false, message: 'the body is not valid JSON' };
  }
}
