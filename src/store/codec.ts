import { Encoder } from 'cbor-x';

/** CBOR of what we store ourselves: plain maps, no records, shortest numbers. Not for input from outside. */
const encoder = new Encoder({ useRecords: false, mapsAsObjects: true, tagUint8Array: false, variableMapSize: true });

export function encodeStored(value: unknown): Buffer {
  return encoder.encode(value);
}

/** Throws when the bytes are not CBOR. */
export function decodeStored(bytes: Uint8Array): unknown {
  return encoder.decode(bytes as Buffer);
}
