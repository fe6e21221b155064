import { domainToASCII, domainToUnicode } from 'node:url';

const ENCODED_LABEL = /(?:^|\.)xn--/;

/**
 * Whether each label of a host that stands for letters beyond ASCII (`xn--bcher-kva`) can be read, and stands for no other
 * spelling. The URL of Node 20 and 22 refuses those that can't; the one of later releases takes any.
 */
export function hasReadableLabels(host: string): boolean {
  if (!ENCODED_LABEL.test(host)) return true;
  const read = domainToUnicode(host);
  return !ENCODED_LABEL.test(read) && domainToASCII(read) === host;
}
