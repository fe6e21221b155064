import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { decodeCbor, encodeCbor } from '../../../src/engine/wire/cbor.js';
import { EXAMPLES, MALFORMED } from './rfc8949_vectors.js';

function fromHex(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function refusalOf(bytes: Uint8Array): { path?: string; message: string } | undefined {
  const decoded = decodeCbor(bytes);
  if (decoded.ok) return undefined;
  const { ok: _, ...refusal } = decoded;
  return refusal;
}

function head(major: number, argument: bigint): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt8((major << 5) | 27);
  bytes.writeBigUInt64BE(argument, 1);
  return bytes;
}

t.test('H-006 the examples of RFC 8949 are decoded or refused by rule', async (t) => {
  for (const vector of EXAMPLES) {
    const decoded = decodeCbor(fromHex(vector.hex));
    if ('value' in vector) t.strictSame(decoded, { ok: true, value: vector.value }, vector.hex);
    else t.match(decoded, { ok: false, message: vector.refused }, vector.hex);
  }
});

t.test('H-006 what RFC 8949 calls malformed is refused', async (t) => {
  for (const [kind, vectors] of Object.entries(MALFORMED)) {
    for (const hex of vectors) t.equal(decodeCbor(fromHex(hex)).ok, false, `${kind}: ${hex}`);
  }
  t.strictSame(refusalOf(new Uint8Array()), { message: 'the body is empty' });
});

t.test('H-006 a refusal names the place', async (t) => {
  const rows: [string, string, string | undefined, RegExp][] = [
    ['no tags but of timestamps and UUIDs', 'a1 6161 82 00 d9d9f7 00', 'a.1', /tags other/],
    ['no key twice', 'a2 6161 01 6161 02', 'a', /twice/],
    ['nor deep inside', '82 00 a1 6162 a2 60 01 60 02', '1.b.', /twice/],
    ['no __proto__', 'a1 695f5f70726f746f5f5f a0', '__proto__', /__proto__/],
    ['text keys', 'a1 6161 a1 01 02', 'a', /keys must be text/],
    ['text keys after others', 'a2 6161 00 01 02', undefined, /keys must be text/],
    ['no tagged keys', 'a1 c0 6161 00', undefined, /keys must be text/],
    ['nothing after the end', '00 00', undefined, /bytes follow/],
    ['UTF-8 only', '81 62 c328', '0', /UTF-8/],
    ['no overlong UTF-8', '62 c080', undefined, /UTF-8/],
    ['no surrogates in UTF-8', '63 eda080', undefined, /UTF-8/],
    ['in keys as well', 'a1 61 ff 00', undefined, /UTF-8/],
    ['text cut inside a letter', '82 61 c3 61 bc', '0', /UTF-8/],
    ['a timestamp is text', 'c0 00', undefined, /tag 0 must hold text/],
    ['a timestamp is no bytes', 'c0 41 00', undefined, /tag 0 must hold text/],
    ['a timestamp is no list', 'c0 80', undefined, /tag 0 must hold text/],
    ['a timestamp is not null', 'c1 f6', undefined, /tag 1 must hold a number/],
    ['a timestamp is no timestamp', 'c1 c1 00', undefined, /tag 1 must hold a number/],
    ['a timestamp has a form', 'c0 63666f6f', undefined, /date, time and offset/],
    ['self-described once', 'd9d9f7 d9d9f7 00', undefined, /tags other/],
    ['self-described, and empty', 'd9d9f7', undefined, /ends inside/],
    ['a UUID is bytes', 'd825 60', undefined, /tag 37 must hold the 16 bytes/],
    ['a UUID is 16 of them', 'd825 4f000102030405060708090a0b0c0d0e', undefined, /tag 37 must hold the 16 bytes/],
    ['a UUID is no number', 'a1 6161 d825 00', 'a', /tag 37 must hold the 16 bytes/],
    ['a UUID is no list', 'd825 80', undefined, /tag 37 must hold the 16 bytes/],
    ['a UUID is no other tag', 'd825 c0 60', undefined, /tag 37 must hold the 16 bytes/],
    ['no key twice in chunks', 'bf 7f 6161 6162 ff 00 62 6162 00 ff', 'ab', /twice/],
    ['no break behind a key', 'bf 6161 ff', 'a', /break/],
    ['no break behind a tag', '9f c0 ff', '0', /tag 0 must hold text/],
    ['chunks are whole letters', '7f 61 c3 61 bc ff', undefined, /UTF-8/],
    ['chunks of their kind', '7f 41 00 ff', undefined, /chunks/],
    ['chunks of known length', '5f 5f 41 00 ff ff', undefined, /chunks/],
    ['a list that does not end', '82 00 9f 00', '1.1', /ends inside/],
    ['an epoch is a number', 'c1 60', undefined, /tag 1 must hold a number/],
    ['an epoch has four-digit years', 'c1 1b0000003afff44180', undefined, /years 0000 to 9999/],
    ['an epoch is finite', 'c1 f97c00', undefined, /finite/],
  ];
  for (const [name, hex, path, message] of rows) {
    const refusal = refusalOf(fromHex(hex.replaceAll(' ', '')));
    t.match(refusal?.message, message, name);
    t.equal(refusal?.path, path, name);
  }
  const long_key = refusalOf(Buffer.concat([fromHex('a1790400'), Buffer.alloc(1_024, 'k'), fromHex('f7')]));
  t.equal(long_key?.path, `${'k'.repeat(64)}…`, 'a long key is cut');
});

t.test('H-006 integers of every width become Numbers up to 2^53-1', async (t) => {
  const max = 2n ** 53n - 1n;
  const rows: [string, Buffer, number | undefined][] = [
    ['5 in eight bytes', head(0, 5n), 5],
    ['-6 in eight bytes', head(1, 5n), -6],
    ['2^53-1', head(0, max), Number.MAX_SAFE_INTEGER],
    ['2^53', head(0, max + 1n), undefined],
    ['2^53+1, which would round', head(0, max + 2n), undefined],
    ['-(2^53-1)', head(1, max - 1n), Number.MIN_SAFE_INTEGER],
    ['-2^53', head(1, max), undefined],
    ['below -2^32, where 32 bits would wrap', head(1, 2n ** 40n), -(2 ** 40) - 1],
    ['-2^32 in four bytes', fromHex('3affffffff'), -(2 ** 32)],
  ];
  for (const [name, bytes, value] of rows) {
    t.strictSame(decodeCbor(bytes), value === undefined ? decodeCbor(head(0, 2n ** 60n)) : { ok: true, value }, name);
  }
  const nested = Buffer.concat([
    fromHex('a26161'),
    fromHex('82'),
    head(0, 7n),
    fromHex('4101'),
    fromHex('6162'),
    head(1, 7n),
  ]);
  t.strictSame(decodeCbor(nested), { ok: true, value: { a: [7, new Uint8Array([1])], b: -8 } });
  t.strictSame(decodeCbor(Buffer.concat([fromHex('c1'), head(0, 0n)])), {
    ok: true,
    value: '1970-01-01T00:00:00.000Z',
  });
});

t.test('H-006 timestamps come out as text, tag 0 as it was sent', async (t) => {
  const text = '2024-02-29T23:59:59.123456+05:30';
  const tagged = Buffer.concat([fromHex('a16161c0'), encodeCbor(text)]);
  t.strictSame(decodeCbor(tagged), { ok: true, value: { a: text } });
  t.strictSame(decodeCbor(fromHex('c120')), { ok: true, value: '1969-12-31T23:59:59.000Z' });
  t.strictSame(decodeCbor(fromHex('d80100')), { ok: true, value: '1970-01-01T00:00:00.000Z' }, 'a longer head');
});

t.test('H-005 lengths need not be said, and a UUID and the whole may be tagged', async (t) => {
  const uuid = '00112233445566778899aabbccddeeff';
  const bytes = new Uint8Array(fromHex(uuid));
  const rows: [string, unknown][] = [
    [`d825 50 ${uuid}`, bytes],
    [`d825 5f 48 ${uuid.slice(0, 16)} 48 ${uuid.slice(16)} ff`, bytes],
    [`d9d9f7 bf 6161 d825 50 ${uuid} ff`, { a: bytes }],
    ['d9d9f7 a1 6161 c1 00', { a: '1970-01-01T00:00:00.000Z' }],
    ['c0 7f 64 32303133 70 2d30332d32315432303a30343a30305a ff', '2013-03-21T20:04:00Z'],
    ['bf 7f 6161 6162 ff 7f ff ff', { ab: '' }],
    ['9f 5fff bfff 1b0000000000000005 fb3ff199999999999a ff', [new Uint8Array(), {}, 5, 1.1]],
  ];
  for (const [hex, value] of rows) t.strictSame(decodeCbor(fromHex(hex.replaceAll(' ', ''))), { ok: true, value }, hex);
});

t.test('H-005 what is sent with lengths unsaid decodes to what it would with them', async (t) => {
  const property = fc.property(fc.jsonValue({ maxDepth: 8, stringUnit: 'binary' }), fc.nat(3), (value, every) => {
    const said = decodeCbor(encodeCbor(value));
    const unsaid = decodeCbor(unsaidLengths(JSON.parse(JSON.stringify(value)), { every, seen: 0 }));
    return isDeepStrictEqual(said, unsaid) || (!said.ok && !unsaid.ok);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
});

/** CBOR in which containers and texts have no length, but for some; its texts come in two chunks. */
function unsaidLengths(value: unknown, counter: { every: number; seen: number }): Buffer {
  counter.seen += 1;
  if (counter.every > 0 && counter.seen % (counter.every + 1) === 0) return encodeCbor(value);
  const end = fromHex('ff');
  if (typeof value === 'string') {
    const letters = [...value];
    const half = Math.floor(letters.length / 2);
    const chunks = [letters.slice(0, half), letters.slice(half)].map((part) => encodeCbor(part.join('')));
    return Buffer.concat([fromHex('7f'), ...chunks, end]);
  }
  if (typeof value !== 'object' || value === null) return encodeCbor(value);
  const items = Array.isArray(value) ? value : Object.entries(value).flat();
  const inner = items.map((item) => unsaidLengths(item, counter));
  return Buffer.concat([fromHex(Array.isArray(value) ? '9f' : 'bf'), ...inner, end]);
}

t.test('H-006 byte strings are plain arrays, windows on the body', async (t) => {
  const body = fromHex(`a1616150${'ab'.repeat(16)}`);
  const decoded = decodeCbor(body);
  const { a } = (decoded.ok && decoded.value) as { a: Uint8Array };
  t.equal(a.constructor, Uint8Array);
  t.ok(a.every((byte) => byte === 0xab));
  body.fill(0);
  t.same(a, new Uint8Array(16));
});

t.test('H-006 depth and items have bounds', async (t) => {
  const nest = (depth: number) => Buffer.concat([Buffer.alloc(depth, 0x81), fromHex('00')]);
  t.ok(decodeCbor(nest(16)).ok);
  t.match(refusalOf(nest(17)), { message: /deeper than 16/, path: /^0(\.0){15}$/ });
  t.match(refusalOf(Buffer.concat([Buffer.alloc(16, 0x81), fromHex('80')])), { message: /deeper than 16/ });
  const list = (count: number) => Buffer.concat([fromHex('9a'), uint32(count), Buffer.alloc(count)]);
  t.ok(decodeCbor(list(19_999)).ok, 'the list itself counts');
  t.match(refusalOf(list(20_000)), { message: /20000 items/ });
  const map = (count: number) =>
    encodeCbor(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0])));
  t.ok(decodeCbor(map(9_999)).ok, 'keys count');
  t.match(refusalOf(map(10_000)), { message: /20000 items/ });
  const unsaid = (count: number) => Buffer.concat([fromHex('9f'), Buffer.alloc(count), fromHex('ff')]);
  t.ok(decodeCbor(unsaid(19_999)).ok, 'also of lists that do not say');
  t.match(refusalOf(unsaid(20_000)), { message: /20000 items/ });
  t.match(refusalOf(Buffer.concat([Buffer.alloc(17, 0x9f), Buffer.alloc(17, 0xff)])), { message: /deeper than 16/ });
  t.match(refusalOf(Buffer.concat([fromHex('5f'), Buffer.alloc(20_000, 0x40), fromHex('ff')])), {
    message: /20000 items/,
  });
  const split = Buffer.concat([fromHex('82'), list(10_000), list(10_000)]);
  t.match(refusalOf(split), { message: /20000 items/, path: '1' });
});

t.test('H-006 bombs are refused', async (t) => {
  const bignum = Buffer.concat([fromHex('c25a00030d40'), Buffer.alloc(200_000, 0xff)]);
  const bombs: [string, Buffer][] = [
    ['bignum of 200 KB', bignum],
    ['a million lists', Buffer.alloc(1_000_000, 0x81)],
    ['a million tags', Buffer.alloc(1_000_000, 0xc1)],
    ['a list of 2^32', fromHex('9affffffff')],
    ['a map of 2^63', fromHex('bb8000000000000000')],
    ['text of 2^64', fromHex('7bffffffffffffffff')],
    ['many lists that claim much', Buffer.concat(Array.from({ length: 10_000 }, () => fromHex('9a00004e00')))],
    ['a regular expression', fromHex('d81b82665265674578706161')],
    ['a cycle', fromHex('d81c81d81d00')],
    ['a record', fromHex('d9dfff8319e00081616100')],
    ['packed values', fromHex('d8338481616180800c')],
  ];
  for (const [name, bytes] of bombs) t.equal(decodeCbor(bytes).ok, false, name);
});

t.test('H-005 answers are in the deterministic encoding of RFC 8949', async (t) => {
  const rows: [unknown, string][] = [
    [0, '00'],
    [-0, '00'],
    [23, '17'],
    [24, '1818'],
    [255, '18ff'],
    [256, '190100'],
    [65_536, '1a00010000'],
    [4_294_967_295, '1affffffff'],
    [4_294_967_296, '1b0000000100000000'],
    [1_700_000_000_000, '1b0000018bcfe56800'],
    [Number.MAX_SAFE_INTEGER, '1b001fffffffffffff'],
    [-1, '20'],
    [-4_294_967_297, '3b0000000100000000'],
    [Number.MIN_SAFE_INTEGER, '3b001ffffffffffffe'],
    [1.5, 'f93e00'],
    [-4.25, 'f9c440'],
    [2 ** -24, 'f90001'],
    [0.000030517578125, 'f90200'],
    [2 ** -25, 'fa33000000'],
    [65_504.5, 'fa477fe080'],
    [0.1, 'fb3fb999999999999a'],
    [1e300, 'fb7e37e43c8800759c'],
    [2 ** 53, 'fa5a000000'],
    [null, 'f6'],
    [true, 'f5'],
    ['ü', '62c3bc'],
    [new Uint8Array([1, 2]), '420102'],
    [Buffer.from([1, 2]), '420102'],
    [[], '80'],
    [{}, 'a0'],
    [{ b: 1, aa: 2, a: undefined, A: 3 }, 'a361410361620162616102'],
    [{ '\u{10000}': 1, '\ufffdA': 2, z: 3, ü: 4 }, 'a4617a0362c3bc0464efbfbd410264f090808001'],
    [{ success: true, data: { id: 'x' } }, 'a26464617461a162696461786773756363657373f5'],
  ];
  for (const [value, hex] of rows) t.equal(encodeCbor(value).toString('hex'), hex, hex);
  t.equal(encodeCbor(Array(24).fill(0)).subarray(0, 3).toString('hex'), '981800', 'heads of lists are the shortest');
  const map_of_24 = Object.fromEntries(Array.from({ length: 24 }, (_, index) => [`k${index}`, 0]));
  t.equal(encodeCbor(map_of_24).subarray(0, 2).toString('hex'), 'b818', 'heads of maps, too');
  t.throws(() => encodeCbor({ a: new Date(0) }), /Date/);
  t.ok(encodeCbor('\ud800').equals(encodeCbor('\ufffd')), 'half a pair becomes the replacement character');
});

t.test('H-005 what is encoded decodes to what JSON would have carried', async (t) => {
  const json = fc.jsonValue({ maxDepth: 8, stringUnit: 'binary' });
  const property = fc.property(json, (value) => {
    const carried: unknown = JSON.parse(JSON.stringify(value));
    const bytes = encodeCbor(value);
    const decoded = decodeCbor(bytes);
    if (!decoded.ok) return decoded.message.includes('__proto__');
    return isDeepStrictEqual(decoded.value, carried) && encodeCbor(decoded.value).equals(bytes);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 300 }));
});

t.test('H-005 numbers and texts of every size survive', async (t) => {
  const leaf = fc.oneof(
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary', maxLength: 200 }),
  );
  const property = fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.array(leaf)), (value) => {
    const decoded = decodeCbor(encodeCbor(value));
    if (!decoded.ok) return '__proto__' in value;
    return isDeepStrictEqual(decoded.value, JSON.parse(JSON.stringify(value)));
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
});

t.test('H-006 no bytes make the decoder throw, or give what JSON cannot say', async (t) => {
  const fragments = [
    'a1',
    '82',
    '6161',
    '00',
    '1b',
    'c0',
    'c1',
    'f9',
    'fb',
    '9f',
    'ff',
    '40',
    'd8',
    'f6',
    '78',
    '63e6b0b4',
  ];
  const structured = fc.array(fc.constantFrom(...fragments), { maxLength: 40 }).map((parts) => fromHex(parts.join('')));
  const mutated = fc
    .tuple(fc.jsonValue({ maxDepth: 4 }), fc.nat(), fc.integer({ min: 0, max: 255 }))
    .map(([value, at, byte]) => {
      const bytes = Buffer.from(encodeCbor(value));
      bytes[at % bytes.length] = byte;
      return bytes;
    });
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), structured, mutated);
  const property = fc.property(bytes, (input) => {
    const decoded = decodeCbor(input);
    return !decoded.ok || isPlain(decoded.value);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 5_000 }));
});

function isPlain(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (value instanceof Uint8Array) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  return (
    typeof value === 'object' &&
    Object.getPrototypeOf(value) === Object.prototype &&
    Object.values(value).every(isPlain)
  );
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
