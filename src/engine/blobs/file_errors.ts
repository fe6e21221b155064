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
