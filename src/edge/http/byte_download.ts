import { pipeline } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refused, refuse } from '../../domain/refusals.js';
import type { ByteContent } from '../../engine/blobs/blob_store.js';
import { readRange } from './byte_range.js';
import { judgeConditions } from './preconditions.js';

/** A client that takes no byte for so long (twice that, when the last write began before) is cut: it holds a file. */
const UNREAD_MAX_MS = 10_000;
const CHANGED = refuse('PRECONDITION_FAILED', 'The content has another ETag than If-Match names.');
const OUTSIDE = refuse('RANGE_NOT_SATISFIABLE', 'The Range lies outside the content.');

/** Sends the content, or the range of it that was asked for (RFC 9110, 14.2), as fast as the client reads, if its conditions hold. */
export async function sendBytes(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  content: ByteContent,
  headers: Record<string, string | number> = {},
): Promise<FastifyReply> {
  const { size_bytes, etag, content_type } = content;
  const tag = `"${etag}"`;
  const judged = judgeConditions(request.headers, tag);
  if (judged === 'failed') throw new Refused(CHANGED);
  if (judged === 'not_modified') return reply.code(304).header('ETag', tag).send();
  const condition = request.headers['if-range'];
  // Whoever continues a file that has changed since gets the whole of it.
  const is_same = condition === undefined || condition === tag;
  const range = readRange(is_same ? request.headers.range : undefined, size_bytes);
  if (range === 'unsatisfiable') {
    reply.header('Content-Range', `bytes */${size_bytes}`);
    throw new Refused(OUTSIDE);
  }
  const bytes = await content.open(range ?? undefined);
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  for (const [name, value] of Object.entries(headers)) raw.setHeader(name, value);
  raw.setHeader('Content-Type', content_type);
  raw.setHeader('Accept-Ranges', 'bytes');
  raw.setHeader('ETag', tag);
  if (range !== null) raw.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${size_bytes}`);
  raw.setHeader('Content-Length', range === null ? size_bytes : range.end - range.start + 1);
  raw.setTimeout(UNREAD_MAX_MS);
  raw.writeHead(range === null ? 200 : 206);
  if (request.method === 'HEAD') {
    bytes.destroy();
    raw.end();
    return reply;
  }
  await pipeline(bytes, raw).catch(() => {}); // the client went away, or bytes that should be there are not
  return reply;
}

/**
 * Headers of content that is for saving and never for showing: no browser makes a page of it, whatever it is (RFC 6266;
 * RFC 8187 for names beyond ASCII).
 */
export function savedAs(name: string): Record<string, string> {
  const plain = name.replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(/['()*!]/g, (character) => `%${hexOf(character)}`);
  return {
    'Content-Disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
  };
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase();
}
