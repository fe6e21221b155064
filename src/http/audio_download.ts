import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ByteRange } from '../blobs/blob_store.js';
import { isRefusal, type Refusal, refuse } from '../domain/refusals.js';
import { readRange } from './byte_range.js';

/** A client that takes no byte for so long (twice that, when the last write began before) is cut: it holds a file. */
const UNREAD_MAX_MS = 10_000;
const OUTSIDE = refuse('RANGE_NOT_SATISFIABLE', 'The Range lies outside the audio.');

/** Audio to send. `etag`, without quotes, is another one whenever a byte is. `open` gives the bytes of a range, or of all. */
export type Audio = {
  size_bytes: number;
  etag: string;
  content_type: string;
  headers?: Record<string, string | number>;
  open: (range: Required<ByteRange> | undefined) => Promise<Readable | Refusal>;
};

/** Sends it, or the range of it that was asked for (RFC 9110, 14.2), as fast as the client reads. */
export async function sendAudio(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { size_bytes, etag, content_type, headers = {}, open }: Audio,
): Promise<FastifyReply | Refusal> {
  const tag = `"${etag}"`;
  const condition = request.headers['if-range'];
  // Whoever continues a file that has changed since gets the whole of it.
  const is_same = condition === undefined || condition === tag;
  const range = readRange(is_same ? request.headers.range : undefined, size_bytes);
  if (range === 'unsatisfiable') {
    reply.header('Content-Range', `bytes */${size_bytes}`);
    return OUTSIDE;
  }
  const audio = await open(range ?? undefined);
  if (isRefusal(audio)) return audio;
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  for (const [name, value] of Object.entries(headers)) raw.setHeader(name, value);
  raw.setHeader('Content-Type', content_type);
  raw.setHeader('Accept-Ranges', 'bytes');
  raw.setHeader('ETag', tag);
  raw.setHeader('X-Content-Type-Options', 'nosniff');
  if (range !== null) raw.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${size_bytes}`);
  raw.setHeader('Content-Length', range === null ? size_bytes : range.end - range.start + 1);
  raw.setTimeout(UNREAD_MAX_MS);
  raw.writeHead(range === null ? 200 : 206);
  if (request.method === 'HEAD') {
    audio.destroy();
    raw.end();
    return reply;
  }
  await pipeline(audio, raw).catch(() => {}); // the client went away, or bytes that should be there are not
  return reply;
}
