import { domainToASCII } from 'node:url';
import { LIMITS } from '../domain/limits.js';

/** Characters that no part of an address holds unquoted; letters beyond ASCII are fine. */
const NO_ATOM = '\\s@<>()[\\],;:\\\\"\\p{Cc}';
const ATOM = `[^.${NO_ATOM}]+`;
const LABEL = `(?!-)[^.${NO_ATOM}]{1,63}(?<!-)`;
/** Neither side has an empty part between dots; the last label of the domain is no number. */
const EMAIL_FORM = new RegExp(`^(?=[^@]{1,64}@)${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+(?!\\d+$)${LABEL}$`, 'u');

/** One of letters beyond ASCII may be shorter in its canonical form; reading a long one takes time. */
const TYPED_CHARS_MAX = 2 * LIMITS.email_chars_max;
const ASCII = /^[\0-\x7f]*$/;
const FULL_WIDTH = /[\uff01-\uff5e]/g;
const FULL_WIDTH_APART = 0xfee0;
/** With these a domain is taken for more than one. */
const BEYOND_DOMAIN = /[/?#%]/;

/** The one form of the mailbox of an address that somebody typed, however it is spelled; null for what is no address. */
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

/** Empty for what is no domain. One of ASCII that IDNA does not know stays as it is. */
function asciiDomain(domain: string): string {
  const is_ascii = ASCII.test(domain);
  if (is_ascii && !domain.includes('xn--')) return domain;
  return BEYOND_DOMAIN.test(domain) ? '' : domainToASCII(domain) || (is_ascii ? domain : '');
}
