/** So long a browser may need to take over what it saves. */
const TAKEN_MS = 60_000;

/** Saves data as a file. */
export function saveBlob(blob: Blob, file_name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = file_name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), TAKEN_MS);
}
