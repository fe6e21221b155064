import t from 'tap';
import { z } from 'zod';
import { ROUTES } from '../../../routes/index.js';
import { TOOLS } from '../../../routes/mcp/tools.js';
import { parseGiven } from '../../../src/engine/wire/schema_faults.js';

/** What a schema's rules are broken with, at each of its fields in turn. */
const WRONG: unknown[] = [
  ...[undefined, null, true, 5, -1, 1.5, 1e300, '', 'x', 'x'.repeat(9_000), {}, { unknown: 1 }],
  ...[[], [5], [null], ['x'], Array.from({ length: 2_000 }, () => 'turns:read')],
];
/** The library's own sentences begin so. */
const RAW = /^Invalid |^Unrecognized |^Too (big|small)|^Required|expected|received|regex|pattern/;

type Wrap = (value: unknown) => unknown;

t.test('J-012 every rule of every route and tool is told in our own words', async (t) => {
  let faults = 0;
  const walk = (where: string, root: z.ZodType, schema: z.ZodType, wrap: Wrap) => {
    for (const value of WRONG) {
      const { error } = parseGiven(root, wrap(value));
      for (const { path, message } of error?.issues ?? []) {
        faults += 1;
        if (RAW.test(message)) t.fail(`${where} ${path.map(String).join('.')}: ${message}`);
      }
    }
    const inner = innermost(schema);
    if (inner instanceof z.ZodObject) {
      for (const [name, field] of Object.entries(inner.shape)) {
        walk(where, root, field as z.ZodType, (value) => wrap({ [name]: value }));
      }
    }
    if (inner instanceof z.ZodArray) walk(where, root, inner.element as z.ZodType, (value) => wrap([value]));
    if (inner instanceof z.ZodUnion) for (const one of inner.options) walk(where, root, one as z.ZodType, wrap);
  };
  for (const { method, path, body, query, reads } of Object.values(ROUTES).flat()) {
    for (const schema of [body, query, reads?.body, reads?.query]) {
      if (schema !== undefined) walk(`${method} ${path}`, schema, schema, (value) => value);
    }
  }
  for (const { name, input } of TOOLS) walk(name, input, input, (value) => value);
  t.ok(faults > 1_000, `${faults} faults`);
});

t.test('a rule that a schema has no words for', async (t) => {
  const told = (schema: z.ZodType, value: unknown) => parseGiven(schema, value).error?.issues[0]?.message;
  t.equal(told(z.string(), undefined), 'is missing');
  t.equal(told(z.string(), 5), 'must be text');
  t.equal(told(z.int(), 1.5), 'must be a whole number');
  t.equal(told(z.array(z.string()), {}), 'must be a list');
  t.equal(told(z.object({}), []), 'must be an object');
  t.equal(told(z.date(), 5), 'must be of another type');
  t.equal(told(z.enum(['a', 'b']), 'c'), 'must be a or b');
  t.equal(told(z.string().max(2), 'abc'), 'must be at most 2 characters');
  t.equal(told(z.array(z.string()).min(1), []), 'must be at least 1 entries');
  t.equal(told(z.number().max(2), 3), 'must be at most 2');
  t.equal(told(z.strictObject({}), { a: 1, b: 2 }), 'must not have a, b');
  t.equal(told(z.strictObject({}), { '<script>': 1 }), 'must not have members that are not known here');
  t.match(told(z.union([z.string(), z.boolean()]), 5), /forms/);
  t.match(told(z.string().regex(/^a$/), 'b'), /form/);
  t.equal(told(z.string('must be a name'), 5), 'must be a name', 'its own words come first');
});

/** What lies behind defaults, optional members and conversions. */
function innermost(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return innermost(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodPipe) {
    return innermost((schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType);
  }
  return schema;
}

t.test('J-012 an object whose length is anything is refused where a text or a list is wanted', async (t) => {
  const schema = z.object({ name: z.string().max(3), tags: z.array(z.string()).max(2).optional(), n: z.unknown() });
  for (const length of [{ toString: 1 }, [{ toString: 1 }], { valueOf: null, toString: null }])
    for (const [body, path] of [
      [{ name: { length } }, 'name'],
      [{ name: 'x', tags: { length } }, 'tags'],
      [{ name: 'x', tags: [], n: { length } }, null],
    ] as const) {
      const { success, error } = parseGiven(schema, body);
      t.same([success, error?.issues[0]?.path.join('.') ?? null], [path === null, path]);
    }
  t.throws(
    () =>
      parseGiven(
        z.string().refine(() => JSON.parse('{')),
        'x',
      ),
    'another fault is none of the input',
  );
});
