import { isIP } from 'node:net';
import { z } from 'zod';
import { readS3Location } from '../engine/blobs/s3_location.js';
import { usableCores } from '../engine/process/cores.js';
import { COMMAND_RULE, commandWords, isTranscriptionCommand } from '../features/transcripts/engines/command_line.js';

/** The part of a wrong value that an error message may show. */
export type Shown = 'value' | 'address' | 'nothing';

export interface SettingRow<Schema extends z.ZodType> {
  /** The default in words. */
  readonly default_text: string;
  readonly meaning: string;
  readonly shown: Shown;
  /** Gets the trimmed text, or undefined when the variable is unset or empty. */
  readonly schema: Schema;
}

export const text = (rule: string, holds: (value: string) => boolean) => z.string().refine(holds, rule);

export const wholeNumber = ({ min, max }: { min: number; max: number }) =>
  text(
    `must be a whole number from ${min} to ${max}`,
    (value) => /^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max,
  ).transform(Number);

export const port = (default_number: number) => wholeNumber({ min: 0, max: 65_535 }).default(default_number);
export const perMinute = (default_number: number) => wholeNumber({ min: 1, max: 1_000_000 }).default(default_number);

export const countOf = wholeNumber({ min: 1, max: 1_000_000 });
export const count = (default_number: number) => countOf.default(default_number);

const PROCESSES_MAX = 64;

export const listOf = ({
  rule,
  holds,
  defaults,
}: {
  rule: string;
  holds: (entry: string) => boolean;
  defaults: string[];
}) =>
  z
    .string()
    .transform((value) => [...new Set(value.split(',').map((entry) => entry.trim()))].filter((entry) => entry !== ''))
    .refine((entries) => entries.every(holds), rule)
    .default(defaults);

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;

export const share = text('must be a number from 0 to 1', (value) => /^(0|1|0?\.\d{1,9})$/.test(value)).transform(
  Number,
);

/** As OpenTelemetry writes them: percent-encoded values. */
export const headerList = text('must be name=value, separated by commas', (value) => readHeaders(value) !== null)
  .transform((value) => readHeaders(value) ?? {})
  .default({});

function readHeaders(value: string): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const pair of value.split(',')) {
    const [, name, encoded] = /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*([\x21-\x2b\x2d-\x7e]+)\s*$/.exec(pair) ?? [];
    if (name === undefined || encoded === undefined) return null;
    try {
      found[name] = decodeURIComponent(encoded);
    } catch {
      return null;
    }
  }
  return found;
}

export const isHost = (value: string) => isIP(value) !== 0 || /^(?!-)[a-z0-9.-]{1,253}$/i.test(value);

export const host = text('must be an IP address or a host name', isHost);

const isNetwork = (value: string) => {
  const [address = '', bits, ...rest] = value.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
};

export const networks = listOf({
  rule: 'must be IP addresses or networks such as 10.0.0.0/8, separated by commas',
  holds: isNetwork,
  defaults: [],
});

export const privateHosts = listOf({
  rule: 'must be host names, IP addresses or networks such as 10.0.0.0/8, separated by commas',
  holds: (value) => isHost(value) || isNetwork(value),
  defaults: [],
});

const hasScheme = (value: string, schemes: readonly string[]) =>
  URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1));

const isOrigin = (value: string) => {
  if (!hasScheme(value, ['http', 'https'])) return false;
  const url = new URL(value);
  return url.href === `${url.origin}/`;
};

/** Schemes under which no page lies that could have an origin of its own. */
const NO_PAGES = ['about', 'blob', 'data', 'file', 'javascript'];

/** Pages of browser extensions and of apps in a web view have origins of schemes that URL gives none for. */
export const isPageOrigin = (value: string) => {
  if (!URL.canParse(value) || NO_PAGES.some((scheme) => value.startsWith(`${scheme}:`))) return false;
  const { origin } = new URL(value);
  return origin === 'null' ? /^[a-z][a-z0-9+.-]*:\/\/[\w.-]+(:\d{1,5})?$/.test(value) : origin === value;
};

/** Kept without the slash at the end, since issuers are compared as strings. */
export const origin = text(
  'must be an http or https address without a path, such as https://api.example',
  isOrigin,
).transform((value) => new URL(value).origin);

export const address = (rule: string, schemes: readonly string[]) => text(rule, (value) => hasScheme(value, schemes));

export const s3Place = z.string().transform((value, context) => {
  const place = readS3Location(value);
  if (typeof place !== 'string') return place;
  context.addIssue({ code: 'custom', message: place });
  return z.NEVER;
});

export const engineAddress = text(
  'must be an http or https address without a password, such as http://127.0.0.1:8000/v1',
  (value) => hasScheme(value, ['http', 'https']) && new URL(value).username === '' && new URL(value).password === '',
);

/** Its words. A preset is one word. */
export const command = z.string().transform((value, context) => {
  const wrong = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const words = commandWords(value);
  if (words === null) return wrong('must not leave a quote or a backslash open');
  return isTranscriptionCommand(words) ? words : wrong(COMMAND_RULE);
});

export const flagText = text('must be 0 or 1', (value) => value === '0' || value === '1').transform(
  (value) => value === '1',
);
/** A switch that is off unless it is set to `1`. */
export const flag = flagText.default(false);

export const row = <Schema extends z.ZodType>(
  schema: Schema,
  { default_text, meaning, shown = 'value' }: { default_text: string; meaning: string; shown?: Shown },
): SettingRow<Schema> => ({ schema, default_text, meaning, shown });

export const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value ?? null);

/** One process, or one for each core that may be used. */
export const processes = text(
  `must be auto or a whole number from 1 to ${PROCESSES_MAX}`,
  (value) => value === 'auto' || (/^\d{1,2}$/.test(value) && Number(value) >= 1 && Number(value) <= PROCESSES_MAX),
).transform((value) => (value === 'auto' ? Math.min(usableCores(), PROCESSES_MAX) : Number(value)));
