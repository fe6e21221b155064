import { STATUS_CODES } from 'node:http';
import { REFUSALS, type RefusalCode } from '../../domain/refusals.js';

/** An error as HTTP text, for a connection that no route serves. Nothing follows it on the connection. */
export function rawError(code: RefusalCode, message: string, headers: readonly string[] = []): string {
  const status = REFUSALS[code];
  const body = JSON.stringify({ success: false, error: { code, message } });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'X-API-Version: 1',
    'X-Content-Type-Options: nosniff',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
