import fc from 'fast-check';
import t from 'tap';
import { JsonReader, NotReadable, TooLong } from '../../../src/engine/wire/canonical_json.js';
import { JsonInPieces, NotUtf8 } from '../../../src/engine/wire/json_in_pieces.js';

type Outcome = { text: string; canonical: string } | { error: string };

function outcomeOf(read: () => { text: string; canonical: string }): Outcome {
  try {
    const { text, canonical } = read();
    return { text, canonical };
  } catch (error) {
    if (!(error instanceof NotReadable)) throw error;
    return { error: `${error.name}: ${error.message}` };
  }
}

/** A value and nothing behind it. */
function only(reader: Pick<JsonReader, 'peek' | 'read'>) {
  const value = reader.read();
  if (reader.peek() !== '') throw new NotReadable('more follows');
  return value;
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const ends = [...new Set(at.map((place) => place % (bytes.length + 1))), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

t.test('wherever the bytes are cut, they are read as in one piece', async (t) => {
  const texts = fc.oneof(
    fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.stringify(value, null, 1)),
    fc.jsonValue().map((value) => JSON.stringify(value).slice(0, -1)),
    fc.constantFrom(
      '12345',
      ' -1.5e+10 ',
      'true',
      '"\\u00e9\\"é😀"',
      '[1,2}',
      '{"a":1,"a":2}',
      '1 2',
      '\ufeff\ufeff{}',
      '',
    ),
  );
  fc.assert(
    fc.property(texts, fc.array(fc.nat(10_000), { maxLength: 12 }), (text, at) => {
      const whole = outcomeOf(() => only(new JsonReader(text.replace(/^\ufeff/, ''))));
      const pieces = outcomeOf(() => only(new JsonInPieces(cut(Buffer.from(text), at))));
      return JSON.stringify(whole) === JSON.stringify(pieces);
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
    places.filter((at) => new JsonInPieces(cut(bytes, at)).read().text !== text),
    [],
  );
});

t.test('what is read in one go is asked for again when it was cut', async (t) => {
  const json = new JsonInPieces(['[[123', '4,"a', '"],[3', '4]]'].map((text) => Buffer.from(text)));
  let asked = 0;
  const pair = (reader: JsonReader) => {
    asked += 1;
    return reader.read().text;
  };
  json.expect('[');
  t.equal(json.whole(pair), '[1234,"a"]');
  t.ok(asked > 1);
  t.ok(json.take(','));
  t.equal(json.whole(pair), '[34]');
  t.notOk(json.take(','));
  json.expect(']');
  t.equal(json.peek(), '');
  t.equal(json.at, '[[1234,"a"],[34]]'.length);
});

t.test('what is too long is refused before all of it is text', async (t) => {
  const json = new JsonInPieces([Buffer.from(`["${'a'.repeat(50)}",`), Buffer.from([0xff])]);
  t.throws(() => json.whole((reader) => reader.read({ room: 10 })), TooLong);
});

t.test('bytes that are no UTF-8', async (t) => {
  for (const hex of ['22ff22', '22c328', '22e282', '22f09f98'])
    for (const at of [[], [1], [2], [1, 2, 3]])
      t.throws(() => only(new JsonInPieces(cut(Buffer.from(hex, 'hex'), at))), NotUtf8, `${hex} cut at ${at}`);
  t.equal(new JsonInPieces(cut(Buffer.from('"é€😀"'), [2, 4, 5, 7, 8, 9])).read().text, '"é€😀"');
});
