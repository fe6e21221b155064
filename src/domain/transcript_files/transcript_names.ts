/** The names and the size of transcripts, known before anything of a file is read. */

export const TRANSCRIPT_BYTES_MAX = 20 * 1024 * 1024;
/** The names of such files end with one of these. */
export const TRANSCRIPT_ENDINGS = ['.vtt', '.srt', '.txt', '.json'] as const;

export function isTranscriptName(name: string): boolean {
  return TRANSCRIPT_ENDINGS.some((ending) => name.toLowerCase().endsWith(ending));
}
