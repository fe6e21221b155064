import type { Schema } from './openapi.js';

/** Values for examples: made of a schema, and of what a field's name says where the schema says too little. */

const OF_NAMES: Record<string, unknown> = {
  token: '123456',
  name: 'Kitchen',
  title: 'Monday meeting',
  permissions: ['turns:read'],
  topics: ['account.updated'],
  end_ms: 61_000,
  source_end_ms: 1_000,
  size_bytes: 50_000,
  clock_uncertainty_ms: 20,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  codec: 'opus',
  container: 'ogg',
  ref: 'meeting-1',
  type: 'meeting.started',
  payload: { topic: 'budget' },
  claim: 'THE-CLAIM',
  join_code: 'ABCD2345',
  ble_address: '001A7DDA7113',
  csr_pem: '-----BEGIN CERTIFICATE REQUEST-----…',
  refresh_token: 'spr_…',
  code: 'BAD_AUDIO',
  redirect_uris: ['https://app.example/callback'],
  retention: { audio: { days: 30 } },
};

export const OF_FORMATS: Record<string, unknown> = {
  uuid: '0198f3a2-5c1e-7b60-8d3f-2a4b6c8d0e1f',
  'date-time': '2026-01-31T08:30:00.000Z',
  date: '2026-01-31',
  email: 'ann@example.com',
  uri: 'https://app.example/hooks',
};

/** An example with the required members; with all members where none is required. */
export function exampleOf(schema: Schema, name = ''): unknown {
  if (Object.hasOwn(OF_NAMES, name)) return OF_NAMES[name];
  if (schema.properties !== undefined) {
    const { properties, required = [] } = schema;
    const shown = required.length > 0 ? required : Object.keys(properties);
    return Object.fromEntries(shown.map((key) => [key, exampleOf(properties[key] ?? {}, key)]));
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0] ?? {}, name);
  if (schema.format !== undefined && Object.hasOwn(OF_FORMATS, schema.format)) return OF_FORMATS[schema.format];
  switch (schema.type) {
    case 'array':
      return [exampleOf(schema.items ?? {})];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'object':
      return {};
    default:
      return 'text';
  }
}
