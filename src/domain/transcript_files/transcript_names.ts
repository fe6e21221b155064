/** The names and the size of transcripts, known before anything of a file is read. */

export const TRANSCRIPT_BYTES_MAX = 20 * 1024 * 1024;
/** The names of such files end with one of these. */
export const TRANSCRIPT_ENDINGS = ['.vtt', '.srt', '.txt', '.json'] as const;

export function isTranscriptName(name: string): boolean {
  return TRANSCRIPT_ENDINGS.some((ending) => name.toLowerCase().endsWith(ending));
}

/** Whether a transcript is that of an audio file, by their names: `talk.vtt` and `talk.m4a.vtt` are of `talk.m4a`. */
export function isTranscriptOf(name: string, audio: string): boolean {
  if (!isTranscriptName(name) || isTranscriptName(audio)) return false;
  return [audio.toLowerCase(), stemOf(audio)].includes(stemOf(name));
}

/** A name in small letters, without its ending. */
export function stemOf(name: string): string {
  return name.toLowerCase().replace(/(?<=.)\.[^.]*$/, '');
}
