import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { decodeCbor, encodeCbor } from '../../../src/engine/wire/cbor.js';
import { decodeJson } from '../../../src/engine/wire/json.js';

function decodeText(text: string): ReturnType<typeof decodeJson> {
  return decodeJson(Buffer.from(text));
}

t.test('H-006 JSON within the bounds comes out as JSON.parse has it', async (t) => {
  const texts = [
    ' {"a" : [1, -2.5e3, "x\\n\\u00e9", true, false, null], "b": {}, "": []} \r\n',
    '"\\ud83d\\ude00"',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '["a","a","a"]',
    '9007199254740991',
    '-9007199254740991',
    '1234567890123456.5',
    '1e300',
    '0',
    '{"__proto":1,"proto__":2,"constructor":3}',
    '"{\\"a\\":1,\\"a\\":2}"',
    '"\\\\"',
    '{"a\\\\":1,"a":2}',
  ];
  for (const text of texts) t.strictSame(decodeText(text), { ok: true, value: JSON.parse(text) }, text);
});

t.test('H-006 JSON out of bounds is refused at its place', async (t) => {
  const rows: [string, string | undefined, RegExp][] = [
    ['', undefined, /empty/],
    ['  ', undefined, /ends inside/],
    ['{"a":1,"a":2}', 'a', /twice/],
    ['{"x":[0,{"a":1,"b":{},"\\u0061":2}]}', 'x.1.a', /twice/],
    ['{"é":1,"\\u00e9":2}', 'é', /twice/],
    ['{"\\/":1,"/":2}', '/', /twice/],
    ['{"":1,"":2}', '', /twice/],
    ['{"a":{"__proto__":{}}}', 'a.__proto__', /__proto__/],
    ['{"\\u005f_proto__":1}', '__proto__', /__proto__/],
    ['9007199254740992', undefined, /2\^53-1/],
    ['[0,-9007199254740993]', '1', /2\^53-1/],
    ['{"start_ms":123456789012345678901234567890}', 'start_ms', /2\^53-1/],
    ['1e400', undefined, /finite/],
    ['-1e400', undefined, /finite/],
    ['-0', undefined, /sign/],
    ['-0.0e5', undefined, /sign/],
    ['{} x', undefined, /follows/],
    ['1 2', undefined, /follows/],
    ['{}{}', undefined, /follows/],
    ['"\\ud800"', undefined, /surrogate/],
    ['"\\udc00"', undefined, /surrogate/],
    ['"\\ud800\\ud800"', undefined, /surrogate/],
    ['["\\ud83d x"]', '0', /surrogate/],
    ['"\\uDBFF\\uE000"', undefined, /surrogate/],
    ['{"\\ud800":1}', undefined, /surrogate/],
    [`${'['.repeat(17)}${']'.repeat(17)}`, Array(16).fill('0').join('.'), /deeper than 16/],
    [`${'{"a":'.repeat(17)}1${'}'.repeat(17)}`, Array(16).fill('a').join('.'), /deeper than 16/],
    [`[${'0,'.repeat(19_999)}0]`, '19999', /20000 items/],
    ['[1', '0', /ends inside/],
    ['"abc', undefined, /ends inside/],
    ['"abc\\', undefined, /ends inside/],
    ['"\\u00', undefined, /ends inside/],
    ['[}', '0', /a value is missing/],
    ['{"a":1]', 'a', /} is missing/],
    ['[1,]', '1', /a value is missing/],
    ['{"a"}', 'a', /: is missing/],
    ['{"a":1,}', undefined, /a string is missing/],
    ['{1:2}', undefined, /a string is missing/],
    ['01', undefined, /malformed/],
    ['NaN', undefined, /a value is missing/],
    ['nul', undefined, /malformed/],
    ["{'a':1}", undefined, /a string is missing/],
    ['\ufeff\ufeff{}', undefined, /a value is missing/],
    [' \ufeff{}', undefined, /a value is missing/],
    ['"\\u12"', undefined, /malformed/],
    ['"\\u12 4"', undefined, /malformed/],
    ['{"\\x":1}', undefined, /malformed/],
    ['"\n"', undefined, /malformed/],
  ];
  for (const [text, path, message] of rows) {
    const decoded = decodeText(text);
    t.match(decoded, { ok: false, message }, text.slice(0, 60));
    t.equal(decoded.ok ? undefined : decoded.path, path, text.slice(0, 60));
  }
  t.ok(decodeText(`${'['.repeat(16)}${']'.repeat(16)}`).ok);
  t.ok(decodeText(`[${'0,'.repeat(19_998)}0]`).ok);
  for (const hex of ['22c32822', '22eda08022', '22c08022', 'ff']) {
    t.match(decodeJson(Buffer.from(hex, 'hex')), { ok: false, message: /UTF-8/ }, hex);
  }
});

t.test('H-006 a byte order mark before the text is passed over', async (t) => {
  t.same(decodeText('\ufeff{"a":"\ufeff"}'), { ok: true, value: { a: '\ufeff' } });
});

t.test('H-006 a refusal does not quote the body', async (t) => {
  const decoded = decodeText('{"token": secret}');
  t.notMatch(JSON.stringify(decoded), /secret/);
});

t.test('H-006 JSON bombs are refused', async (t) => {
  const bombs: [string, string][] = [
    ['a million lists', '['.repeat(1_000_000)],
    ['a million maps', '{"a":'.repeat(1_000_000)],
    ['a million digits', '9'.repeat(1_000_000)],
    ['a million escapes', `"${'\\u0061'.repeat(1_000_000)}`],
    ['a million commas', ','.repeat(1_000_000)],
  ];
  for (const [name, text] of bombs) t.equal(decodeText(text).ok, false, name);
});

t.test('H-006 the reader takes whatever JSON.stringify writes', async (t) => {
  const property = fc.property(
    fc.jsonValue({ maxDepth: 8, stringUnit: 'binary' }),
    fc.nat({ max: 3 }),
    (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const decoded = decodeText(text);
      if (!decoded.ok) return /__proto__|2\^53-1/.test(decoded.message);
      return isDeepStrictEqual(decoded.value, JSON.parse(text));
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 300 }));
});

t.test('H-006 JSON and CBOR agree on what they refuse', async (t) => {
  const key = fc.constantFrom('a', 'b', '__proto__', 'é', '');
  const tree = fc.letrec((tie) => ({
    node: fc.oneof({ depthSize: 'large' }, fc.maxSafeInteger(), fc.string(), tie('list'), tie('map')),
    list: fc.array(tie('node'), { maxLength: 3 }),
    map: fc.array(fc.tuple(key, tie('node')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  })).node;
  const property = fc.property(
    tree,
    (value) => decodeText(JSON.stringify(value)).ok === decodeCbor(encodeCbor(value)).ok,
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
});

t.test('H-006 no bytes make the decoder throw, and none that it takes hide a duplicate', async (t) => {
  const fragments = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '"a":',
    '\\',
    '\\u0061',
    '\\ud800',
    '1',
    '-',
    'e9',
    '.',
    ' ',
    'true',
    'é',
  ];
  const structured = fc
    .array(fc.constantFrom(...fragments), { maxLength: 30 })
    .map((parts) => Buffer.from(parts.join('')));
  const property = fc.property(fc.oneof(fc.uint8Array({ maxLength: 100 }), structured), (bytes) => {
    const decoded = decodeJson(bytes);
    if (decoded.ok && countKeys(decoded.value) !== countColons(Buffer.from(bytes).toString())) return false;
    return true;
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 10_000 }));
});

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, member) => sum + countKeys(member), own);
}

function countColons(text: string): number {
  return text.replace(/"(\\.|[^"\\])*"/g, '').split(':').length - 1;
}
