/** CBOR for bodies that hold bytes, which JSON would make a third longer: maps, lists, texts, whole numbers and bytes. */

type Encodable =
  | string
  | number
  | Uint8Array
  | readonly Encodable[]
  | { readonly [key: string]: Encodable | undefined };

const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5 };

/** Members that are undefined are left out. Throws RangeError for a number that is not whole. */
export function encodeCborBody(value: Encodable): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  write(value, pieces);
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function write(value: Encodable, pieces: Uint8Array[]): void {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no whole number`);
    pieces.push(value < 0 ? head(MAJOR.negative, -1 - value) : head(MAJOR.unsigned, value));
  } else if (typeof value === 'string') {
    const text = new TextEncoder().encode(value);
    pieces.push(head(MAJOR.text, text.length), text);
  } else if (value instanceof Uint8Array) pieces.push(head(MAJOR.bytes, value.length), value);
  else if (isList(value)) {
    pieces.push(head(MAJOR.array, value.length));
    for (const item of value) write(item, pieces);
  } else {
    const members = Object.entries(value).filter((member): member is [string, Encodable] => member[1] !== undefined);
    pieces.push(head(MAJOR.map, members.length));
    for (const [key, member] of members) {
      write(key, pieces);
      write(member, pieces);
    }
  }
}

function isList(value: object): value is readonly Encodable[] {
  return Array.isArray(value);
}

function head(major: number, argument: number): Uint8Array {
  const bytes = new Uint8Array(9);
  const view = new DataView(bytes.buffer);
  if (argument < 24) {
    bytes[0] = (major << 5) | argument;
    return bytes.subarray(0, 1);
  }
  if (argument < 0x1_0000_0000) {
    bytes[0] = (major << 5) | 26;
    view.setUint32(1, argument);
    return bytes.subarray(0, 5);
  }
  bytes[0] = (major << 5) | 27;
  view.setBigUint64(1, BigInt(argument));
  return bytes;
}
