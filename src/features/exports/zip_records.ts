/**
 * The records of a ZIP (PKWARE's APPNOTE 6.3): sizes follow the bytes of a file; 64-bit values have their extra field.
 */

const UINT16_MAX = 0xffff;
const UINT32_MAX = 0xffff_ffff;
/** Sizes follow the data; names are UTF-8. */
const FLAGS = 0x0808;
const [VERSION, VERSION_ZIP64] = [20, 45];
const MADE_BY_UNIX = 3 << 8;
/** A plain file that its owner alone may read and write. */
const MODE = 0o100600;
const ZIP64_FIELD = 0x0001;

export type ZipEntry = {
  /** In UTF-8. */
  name: Buffer;
  is_compressed: boolean;
  crc32: number;
  /** The bytes of the file, and its bytes in the archive. */
  bytes: number;
  packed_bytes: number;
  /** The offset of its header. */
  offset: number;
};

export type DosTime = { date: number; time: number };

const FIRST_MS = Date.UTC(1980, 0);
const LAST_MS = Date.UTC(2108, 0) - 1;

/** In UTC, to two seconds, of the years that there are. */
export function dosTime(ms: number): DosTime {
  const at = new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS));
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  return { date, time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >>> 1) };
}

/** The header before the bytes of a file. */
export function localHeader({ name, is_compressed }: Pick<ZipEntry, 'name' | 'is_compressed'>, at: DosTime): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(FLAGS, 6);
  header.writeUInt16LE(is_compressed ? 8 : 0, 8);
  header.writeUInt16LE(at.time, 10);
  header.writeUInt16LE(at.date, 12);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, name]);
}

/** The descriptor behind the bytes of a file. */
export function dataDescriptor({ crc32, bytes, packed_bytes }: ZipEntry): Buffer {
  const is_large = bytes > UINT32_MAX || packed_bytes > UINT32_MAX;
  const record = Buffer.alloc(is_large ? 24 : 16);
  record.writeUInt32LE(0x08074b50, 0);
  record.writeUInt32LE(crc32, 4);
  if (is_large) {
    record.writeBigUInt64LE(BigInt(packed_bytes), 8);
    record.writeBigUInt64LE(BigInt(bytes), 16);
  } else {
    record.writeUInt32LE(packed_bytes, 8);
    record.writeUInt32LE(bytes, 12);
  }
  return record;
}

/** The record of a file in the directory, with the place of the file. */
export function directoryRecord(entry: ZipEntry, at: DosTime): Buffer {
  const { name, is_compressed, crc32, bytes, packed_bytes, offset } = entry;
  const extra = zip64Field([bytes, packed_bytes, offset]);
  const record = Buffer.alloc(46);
  const version = extra.length === 0 ? VERSION : VERSION_ZIP64;
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(MADE_BY_UNIX | version, 4);
  record.writeUInt16LE(version, 6);
  record.writeUInt16LE(FLAGS, 8);
  record.writeUInt16LE(is_compressed ? 8 : 0, 10);
  record.writeUInt16LE(at.time, 12);
  record.writeUInt16LE(at.date, 14);
  record.writeUInt32LE(crc32, 16);
  record.writeUInt32LE(Math.min(packed_bytes, UINT32_MAX), 20);
  record.writeUInt32LE(Math.min(bytes, UINT32_MAX), 24);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE((MODE << 16) >>> 0, 38);
  record.writeUInt32LE(Math.min(offset, UINT32_MAX), 42);
  return Buffer.concat([record, name, extra]);
}

/** The extra field for values that do not fit into 32 bits, in their fixed order. */
function zip64Field(values: number[]): Buffer {
  const large = values.filter((value) => value >= UINT32_MAX);
  if (large.length === 0) return Buffer.of();
  const field = Buffer.alloc(4 + 8 * large.length);
  field.writeUInt16LE(ZIP64_FIELD, 0);
  field.writeUInt16LE(8 * large.length, 2);
  for (const [index, value] of large.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return field;
}

/** The end of an archive: the place of the directory, and the number of files. */
export function endOfDirectory({ entries, offset, bytes }: { entries: number; offset: number; bytes: number }): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  for (const at of [8, 10]) end.writeUInt16LE(Math.min(entries, UINT16_MAX), at);
  end.writeUInt32LE(Math.min(bytes, UINT32_MAX), 12);
  end.writeUInt32LE(Math.min(offset, UINT32_MAX), 16);
  if (entries < UINT16_MAX && bytes < UINT32_MAX && offset < UINT32_MAX) return end;
  const zip64 = Buffer.alloc(56);
  zip64.writeUInt32LE(0x06064b50, 0);
  zip64.writeBigUInt64LE(44n, 4);
  zip64.writeUInt16LE(MADE_BY_UNIX | VERSION_ZIP64, 12);
  zip64.writeUInt16LE(VERSION_ZIP64, 14);
  for (const at of [24, 32]) zip64.writeBigUInt64LE(BigInt(entries), at);
  zip64.writeBigUInt64LE(BigInt(bytes), 40);
  zip64.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + bytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([zip64, locator, end]);
}
