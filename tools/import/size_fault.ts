import { sizeInWords } from '../../src/domain/limit_text.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isTranscriptName, TRANSCRIPT_BYTES_MAX } from '../../src/domain/transcript_files/transcript_names.js';

/** Why a file is too large to be imported, in the codes of the server; null where it is not. Nothing of it is sent then. */
export function sizeFault(name: string, size_bytes: number): { code: string; message: string } | null {
  if (isTranscriptName(name) && size_bytes > TRANSCRIPT_BYTES_MAX) {
    const message = `The transcript has more than ${sizeInWords(TRANSCRIPT_BYTES_MAX)}.`;
    return { code: 'TRANSCRIPT_UNREADABLE', message };
  }
  if (size_bytes <= LIMITS.import_bytes_max) return null;
  return { code: 'TOO_LONG', message: `A file has at most ${sizeInWords(LIMITS.import_bytes_max)}.` };
}
