import type { IncomingHttpHeaders } from 'node:http';

/**
 * Judges `If-Match` and `If-None-Match` by the content's ETag, which has its quotes (RFC 9110, 13.1 and 13.2.2): the content is
 * sent, the client has it, or it is not the one that the client meant. Without `Last-Modified` dates are not judged.
 */
export function judgeConditions(headers: IncomingHttpHeaders, tag: string): 'send' | 'not_modified' | 'failed' {
  const { 'if-match': wanted, 'if-none-match': known } = headers;
  // Ours are strong: a weak one is the same as none of them.
  if (wanted !== undefined && wanted.trim() !== '*' && !tagsIn(wanted).includes(tag)) return 'failed';
  if (known === undefined) return 'send';
  const has_it = known.trim() === '*' || tagsIn(known).some((one) => one.replace(/^W\//, '') === tag);
  return has_it ? 'not_modified' : 'send';
}

function tagsIn(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
