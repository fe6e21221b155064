import { z } from 'zod';
import { hasReadableLabels } from '../../../access/host_names.js';
import { LIMITS } from '../../../domain/limits.js';

/**
 * Redirect URIs. Rules C-009 to C-011; RFC 8252, 7 and 8.4. Each is checked twice, as written and as a browser reads
 * it, since parsing hides much: `http://2130706433` is 127.0.0.1, and a tab inside a scheme disappears.
 */

/** Characters of RFC 3986 alone: no spaces, controls, backslashes or letters beyond ASCII; escapes are complete. */
const URI_CHARACTERS = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
/** A domain backwards: labels of letters, digits and inner hyphens, at least two, the first without digits. */
const REVERSE_DNS = /^[a-z]+(?:-[a-z]+)*(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;
/** One host, and nothing that looks like a pattern for several. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/;
const AUTHORITY = /^(https?):\/\/([^/?#]*)([^?]*)(\?.*)?$/;
/** The host as written; then the port, which an app learns only when it starts to listen. */
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?((?:[/?].*)?)$/;
const PORT_MAX = 65_535;
/** Schemes that browsers open themselves: an address of one can run a script, read a file, or send a code in the clear. */
const BROWSER_SCHEMES = new Set([
  ...['about', 'blob', 'data', 'file', 'filesystem', 'ftp', 'http', 'https'],
  ...['javascript', 'vbscript', 'view-source', 'ws', 'wss'],
]);

/** Why a text can't be registered as a redirect URI, as the end of a sentence about it; null when it can. */
export function redirectUriProblem(text: string): string | null {
  if (text.length === 0 || text.length > LIMITS.redirect_uri_chars_max) {
    return `must be 1 to ${LIMITS.redirect_uri_chars_max} characters`;
  }
  if (!URI_CHARACTERS.test(text)) return 'must hold only characters of a URI, with complete percent escapes';
  if (text.includes('#')) return 'must not have a fragment';
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme === undefined || !URL.canParse(text)) return 'must be an absolute URI';
  if (scheme === 'https') return httpsProblem(text);
  if (scheme === 'http') return loopbackProblem(text);
  return appSchemeProblem(text, scheme);
}

/**
 * Whether a text is an address with a scheme of an app's own, such as `cursor://host/callback`. One that can't be
 * registered is harmless beside others. Any other fault may be meant to deceive.
 */
export function hasAppScheme(text: string): boolean {
  if (text.length > LIMITS.redirect_uri_chars_max || !URI_CHARACTERS.test(text) || text.includes('#')) return false;
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  return scheme !== undefined && !BROWSER_SCHEMES.has(scheme);
}

/** A redirect URI that a client may have; the error says what is wrong with it. */
export const redirectUri = z.string('must be text').superRefine((uri, context) => {
  const problem = redirectUriProblem(uri);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

function httpsProblem(text: string): string | null {
  const [, , authority = '', path = '', query = ''] = AUTHORITY.exec(text) ?? [];
  const url = new URL(text);
  if (authority === '') return 'must be https:// with a host';
  if (authority.includes('@')) return 'must not have a user name or password';
  const is_written_so = authority.toLowerCase().replace(/:443$/, '') === url.host;
  if (!is_written_so || !HOST.test(url.host) || !hasReadableLabels(url.hostname))
    return 'must name its host as it is resolved';
  if ((path || '/') !== url.pathname) return 'must have a path without . and .. segments';
  if (query !== '?' && query !== url.search) return 'must have a query that needs no further encoding';
  return null;
}

function loopbackProblem(text: string): string | null {
  const [, host, port, rest = ''] = LOOPBACK.exec(text) ?? [];
  if (host === undefined || Number(port ?? 80) > PORT_MAX) {
    return 'must be https; http goes only to localhost, 127.0.0.1 or [::1], in just these spellings';
  }
  return httpsProblem(`https://localhost${rest}`);
}

function appSchemeProblem(text: string, scheme: string): string | null {
  if (!REVERSE_DNS.test(scheme.toLowerCase())) {
    return 'must be https, http on a loopback address, or a reverse-DNS scheme such as com.example.app:/callback';
  }
  const rest = text.slice(scheme.length + 1);
  // RFC 8252, 7.1, has one slash; many apps write two.
  if (!rest.startsWith('/')) return `must have a slash after the scheme: ${scheme}:/callback`;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.port !== '')
    return 'must not have a user name, password or port';
  return url.href === lowerAppScheme(text) ? null : 'must have no . or .. segments, and need no further encoding';
}

/**
 * Whether a redirect URI of a request is a registered one: the same text, an app's scheme in any letter case, or on a
 * loopback address the same but for its port (RFC 8252, 7.3). localhost, 127.0.0.1 and [::1] are different hosts.
 */
export function matchesRegistered(registered: string, requested: string): boolean {
  if (lowerAppScheme(registered) === lowerAppScheme(requested)) return true;
  const before = LOOPBACK.exec(registered);
  const now = LOOPBACK.exec(requested);
  if (before === null || now === null || redirectUriProblem(requested) !== null) return false;
  return before[1] === now[1] && before[3] === now[3];
}

/**
 * Lower-cases the scheme of an app, which has no letter case (RFC 3986, 3.1); web schemes are always written in lower
 * case.
 */
function lowerAppScheme(text: string): string {
  return text.replace(SCHEME, (scheme) => (scheme.includes('.') ? scheme.toLowerCase() : scheme));
}

/**
 * The host that a consent page shows as the destination: with its port if it is an unusual one (punycode as it is, so
 * that a look-alike is visible), or an app's scheme.
 */
export function redirectHost(uri: string): { host: string; kind: 'web' | 'loopback' | 'app' } {
  const url = new URL(uri);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { host: url.protocol.slice(0, -1), kind: 'app' };
  const is_loopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return { host: url.host, kind: is_loopback ? 'loopback' : 'web' };
}
