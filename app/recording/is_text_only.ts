import type { Stream } from '../../kits/typescript/src/api.js';

/** Whether a recording never had audio: its text came as a file. */
export function isTextOnly({
  end_ms,
  chunks,
  transcript_revision,
}: Pick<Stream, 'end_ms' | 'chunks' | 'transcript_revision'>): boolean {
  return end_ms !== undefined && chunks === 0 && transcript_revision > 0;
}
