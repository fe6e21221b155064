/**
 * The version that fences an entity, with the random id of the commit that made it (docs/architecture.md, "Versions and
 * fences").
 */
export type EntityVersion = { version: number; commit_id: string };

/**
 * A version, and the ids and versions of the last commits of other writers, the newest first, as latin1 text of 20
 * bytes each.
 */
export type StoredVersion = EntityVersion & { earlier: string };

export const NO_VERSION: StoredVersion = { version: 0, commit_id: '', earlier: '' };

/** The number of writers whose last commit is kept by its id, so that it is recognised when it arrives again. */
const WRITERS_MAX = 8;
export const ENTRY_BYTES = 20;
export const COMMIT_ID_BYTES = 12;
const WRITER_BYTES = 6;
/** The bytes of a stored value's fence. */
export const FENCE_BYTES = 1 + ENTRY_BYTES;

/** The version at the beginning of a value. */
export function readVersion(value: Buffer): EntityVersion {
  return readEntry(value, 1);
}

/** Reads an id and version in stored form. */
export function readEntry(bytes: Buffer, at: number): EntityVersion {
  return {
    commit_id: bytes.toString('hex', at, at + COMMIT_ID_BYTES),
    version: Number(bytes.readBigUInt64BE(at + COMMIT_ID_BYTES)),
  };
}

/** The full version at the beginning of a value, and the offset of its snapshot. */
export function readHeader(value: Buffer): { version: StoredVersion; end: number } {
  const end = 1 + (value[0] ?? 0) * ENTRY_BYTES;
  return { version: { ...readVersion(value), earlier: value.toString('latin1', FENCE_BYTES, end) }, end };
}

/** The version without those of earlier writers. */
export function versionIn({ version, commit_id, earlier }: StoredVersion): StoredVersion {
  return { version, commit_id, earlier };
}

/** The fence that a commit leaves after another. */
export function versionAfter(before: StoredVersion, commit_id: string): StoredVersion {
  const version = before.version + 1;
  const is_own =
    before.earlier === '' && before.commit_id.slice(0, WRITER_BYTES * 2) === commit_id.slice(0, WRITER_BYTES * 2);
  if (is_own || before.commit_id === '') return { version, commit_id, earlier: '' };
  const writer = Buffer.from(commit_id, 'hex').toString('latin1', 0, WRITER_BYTES);
  let earlier = '';
  const entries = entryOf(before).toString('latin1') + before.earlier;
  for (let at = 0; at < entries.length && earlier.length < (WRITERS_MAX - 1) * ENTRY_BYTES; at += ENTRY_BYTES) {
    const entry = entries.slice(at, at + ENTRY_BYTES);
    if (!entry.startsWith(writer)) earlier += entry;
  }
  return { version, commit_id, earlier };
}

/** An id and version in stored form. */
export function entryOf({ commit_id, version }: EntityVersion): Buffer {
  const entry = Buffer.allocUnsafe(ENTRY_BYTES);
  entry.write(commit_id, 0, 'hex');
  entry.writeBigUInt64BE(BigInt(version), COMMIT_ID_BYTES);
  return entry;
}
