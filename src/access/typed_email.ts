import { domainToASCII } from 'node:url';
import { LIMITS } from '../domain/limits.js';

/** Characters that no part of an address contains unquoted; letters beyond ASCII are allowed. */
const NO_ATOM = '\\s@<>()[\\],;:\\\\"\\p{Cc}';
const ATOM = `[^.${NO_ATOM}]+`;
const LABEL = `(?!-)[^.${NO_ATOM}]{1,63}(?<!-)`;
/** Neither side has an empty part between dots; the last label of the domain is not a number. */
const EMAIL_FORM = new RegExp(`^(?=[^@]{1,64}@)${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+(?!\\d+$)${LABEL}$`, 'u');

/** An address with letters beyond ASCII may be shorter in its canonical form; reading a long one takes time. */
const TYPED_CHARS_MAX = 2 * LIMITS.email_chars_max;
const ASCII = /^[\0-\x7f]*$/;
const FULL_WIDTH = /[\uff01-\uff5e]/g;
const FULL_WIDTH_APART = 0xfee0;
/** Characters with which a text would be parsed as more than a domain. */
const BEYOND_DOMAIN = /[/?#%]/;

/** The canonical form of an address that somebody typed, however it is spelled; null if the text is no address. */
export function readEmail(text: string): string | null {
  const typed = text.trim().toLowerCase();
  if (typed.length > TYPED_CHARS_MAX) return null;
  const narrow = typed.replaceAll(FULL_WIDTH, (letter) => String.fromCharCode(letter.charCodeAt(0) - FULL_WIDTH_APART));
  const plain = narrow.toLowerCase().normalize('NFC');
  const at = plain.lastIndexOf('@');
  const [local, domain] = [plain.slice(0, at), asciiDomain(plain.slice(at + 1))];
  const canonical = `${local}@${domain}`;
  return at < 0 || canonical.length > LIMITS.email_chars_max || !EMAIL_FORM.test(canonical) ? null : canonical;
}

/** The domain in ASCII; empty if the text is no domain. An ASCII domain that IDNA does not know stays unchanged. */
function asciiDomain(domain: string): string {
  const is_ascii = ASCII.test(domain);
  if (is_ascii && !domain.includes('xn--')) return domain;
  return BEYOND_DOMAIN.test(domain) ? '' : domainToASCII(domain) || (is_ascii ? domain : '');
}
