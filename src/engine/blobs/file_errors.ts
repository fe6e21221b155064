/** Codes of a store that is full, broken or away: the request itself is right. */
const STORE_AWAY: readonly unknown[] = [
  'BLOB_STORE_UNAVAILABLE',
  'ENOSPC',
  'EDQUOT',
  'EFBIG', // a bound on the size of files, of this process or its file system
  'EIO',
  'EROFS',
  'EMFILE', // too many files are open, here or in the whole system
  'ENFILE',
];

export function isStoreAway(error: unknown): boolean {
  return STORE_AWAY.includes(codeOf(error));
}

/** The error code of a file system, such as ENOENT or EEXIST. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

export function isAbsence(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

export function nullIfAbsent(error: unknown): null {
  if (!isAbsence(error)) throw error;
  return null;
}

export function unlessThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}
