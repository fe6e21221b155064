import { decodeJwt } from 'jose';
import { isId, partitionOfId } from '../../domain/ids.js';
import { SERVER_OPTIONS } from '../../edge/http/server_options.js';
import { partitionOfToken } from '../../engine/secrets/tokens.js';

const REQUEST_LINE = /^[A-Z-]{1,20} ([^\s]+) HTTP\/1\.[01]\r?$/;
const BEGINS_LIKE_REQUEST = /^[A-Z-]{0,20}(?: [^\r\n]*)?\r?$/;
const HEAD_END = /\n\r?\n/;
/** Of its end, what may have come before. */
const END_CHARS_MAX = '\n\r'.length;
const METHOD_CHARS_MAX = 20;
const LINE_FEED = 10;
const BEARER = /\nauthorization:[ \t]*bearer +([\x21-\x7e]{1,4096})/i;
const COOKIES = /\ncookie:([^\r\n]*)/i;
/** Every token that leads home begins like this. */
const TOKENS = /(?:sp[a-z]|svc_pat)_[A-Za-z0-9_-]{24,}/g;

/**
 * Where the first request of a connection belongs, by what was read of it so far: the partition that its credential leads
 * to, or null where it shows none. `more`: its head has not come to its end. What is no HTTP, or too long, belongs
 * nowhere: a server process refuses it. Nothing is checked; it only says where a connection is cheapest to serve.
 *
 * `judged`: as many bytes were `more` before. They are not read again, since a head may come byte by byte.
 */
export function homeOfRequest(bytes: Buffer, judged = 0): { partition: number | null } | 'more' {
  const is_full = bytes.length >= SERVER_OPTIONS.maxHeaderSize;
  if (!is_full && judged > METHOD_CHARS_MAX) {
    const came = bytes.toString('latin1', judged - END_CHARS_MAX);
    const is_line = bytes.indexOf(LINE_FEED) < judged;
    if (is_line ? !HEAD_END.test(came) : !came.includes('\n')) return 'more';
  }
  const text = bytes.toString('latin1', 0, SERVER_OPTIONS.maxHeaderSize);
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
