import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { NotReadable } from '../../../src/engine/wire/document.js';
import { NotUtf8, textOf } from '../../../src/engine/wire/json.js';
import { JsonReader, type SentValue, TooLong } from '../../../src/engine/wire/json_reader.js';

const ROOM = 100_000;

/** A value and nothing behind it. */
function only<T>(reader: JsonReader, read: (reader: JsonReader) => T): T {
  const value = read(reader);
  if (reader.peek() !== '') throw new NotReadable('more follows');
  return value;
}

const asSent = (reader: JsonReader): SentValue => only(reader, () => reader.valueAsSent(ROOM));
const sent = (text: string): SentValue => asSent(new JsonReader([text]));
const value = (text: string): unknown => only(new JsonReader([text]), (reader) => reader.value());
const canonical = (text: string) => sent(text).canonical;

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
  for (const [written, kept] of [
    [
      ' { "b" : 1.50 , "10" : 9007199254740993 ,\r\n\t"2":"a \\u00e9 b" } ',
      '{"b":1.50,"10":9007199254740993,"2":"a \\u00e9 b"}',
    ],
    ['[ 1e2 ,\t" " ]', '[1e2," "]'],
    ['{"a":{"b":[]}}', '{"a":{"b":[]}}'],
  ] as const)
    t.equal(sent(written).text, kept);
});

t.test('what is no JSON, or not taken', async (t) => {
  for (const text of [
    ...['', ' ', '{', '}', '[', ']', '[1', '[1,]', '[,1]', '[1 2]', '{"a"}', '{"a":}', '{"a":1,}', '{a:1}', "{'a':1}"],
    ...['{1:1}', '{"a":1]', '{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '1 2', '{} {}', '\u00a01'],
    ...['01', '1.', '.5', '+1', '-', '1e', '1e+', '0x1', 'NaN', 'Infinity', 'tru', 'True', 'undefined'],
    ...['"', '"a', '"\\x"', '"\\u12"', '"\n"', '"\t"', '"\u0000"', '{"\n":1}', '["\\x"]', '[01]'],
  ]) {
    t.throws(() => value(text), NotReadable, JSON.stringify(text));
    t.throws(() => sent(text), NotReadable, JSON.stringify(text));
  }
});

t.test('G-004 a value takes what its compact form does in UTF-8, with letters for their escapes', async (t) => {
  const rows: [string, string][] = [
    ['"12345678"', '"12345678"'],
    ['[1,2,          3,4,5]', '[1,2,3,4,5]'],
    ['"\\u00e9\\/\\u0061"', '"é/a"'],
    ['"\\ud83d\\ude00"', '"😀"'],
    ['"\\u000a\\"\\\\"', '"\\n\\"\\\\"'],
    ['"\\ud800"', '"\\ud800"'],
    ['{ "\\u00e9" : [ 1.50 , "é" ] }', '{"é":[1.50,"é"]}'],
  ];
  for (const [written, compact] of rows) {
    const bytes = Buffer.byteLength(compact);
    t.equal(sent(written).bytes, bytes, written);
    t.ok(new JsonReader([written]).valueAsSent(bytes), 'there is just room for it');
    t.throws(() => new JsonReader([written]).valueAsSent(bytes - 1), TooLong, 'and here not');
  }
  const next = new JsonReader(['"12345678" "a much longer one": 1']);
  next.valueAsSent(10);
  t.equal(next.key(), 'a much longer one', 'room is of one value');
});

t.test('deep values are read, up to a number of items', async (t) => {
  const wrap = (times: number, [before, after]: [string, string]) => `${before.repeat(times)}0${after.repeat(times)}`;
  const forms: [string, string][] = [
    ['[', ']'],
    ['{"b":', ',"a":0}'],
    ['{"a":0,"b":[1,', ',2]}'],
  ];
  for (const form of forms) {
    const text = wrap(2_500, form);
    t.equal(canonical(text), canonical(canonical(text)));
    const reader = new JsonReader([`${text},`]);
    reader.value();
    t.ok(reader.take(','));
  }
  t.equal(canonical(wrap(300, ['{"b":', ',"a":0}'])), wrap(300, ['{"a":0,"b":', '}']));
  t.ok(value(wrap(19_999, ['[', ']'])));
  t.throws(() => value(wrap(20_000, ['[', ']'])), /more than 20000 items/);
});

t.test('reads whatever JSON.stringify writes as JSON.parse does', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(undefined, 1, '\t'), (written, space) => {
      const text = JSON.stringify(written, null, space);
      const found = sent(text);
      return (
        found.text === JSON.stringify(written) &&
        found.canonical === canonical(found.text) &&
        isDeepStrictEqual(JSON.parse(found.canonical), JSON.parse(text)) &&
        isDeepStrictEqual(value(text), JSON.parse(text))
      );
    }),
    { numRuns: 500 },
  );
  t.pass();
});

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const ends = [...new Set(at.map((place) => place % (bytes.length + 1))), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

function ofPieces(bytes: Uint8Array, at: readonly number[]): JsonReader {
  return new JsonReader(textOf(cut(bytes, at)));
}

function outcomeOf(reader: JsonReader): SentValue | { error: string } {
  try {
    return asSent(reader);
  } catch (error) {
    if (!(error instanceof NotReadable)) throw error;
    return { error: `${error.name}: ${error.message}` };
  }
}

t.test('wherever the bytes are cut, they are read as in one piece', async (t) => {
  const texts = fc.oneof(
    fc.jsonValue({ noUnicodeString: false }).map((written) => JSON.stringify(written, null, 1)),
    fc.jsonValue().map((written) => JSON.stringify(written).slice(0, -1)),
    fc.constantFrom(
      '12345',
      ' -1.5e+10 ',
      'true',
      '"\\u00e9\\"é😀"',
      '"\\\\\\\\"',
      '[1,2}',
      '{"a":1,"a":2}',
      '1 2',
      '\ufeff\ufeff{}',
      '',
    ),
  );
  fc.assert(
    fc.property(texts, fc.array(fc.nat(10_000), { maxLength: 12 }), (text, at) => {
      const whole = outcomeOf(new JsonReader([text.replace(/^\ufeff/, '')]));
      return isDeepStrictEqual(outcomeOf(ofPieces(Buffer.from(text), at)), whole);
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});

t.test('U+FEFF is taken away at the beginning alone, wherever the bytes are cut', async (t) => {
  const text = '["é\ufeff","\ufeff"]';
  const bytes = Buffer.from(`\ufeff${text}`);
  const places = [...bytes.keys()].flatMap((one) => [...bytes.keys()].map((two) => [one, two]));
  t.same(
    places.filter((at) => asSent(ofPieces(bytes, at)).text !== text),
    [],
  );
});

t.test('values are read one after the other, over the ends of pieces', async (t) => {
  const json = new JsonReader(['[[123', '4,"a', '"],[3', '4]', ', {"k"', ':', 'tr', 'ue}]']);
  json.expect('[');
  t.same(json.value(), [1234, 'a']);
  t.ok(json.take(','));
  t.equal(json.valueAsSent(ROOM).text, '[34]');
  t.ok(json.take(','));
  t.equal(json.peek(), '{');
  json.expect('{');
  t.equal(json.key(), 'k');
  t.equal(json.value(), true);
  t.notOk(json.take(','));
  json.expect('}');
  json.expect(']');
  t.equal(json.peek(), '');
  t.equal(json.characters, '[[1234,"a"],[34], {"k":true}]'.length);
});

t.test('what is too long is refused before all of it has come', async (t) => {
  const pieces = [Buffer.from(`["${'a'.repeat(50)}`), Buffer.from([0xff])];
  for (const at of [0, 1]) {
    const json = new JsonReader(textOf(pieces));
    if (at === 1) json.expect('[');
    t.throws(() => json.valueAsSent(7), TooLong);
  }
});

t.test('bytes that are no UTF-8', async (t) => {
  for (const hex of ['22ff22', '22c328', '22e282', '22f09f98'])
    for (const at of [[], [1], [2], [1, 2, 3]])
      t.throws(() => asSent(ofPieces(Buffer.from(hex, 'hex'), at)), NotUtf8, `${hex} cut at ${at}`);
  t.equal(asSent(ofPieces(Buffer.from('"é€😀"'), [2, 4, 5, 7, 8, 9])).text, '"é€😀"');
});
