import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { NotATranscript, readTranscriptFile, textOfBytes } from '../../src/domain/transcript_files/transcript_file.js';
import {
  isTranscriptName,
  TRANSCRIPT_BYTES_MAX,
  TRANSCRIPT_ENDINGS,
} from '../../src/domain/transcript_files/transcript_names.js';

/** The text of an audio file that lies beside it under the same name. */
export type FileText = { path: string; bytes: Uint8Array<ArrayBuffer> };

/** Null where there is none. `.txt` and `.json` count where they read as a transcript. */
export async function textBeside(audio: string): Promise<FileText | null> {
  if (isTranscriptName(audio)) return null;
  const name = basename(audio);
  const stem = name.slice(0, name.length - extname(name).length);
  for (const ending of TRANSCRIPT_ENDINGS) {
    for (const beside of [stem + ending, name + ending]) {
      const path = join(dirname(audio), beside);
      const found = await stat(path).catch(() => null);
      if (!found?.isFile() || found.size === 0 || found.size > TRANSCRIPT_BYTES_MAX) continue;
      const bytes = new Uint8Array(await readFile(path));
      if (isTranscript(bytes)) return { path, bytes };
    }
  }
  return null;
}

export function isTranscript(bytes: Uint8Array): boolean {
  try {
    readTranscriptFile(textOfBytes(bytes));
    return true;
  } catch (error) {
    if (error instanceof NotATranscript) return false;
    throw error;
  }
}
