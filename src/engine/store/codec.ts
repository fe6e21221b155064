import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Encoder } from 'cbor-x';

/** CBOR for stored values: plain maps, no records, shortest numbers. Not for input from outside. */
const encoder = new Encoder({ useRecords: false, mapsAsObjects: true, tagUint8Array: false, variableMapSize: true });

/** The first byte of packed values; no CBOR begins with it. */
const PACKED = 0xff;
const PACKED_HEAD = Buffer.from([PACKED]);
/** Far more than any packed record holds. */
const UNPACKED_BYTES_MAX = 16 * 1024 * 1024;

export function encodeStored(value: unknown): Buffer {
  return encoder.encode(value);
}

/** Encodes a value as `encodeStored` does, and compresses it. */
export function packStored(value: unknown): Buffer {
  return Buffer.concat([PACKED_HEAD, deflateRawSync(encodeStored(value))]);
}

/** Decodes a stored value, compressed or not. Throws if the bytes are neither. */
export function decodeStored(bytes: Uint8Array): unknown {
  const plain =
    bytes[0] === PACKED ? inflateRawSync(bytes.subarray(1), { maxOutputLength: UNPACKED_BYTES_MAX }) : bytes;
  return encoder.decode(plain as Buffer);
}
