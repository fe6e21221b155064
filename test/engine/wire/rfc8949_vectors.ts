/** An example of RFC 8949 with what becomes of it here: a value, or the reason it is refused. */
export type Vector = { hex: string; value: unknown } | { hex: string; refused: RegExp };

const BIG = /2\^53-1/;
const TAGS = /tags other/;
const SIMPLE = /simple values/;
const FINITE = /finite/;
const KEYS = /keys must be text/;

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** RFC 8949, appendix A, in its order. */
export const EXAMPLES: Vector[] = [
  { hex: '00', value: 0 },
  { hex: '01', value: 1 },
  { hex: '0a', value: 10 },
  { hex: '17', value: 23 },
  { hex: '1818', value: 24 },
  { hex: '1819', value: 25 },
  { hex: '1864', value: 100 },
  { hex: '1903e8', value: 1_000 },
  { hex: '1a000f4240', value: 1_000_000 },
  { hex: '1b000000e8d4a51000', value: 1_000_000_000_000 },
  { hex: '1bffffffffffffffff', refused: BIG },
  { hex: 'c249010000000000000000', refused: TAGS },
  { hex: '3bffffffffffffffff', refused: BIG },
  { hex: 'c349010000000000000000', refused: TAGS },
  { hex: '20', value: -1 },
  { hex: '29', value: -10 },
  { hex: '3863', value: -100 },
  { hex: '3903e7', value: -1_000 },
  { hex: 'f90000', value: 0 },
  { hex: 'f98000', refused: FINITE },
  { hex: 'f93c00', value: 1 },
  { hex: 'fb3ff199999999999a', value: 1.1 },
  { hex: 'f93e00', value: 1.5 },
  { hex: 'f97bff', value: 65_504 },
  { hex: 'fa47c35000', value: 100_000 },
  { hex: 'fa7f7fffff', value: 3.4028234663852886e38 },
  { hex: 'fb7e37e43c8800759c', value: 1e300 },
  { hex: 'f90001', value: 2 ** -24 },
  { hex: 'f90400', value: 0.00006103515625 },
  { hex: 'f9c400', value: -4 },
  { hex: 'fbc010666666666666', value: -4.1 },
  { hex: 'f97c00', refused: FINITE },
  { hex: 'f97e00', refused: FINITE },
  { hex: 'f9fc00', refused: FINITE },
  { hex: 'fa7f800000', refused: FINITE },
  { hex: 'fa7fc00000', refused: FINITE },
  { hex: 'faff800000', refused: FINITE },
  { hex: 'fb7ff0000000000000', refused: FINITE },
  { hex: 'fb7ff8000000000000', refused: FINITE },
  { hex: 'fbfff0000000000000', refused: FINITE },
  { hex: 'f4', value: false },
  { hex: 'f5', value: true },
  { hex: 'f6', value: null },
  { hex: 'f7', refused: SIMPLE },
  { hex: 'f0', refused: SIMPLE },
  { hex: 'f8ff', refused: SIMPLE },
  { hex: 'c074323031332d30332d32315432303a30343a30305a', value: '2013-03-21T20:04:00Z' },
  { hex: 'c11a514b67b0', value: '2013-03-21T20:04:00.000Z' },
  { hex: 'c1fb41d452d9ec200000', value: '2013-03-21T20:04:00.500Z' },
  { hex: 'd74401020304', refused: TAGS },
  { hex: 'd818456449455446', refused: TAGS },
  { hex: 'd82076687474703a2f2f7777772e6578616d706c652e636f6d', refused: TAGS },
  { hex: '40', value: new Uint8Array([]) },
  { hex: '4401020304', value: new Uint8Array([1, 2, 3, 4]) },
  { hex: '60', value: '' },
  { hex: '6161', value: 'a' },
  { hex: '6449455446', value: 'IETF' },
  { hex: '62225c', value: '"\\' },
  { hex: '62c3bc', value: 'ü' },
  { hex: '63e6b0b4', value: '水' },
  { hex: '64f0908591', value: '\u{10151}' },
  { hex: '80', value: [] },
  { hex: '83010203', value: [1, 2, 3] },
  { hex: '8301820203820405', value: [1, [2, 3], [4, 5]] },
  { hex: '98190102030405060708090a0b0c0d0e0f101112131415161718181819', value: range(25) },
  { hex: 'a0', value: {} },
  { hex: 'a201020304', refused: KEYS },
  { hex: 'a26161016162820203', value: { a: 1, b: [2, 3] } },
  { hex: '826161a161626163', value: ['a', { b: 'c' }] },
  { hex: 'a56161614161626142616361436164614461656145', value: { a: 'A', b: 'B', c: 'C', d: 'D', e: 'E' } },
  { hex: '5f42010243030405ff', value: new Uint8Array([1, 2, 3, 4, 5]) },
  { hex: '7f657374726561646d696e67ff', value: 'streaming' },
  { hex: '9fff', value: [] },
  { hex: '9f018202039f0405ffff', value: [1, [2, 3], [4, 5]] },
  { hex: '9f01820203820405ff', value: [1, [2, 3], [4, 5]] },
  { hex: '83018202039f0405ff', value: [1, [2, 3], [4, 5]] },
  { hex: '83019f0203ff820405', value: [1, [2, 3], [4, 5]] },
  { hex: '9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff', value: range(25) },
  { hex: 'bf61610161629f0203ffff', value: { a: 1, b: [2, 3] } },
  { hex: '826161bf61626163ff', value: ['a', { b: 'c' }] },
  { hex: 'bf6346756ef563416d7421ff', value: { Fun: true, Amt: -2 } },
];

/** RFC 8949, appendix F: bytes that are no CBOR. Each must be refused, whatever the reason. */
export const MALFORMED: Record<string, string[]> = {
  'end of input in a head': [
    '18 19 1a 1b 1901 1a0102 1b01020304050607 38 58 78 98 9a01ff00 b8 d8 f8 f900 fa0000 fb000000',
  ].flatMap(splitHex),
  'definite lengths with too little data': [
    '41 61 5affffffff00 5bffffffffffffffff010203 7affffffff00 7b7fffffffffffffff010203',
  ].flatMap(splitHex),
  'containers not closed': [
    '81 818181818181818181 8200 a1 a20102 a100 a2000000 5f4100 7f6100 9f 9f0102 bf bf01020102 819f 9f8000',
    '9f9f9f9f9fffffffff 9f819f819f9fffffff c0',
  ].flatMap(splitHex),
  'reserved heads': ['1c 1d 1e 3c 3d 3e 5c 5d 5e 7c 7d 7e 9c 9d 9e bc bd be dc dd de fc fd fe'].flatMap(splitHex),
  'reserved two-byte simple values': ['f800 f801 f818 f81f'].flatMap(splitHex),
  'wrong chunks in indefinite strings': [
    '5f00ff 5f21ff 5f6100ff 5f80ff 5fa0ff 5fc000ff 5fe0ff 7f4100ff 5f5f4100ffff 7f7f6100ffff',
  ].flatMap(splitHex),
  'a break on its own': [
    'ff 81ff 8200ff a1ff a1ff00 a100ff a20000ff 9f81ff 9f829f819f9fffffffff bf00ff bf000000ff',
  ].flatMap(splitHex),
  'integers and breaks with wrong heads': ['1f 3f df'].flatMap(splitHex),
};

function splitHex(line: string): string[] {
  return line.split(' ');
}
