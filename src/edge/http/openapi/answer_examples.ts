import { OF_FORMATS } from './examples.js';
import type { Schema } from './openapi.js';

/** Values for examples of answers: of every member one, such as the operation may really give. */

const OF_NAMES: Record<string, unknown> = {
  access_token: 'spa_019a…',
  refresh_token: 'spr_019a…',
  token: 'svc_pat_019a…',
  client_secret: 'spc_019a…',
  auth_session: 'spn_019a…',
  claim: 'spd_019a…',
  join_code: 'ABCD2345',
  token_type: 'Bearer',
  expires_in: 3_600,
  client_id: 'svc-web',
  scope: 'turns:read',
  name: 'Kitchen',
  client_name: 'Meeting Notes',
  display_name: 'Ann',
  title: 'Monday meeting',
  text: 'We agreed on the budget.',
  quote: 'We agreed on the budget.',
  summary: 'The budget was agreed on.',
  label: 'Work phone',
  speaker: 'S1',
  email: 'ann@example.com',
  host: 'app.example',
  url: 'https://app.example/hooks',
  file_name: 'notes.txt',
  content_type: 'text/plain',
  codec: 'opus',
  container: 'ogg',
  engine: 'whisper',
  language: 'en',
  languages: ['en'],
  time_zone: 'Europe/Vienna',
  last_four: '4f2a',
  status_code: 204,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  fingerprint: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  certificate_pem: '-----BEGIN CERTIFICATE-----…',
  ca_pem: '-----BEGIN CERTIFICATE-----…',
  upload_path: '/device/chunks/0198f3a2-5c1e-7b60-8d3f-2a4b6c8d0e1f/content',
  ref: 'meeting-1',
  topics: ['account.updated'],
  permissions: ['turns:read'],
  scopes: ['turns:read'],
  end_ms: 61_000,
  to_ms: 61_000,
  source_end_ms: 61_000,
  duration_ms: 61_000,
  stored_bytes: 50_000,
  size_bytes: 50_000,
  bytes: 50_000,
  confidence: 0.9,
  score: 0.9,
};

/** Members that are null in an answer where all is well, and on the last page of a list. */
const NULL_WHERE_FINE: ReadonlySet<string> = new Set([
  'cursor',
  'error',
  'failure',
  'disabled_at',
  'erase_at',
  'refused',
]);

const OF_PATTERNS: [start: string, value: string][] = [
  ['^whsec_', 'whsec_C2FVsBQIhrscChlQIMVb5sSYspob7oD1'],
  ['^\\d+$', '42'],
];

/** Deeper than any shape of ours that does not hold itself. */
const DEPTH_MAX = 12;

type Named = Record<string, Schema>;

/** The example of a text for which neither the schema nor its name says more. */
const PLAIN_TEXT = 'text';

/** `named`: the shapes that references lead to. */
export function answerExample(named: Named, schema: Schema, name = '', depth = 0): unknown {
  const resolved = resolvedIn(named, schema);
  if (depth > DEPTH_MAX) return null;
  if (Object.hasOwn(OF_NAMES, name) && fits(named, resolved, OF_NAMES[name])) return OF_NAMES[name];
  const inner = (one: Schema, of: string) => answerExample(named, one, of, depth + 1);
  const { additionalProperties, allOf, properties, required = [] } = resolved;
  const anyOf = resolved.anyOf ?? resolved.oneOf;
  if (anyOf !== undefined) {
    const or_null = anyOf.find(({ type }) => type === 'null');
    if (or_null !== undefined && NULL_WHERE_FINE.has(name)) return null;
    const value = inner(anyOf.find((one) => one !== or_null) ?? {}, name);
    return or_null !== undefined && value === PLAIN_TEXT ? null : value;
  }
  if (allOf !== undefined) return Object.assign({}, ...allOf.map((one) => inner(one, name)));
  if (properties !== undefined) {
    const shown = Object.keys(properties).filter((key) => required.length === 0 || required.includes(key));
    return Object.fromEntries(shown.map((key) => [key, inner(properties[key] ?? {}, key)]));
  }
  if (typeof additionalProperties === 'object') {
    return Object.fromEntries(required.map((key) => [key, inner(additionalProperties, key)]));
  }
  return plainExample(resolved, (item) => inner(item, ''));
}

function plainExample(schema: Schema, exampleOfItem: (item: Schema) => unknown): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.format !== undefined && Object.hasOwn(OF_FORMATS, schema.format)) return OF_FORMATS[schema.format];
  const of_pattern = OF_PATTERNS.find(([start]) => schema.pattern?.startsWith(start));
  if (of_pattern !== undefined) return of_pattern[1];
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'array':
      if (schema.prefixItems !== undefined) return schema.prefixItems.map(exampleOfItem);
      return [exampleOfItem(schema.items ?? {})];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'null':
      return null;
    case 'object':
      return {};
    default:
      return PLAIN_TEXT;
  }
}

/** Whether a value of a name's may stand for this schema: another member of that name may be something else. */
function fits(named: Named, schema: Schema, value: unknown): boolean {
  const { type, format, pattern, anyOf, minimum, ...rest } = resolvedIn(named, schema);
  if (rest.const !== undefined) return false;
  if (rest.enum !== undefined) return rest.enum.includes(value);
  if (anyOf !== undefined) return anyOf.some((one) => fits(named, one, value));
  if (Array.isArray(value)) return type === 'array' && value.every((item) => fits(named, rest.items ?? {}, item));
  if (typeof value === 'number') return (type === 'number' || type === 'integer') && value >= (minimum ?? value);
  return type === 'string' && pattern === undefined && (format === undefined || format === 'email' || format === 'uri');
}

function resolvedIn(named: Named, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return named[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {};
}
