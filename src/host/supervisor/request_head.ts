import { decodeJwt } from 'jose';
import { isId, partitionOfId } from '../../domain/ids.js';
import { SERVER_OPTIONS } from '../../edge/http/server_options.js';
import { partitionOfToken } from '../../engine/secrets/tokens.js';

const REQUEST_LINE = /^[A-Z-]{1,20} ([^\s]+) HTTP\/1\.[01]\r?$/;
const BEGINS_LIKE_REQUEST = /^[A-Z-]{0,20}(?: [^\r\n]*)?\r?$/;
const HEAD_END = /\n\r?\n/;
const BEARER = /\nauthorization:[ \t]*bearer +([\x21-\x7e]{1,4096})/i;
const COOKIES = /\ncookie:([^\r\n]*)/i;
/** Every token that leads home begins like this. */
const TOKENS = /(?:sp[a-z]|svc_pat)_[A-Za-z0-9_-]{24,}/g;

/**
 * Where the first request of a connection belongs, by what was read of it so far: the partition that its credential leads
 * to, or null where it shows none. `more`: its head has not come to its end. What is no HTTP, or too long, belongs
 * nowhere: a server process refuses it. Nothing is checked; it only says where a connection is cheapest to serve.
 */
export function homeOfRequest(bytes: Buffer): { partition: number | null } | 'more' {
  const text = bytes.toString('latin1', 0, SERVER_OPTIONS.maxHeaderSize);
  const is_full = bytes.length >= SERVER_OPTIONS.maxHeaderSize;
  const line_end = text.indexOf('\n');
  if (line_end < 0) return is_full || !BEGINS_LIKE_REQUEST.test(text) ? { partition: null } : 'more';
  const [, target = ''] = REQUEST_LINE.exec(text.slice(0, line_end)) ?? [];
  if (target === '') return { partition: null };
  const end = text.search(HEAD_END);
  if (end < 0 && !is_full) return 'more';
  return { partition: partitionOfHead(end < 0 ? text : text.slice(0, end), target) };
}

function partitionOfHead(head: string, target: string): number | null {
  const bearer = BEARER.exec(head)?.[1];
  if (bearer !== undefined) return partitionOfToken(bearer) ?? partitionOfAccessToken(bearer);
  const cookies = COOKIES.exec(head)?.[1] ?? '';
  for (const [token] of `${cookies} ${target}`.matchAll(TOKENS)) {
    const partition = partitionOfToken(token);
    if (partition !== null) return partition;
  }
  return null;
}

/** Of an OAuth access token, the partition of its account. */
function partitionOfAccessToken(token: string): number | null {
  try {
    const { sub } = decodeJwt(token);
    return isId(sub) ? partitionOfId(sub) : null;
  } catch {
    return null;
  }
}
