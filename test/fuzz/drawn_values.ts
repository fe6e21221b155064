import { z } from 'zod';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';

/** Values as a schema wants them, and values as nobody wants them. */

type JsonSchema = {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  minimum?: number;
  maximum?: number;
};

const DEPTH_MAX = 6;
const OPTIONAL_LIKELY = 0.6;
const schemas = new WeakMap<z.ZodType, JsonSchema>();

/** What goes in at a schema, as JSON Schema; what can't be said in it is open. */
function schemaOf(type: z.ZodType): JsonSchema {
  let schema = schemas.get(type);
  if (schema === undefined) {
    schema = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    schemas.set(type, schema);
  }
  return schema;
}

/** Values that mean something at this server, by the name of the field or parameter. */
export type Known = (name: string) => readonly unknown[];

/** A value that a schema would likely take: known ones where the field's name is known. */
export function drawValid(random: SeededRandom, type: z.ZodType, known: Known): unknown {
  return draw(random, schemaOf(type), { name: '', known, depth: 0 });
}

function draw(random: SeededRandom, schema: JsonSchema, at: { name: string; known: Known; depth: number }): unknown {
  const { name, known, depth } = at;
  const ready = known(name);
  if (ready.length > 0 && random.chance(0.9)) return random.pick(ready);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.anyOf !== undefined) return draw(random, random.pick(schema.anyOf), at);
  if (depth > DEPTH_MAX) return null;
  switch (schema.type) {
    case 'object': {
      const made: Record<string, unknown> = {};
      for (const [key, value] of Object.entries(schema.properties ?? {}))
        if (schema.required?.includes(key) || random.chance(OPTIONAL_LIKELY))
          made[key] = draw(random, value, { name: key, known, depth: depth + 1 });
      return made;
    }
    case 'array':
      return Array.from({ length: 1 + random.below(3) }, () =>
        draw(random, schema.items ?? {}, { name: name.replace(/s$/, ''), known, depth: depth + 1 }),
      );
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, 0) + random.below(5_000);
    case 'boolean':
      return random.chance(0.5);
    case 'null':
      return null;
    default:
      return random.pick(TEXTS);
  }
}

const TEXTS = ['a', 'Name', 'note', 'opus', 'member', '2026-01-01T12:00:00Z', 'https://app.example/callback', '0'];

/** What no field is made for. */
export const ODD_VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, -0, 1e21, 1e308, 2 ** 53, -(2 ** 63), Number.MIN_VALUE],
  ...[
    '',
    ' ',
    '\0',
    'null',
    '\ud800',
    '\udfff\ud800',
    '\u202eabc',
    'e\u0301'.repeat(300),
    '\ufeff',
    '\u{1f469}\u200d\u{1f52c}',
  ],
  ...[
    'x'.repeat(300),
    'x'.repeat(70_000),
    '9'.repeat(400),
    '../../etc/passwd',
    '%00',
    '\r\nSet-Cookie: a=b',
    '{{7*7}}',
  ],
  ...[
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '2026-02-30T00:00:00Z',
    '+275760-09-13T00:00:00Z',
    '__proto__',
  ],
  ...[
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'http://[::1',
    'javascript:alert(1)',
  ],
  ...[[], {}, [[]], [null], { length: 1e9 }, { toString: 1 }, Array.from({ length: 2_000 }, (_, n) => n)],
];

/** A value in which one place is not as it should be. */
export function spoil(random: SeededRandom, value: unknown): unknown {
  if (random.chance(0.1)) return random.pick(ODD_VALUES);
  if (Array.isArray(value) && value.length > 0) {
    const copy = [...value];
    const at = random.below(copy.length);
    if (random.chance(0.2)) copy.push(...copy);
    else copy[at] = spoil(random, copy[at]);
    return copy;
  }
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    const copy: Record<string, unknown> = { ...value };
    const key = random.pick(Object.keys(copy));
    switch (random.below(5)) {
      case 0:
        delete copy[key];
        break;
      case 1:
        copy[random.pick(['constructor', 'toString', '', 'x'.repeat(2_000), '\u0000', key.toUpperCase()])] = copy[key];
        break;
      case 2:
        copy[key] = nested(random, copy[key]);
        break;
      default:
        copy[key] = spoil(random, copy[key]);
    }
    return copy;
  }
  return random.pick(ODD_VALUES);
}

function nested(random: SeededRandom, value: unknown): unknown {
  let made = value;
  for (let depth = random.pick([3, 15, 17, 200, 1_500]); depth > 0; depth--)
    made = random.chance(0.5) ? [made] : { a: made };
  return made;
}

/** Bytes that are hurt: cut short, flipped, doubled, followed by more. */
export function hurt(random: SeededRandom, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  switch (random.below(6)) {
    case 0:
      return copy.subarray(0, random.below(copy.length + 1));
    case 1:
      for (let n = 1 + random.below(4); n > 0 && copy.length > 0; n--)
        copy[random.below(copy.length)] = random.below(256);
      return copy;
    case 2:
      return Buffer.concat([copy, copy]);
    case 3:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), copy]);
    case 4:
      return Buffer.concat([copy, Buffer.from(random.bytes(1 + random.below(40)))]);
    default:
      return Buffer.from(random.bytes(random.below(400)));
  }
}

/** JSON in which a key comes twice, a number is no number of JSON, or brackets never close. */
export function oddJson(random: SeededRandom, text: string): string {
  switch (random.below(6)) {
    case 0:
      return text.replace(/^\{("[^"]*":)/, '{$1null,$1');
    case 1:
      return text.replace(/\d+/, random.pick(['1e999', '-0', '01', '1.', 'NaN', '9'.repeat(5_000)]));
    case 2:
      return '['.repeat(random.pick([20, 5_000]));
    case 3:
      return text.replace(/"/, "'");
    case 4:
      return text.replace(/^\{/, '{"__proto__":{"admin":true},');
    default:
      return text.replace(/\}$/, ',}');
  }
}
