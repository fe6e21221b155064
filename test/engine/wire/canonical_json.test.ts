import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { JsonReader, NotReadable, TooLong } from '../../../src/engine/wire/canonical_json.js';

const read = (text: string) => {
  const reader = new JsonReader(text);
  const value = reader.read();
  if (reader.peek() !== '') throw new NotReadable('more follows');
  return value;
};
const canonical = (text: string) => read(text).canonical;

t.test('G-008 what is equal, and what is not', async (t) => {
  const equal = [
    ['1', '1.0', '1e0', '10e-1', '0.1E+1', '1.000'],
    ['0', '-0', '0.0', '0e9', '-0e-99999999999999999999'],
    ['1500', '1.5e3', '15e2', '1500.00'],
    ['"é"', '"\\u00e9"', '"\\u00E9"'],
    ['"/"', '"\\/"'],
    ['"\\n"', '"\\u000a"'],
    ['"😀"', '"\\ud83d\\ude00"'],
    ['{"a":1,"b":[true,null]}', ' { "b" : [ true , null ] ,\n"a":1e0 }', '{"\\u0061":1,"b":[true,null]}'],
    ['{"2":1,"10":2}', '{"10":2,"2":1}'],
    ['{}', '{ }'],
    ['[]', '[\t]'],
  ];
  for (const texts of equal) t.equal(new Set(texts.map(canonical)).size, 1, texts.join(' = '));
  const all = [
    ...equal.map(([text]) => text as string),
    ...['9007199254740993', '9007199254740992', '1e400', '1e401', '-1', '1.5', '0.1', '0.10000000000000001'],
    ...['"1"', '""', '"\\ud800"', '"\ufffd"', 'null', 'true', 'false', '[1,2]', '[2,1]', '[[]]', '{"a":{}}', '{"":0}'],
    '{"__proto__":1}',
  ];
  t.equal(new Set(all.map(canonical)).size, all.length, 'everything else is told apart');
});

t.test('G-004 the text is kept as it was written, but for space between tokens', async (t) => {
  for (const [sent, kept] of [
    [
      ' { "b" : 1.50 , "10" : 9007199254740993 ,\r\n\t"2":"a \\u00e9 b" } ',
      '{"b":1.50,"10":9007199254740993,"2":"a \\u00e9 b"}',
    ],
    ['[ 1e2 ,\t" " ]', '[1e2," "]'],
    ['{"a":{"b":[]}}', '{"a":{"b":[]}}'],
  ] as const)
    t.equal(read(sent).text, kept);
});

t.test('what is no JSON, or not taken', async (t) => {
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  for (const text of [
    ...['', ' ', '{', '}', '[', ']', '[1', '[1,]', '[,1]', '{"a"}', '{"a":}', '{"a":1,}', '{a:1}', "{'a':1}", '{1:1}'],
    ...['01', '1.', '.5', '+1', '-', '1e', '1e+', '0x1', 'NaN', 'Infinity', 'tru', 'True', 'undefined'],
    ...['"', '"a', '"\\x"', '"\\u12"', '"\n"', '"\t"', '"\u0000"', '1 2', '{} {}', '\u00a01'],
    ...['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', deep(10_002), '{"a":1]'],
  ])
    t.throws(() => read(text), NotReadable, JSON.stringify(text).slice(0, 40));
  t.ok(read(deep(10_001)));
  const reader = (text: string) => () => new JsonReader(text).read({ room: 10 });
  t.equal(reader(' "12345678" ')().text.length, 10);
  t.ok(reader('[1,          2,3,4]'.replace('[', '[ '))(), 'space takes no room');
  const next = new JsonReader('"12345678" "a much longer one": 1');
  next.read({ room: 10 });
  t.equal(next.key(), 'a much longer one', 'room is of one value');
  for (const text of ['"123456789"', '[1,2,3,4,5]', '{"a":"1234567890"}']) t.throws(reader(text), TooLong, text);
});

t.test('G-004 a value takes what its compact form does in UTF-8, with letters for their escapes', async (t) => {
  const rows: [string, string][] = [
    ['"\\u00e9\\/\\u0061"', '"é/a"'],
    ['"\\ud83d\\ude00"', '"😀"'],
    ['"\\u000a\\"\\\\"', '"\\n\\"\\\\"'],
    ['"\\ud800"', '"\\ud800"'],
    ['{ "\\u00e9" : [ 1.50 , "é" ] }', '{"é":[1.50,"é"]}'],
  ];
  for (const [sent, compact] of rows) {
    const bytes = Buffer.byteLength(compact);
    t.equal(read(sent).bytes, bytes, sent);
    t.ok(new JsonReader(sent).read({ room: bytes }), 'there is just room for it');
    t.throws(() => new JsonReader(sent).read({ room: bytes - 1 }), TooLong, 'and here not');
  }
});

t.test('deep values are read, and what is passed over is checked as well', async (t) => {
  const wrap = (times: number, [before, after]: [string, string]) => `${before.repeat(times)}0${after.repeat(times)}`;
  const forms: [string, string][] = [
    ['[', ']'],
    ['{"b":', ',"a":0}'],
    ['{"a":0,"b":[1,', ',2]}'],
  ];
  for (const form of forms) {
    const text = wrap(4_000, form);
    t.equal(canonical(text), canonical(canonical(text)));
    const reader = new JsonReader(`${text},`);
    reader.pass();
    t.ok(reader.take(','));
  }
  t.equal(canonical(wrap(300, ['{"b":', ',"a":0}'])), wrap(300, ['{"a":0,"b":', '}']).replace('0}', '0}'));
  for (const text of ['{"a":1,"a":2}', '[1,]', '"\\x"', '[01]'])
    t.throws(() => new JsonReader(text).pass(), NotReadable);
});

t.test('reads whatever JSON.stringify writes as JSON.parse does', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space);
      const found = read(text);
      return (
        found.text === JSON.stringify(value) &&
        found.canonical === canonical(found.text) &&
        isDeepStrictEqual(JSON.parse(found.canonical), JSON.parse(text))
      );
    }),
    { numRuns: 500 },
  );
  t.pass();
});
