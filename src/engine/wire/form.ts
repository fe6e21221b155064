/**
 * Parameters of OAuth, from a query or a form. An empty value counts as absent; a name that comes twice is refused
 * (RFC 6749, 3.1), unless it may repeat (`resource`, RFC 8707): then different values are one, with spaces between.
 */
export type Parameters = {
  values: Record<string, string>;
  /** Names that came more than once. */
  repeated: string[];
};

const FORM = 'application/x-www-form-urlencoded';
const MAY_REPEAT = new Set(['resource']);
const PARAMETERS_MAX = 64;
const ENCODED = /[+%]/;

/** Whether a body's type is form-encoded, in UTF-8. */
export function isForm(content_type: string | undefined): boolean {
  if (content_type === FORM) return true; // as nearly all write it
  const [type = '', ...parameters] = (content_type ?? '').split(';').map((part) => part.trim().toLowerCase());
  return type === FORM && parameters.every((parameter) => /^(charset="?utf-8"?)?$/.test(parameter));
}

/** The parameters of a text, or null if it is no form: too many parameters, or invalid escapes. */
export function readParameters(text: string): Parameters | null {
  const pairs = text.split('&').filter((pair) => pair !== '');
  if (pairs.length > PARAMETERS_MAX) return null;
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === null || value === null) return null;
    if (value === '') continue;
    const before = values.get(name);
    const may_repeat = MAY_REPEAT.has(name);
    if (before !== undefined && !may_repeat) repeated.add(name);
    const is_another = may_repeat && before !== undefined && before !== value;
    values.set(name, is_another ? `${before} ${value}` : value);
  }
  return { values: Object.fromEntries(values), repeated: [...repeated] };
}

/** The parameters of an address's query. */
export function readQuery(url: string): Parameters | null {
  const mark = url.indexOf('?');
  return readParameters(mark < 0 ? '' : url.slice(mark + 1));
}

/** A sentence about a repeated name; null if there is none. It quotes only names that look like ours. */
export function repeatProblem({ repeated: [name] }: Parameters): string | null {
  if (name === undefined) return null;
  return `${/^[a-z_]{1,40}$/.test(name) ? name : 'A parameter'} may be given only once.`;
}

/** Form encoding (RFC 6749, appendix B): a plus is a space; malformed escapes are refused, not passed on. */
export function decode(text: string): string | null {
  if (!ENCODED.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
