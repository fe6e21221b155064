import { isUtf8 } from 'node:buffer';
import type { DocumentRefusal } from './document.js';
import { scanJson } from './json_scan.js';

/** A value from JSON text in UTF-8, or why the text was not taken. Never throws. */
export function decodeJson(bytes: Uint8Array): { ok: true; value: unknown } | DocumentRefusal {
  if (!isUtf8(bytes)) return { ok: false, message: 'the body must be valid UTF-8' };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const scan = scanJson(text);
  if (!scan.ok) return scan;
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    // The parser's own message quotes the body, which may hold secrets.
    return { ok: false, message: 'the body is not valid JSON' };
  }
}
