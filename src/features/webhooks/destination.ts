import { hasReadableLabels } from '../../access/host_names.js';
import { LIMITS } from '../../domain/limits.js';

/**
 * The fault of an endpoint's address, or null. Only its form is checked: no name is resolved, no destination is
 * refused. Rules F-006 and F-007.
 */
export function destinationFault(text: string): string | null {
  if (text.length > LIMITS.endpoint_url_chars_max)
    return `must have at most ${LIMITS.endpoint_url_chars_max} characters`;
  // URL would silently cut these away.
  if (/[^!-[\]-~\u0080-\uffff]/.test(text)) return 'must be a URL without spaces, control characters or backslashes';
  if (!URL.canParse(text) || !hasReadableLabels(new URL(text).hostname)) return 'must be a URL';
  if (/^http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/?]|$)/i.test(text))
    return 'must be an https:// URL; `spool listen` forwards events to a program on your own machine';
  if (!/^https:\/\//i.test(text)) return 'must be an https:// URL';
  if (text.includes('#')) return 'must not have a fragment';
  const authority = text.slice('https://'.length).split(/[/?]/, 1)[0] ?? '';
  if (authority.includes('@')) return 'must not have credentials in it';
  return null;
}
