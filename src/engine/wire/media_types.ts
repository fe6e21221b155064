export type WireFormat = 'json' | 'cbor';

const FORMATS: Record<string, WireFormat> = { 'application/json': 'json', 'application/cbor': 'cbor' };

type MediaRange = { type: string; quality: number };

// RFC 9110, 12.4.2: 0 to 1 with up to three decimals.
const QUALITY = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/;

/**
 * The format of an answer by the `Accept` header: highest quality first, then the more exactly named one, then JSON. A
 * missing or blank header gives JSON; 'none' means that neither is accepted. Parameters other than q are ignored.
 */
export function chooseAnswerFormat(accept: string | undefined): WireFormat | 'none' {
  if (accept === undefined || accept.trim() === '') return 'json';
  // What devices send with every request is known without taking it apart.
  if (Object.hasOwn(FORMATS, accept)) return FORMATS[accept] as WireFormat;
  const ranges = splitUnquoted(accept, ',').map(readMediaRange);
  const json = rate(ranges, 'application/json');
  const cbor = rate(ranges, 'application/cbor');
  if (json.quality === 0 && cbor.quality === 0) return 'none';
  if (json.quality !== cbor.quality) return json.quality > cbor.quality ? 'json' : 'cbor';
  return cbor.precision > json.precision ? 'cbor' : 'json';
}

/**
 * The format of an answer of MCP: JSON if that is accepted, or a stream of events if only that is; 'none' means that
 * neither is accepted.
 */
export function chooseMessageFormat(accept: string | undefined): 'json' | 'events' | 'none' {
  if (accept === undefined || accept.trim() === '') return 'json';
  const ranges = splitUnquoted(accept, ',').map(readMediaRange);
  if (rate(ranges, 'application/json').quality > 0) return 'json';
  return rate(ranges, 'text/event-stream').quality > 0 ? 'events' : 'none';
}

/** The format that a body's `Content-Type` claims; parameters are ignored. */
export function bodyFormat(content_type: string | undefined): WireFormat | 'unsupported' {
  const type = content_type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return (Object.hasOwn(FORMATS, type) ? FORMATS[type] : undefined) ?? 'unsupported';
}

/** Whether the request names HTML and does not prefer JSON: browsers do so, programs do not. */
export function wantsPage(accept = ''): boolean {
  const ranges = splitUnquoted(accept, ',').map(readMediaRange);
  const html = ranges.find(({ type }) => type === 'text/html')?.quality ?? 0;
  return html > 0 && html >= rate(ranges, 'application/json').quality;
}

/** The quality that the most exact range gives to `type`. */
function rate(ranges: readonly MediaRange[], type: string): { quality: number; precision: number } {
  const covering = ['*/*', `${type.split('/', 1)[0]}/*`, type];
  for (let precision = covering.length - 1; precision >= 0; precision -= 1) {
    const qualities = ranges.filter((range) => range.type === covering[precision]).map((range) => range.quality);
    if (qualities.length > 0) return { quality: Math.max(...qualities), precision };
  }
  return { quality: 0, precision: 0 };
}

function readMediaRange(text: string): MediaRange {
  const [type = '', ...parameters] = splitUnquoted(text, ';').map((part) => part.trim().toLowerCase());
  const weight = parameters
    .find((parameter) => parameter.startsWith('q='))
    ?.slice(2)
    .trim();
  // A malformed weight is ignored rather than the range it stands at: the type itself was asked for.
  const quality = weight !== undefined && QUALITY.test(weight) ? Number(weight) : 1;
  return { type, quality };
}

function splitUnquoted(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let start = 0;
  let is_quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (is_quoted && character === '\\') at += 1;
    else if (character === '"') is_quoted = !is_quoted;
    else if (character === separator && !is_quoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
