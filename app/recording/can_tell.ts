import type { Transcript, Turn } from '../../kits/typescript/src/api.js';

/** Whether the speakers of a recording can be told apart by their number: it is over, has a text, and has no speakers. */
export function canTell(
  { tells_speakers, speakers, told_speakers, waiting }: Transcript,
  turns: readonly Turn[],
): boolean {
  const is_told = told_speakers?.state === 'under_way' || told_speakers?.state === 'done';
  return tells_speakers && (is_told || (speakers.length === 0 && waiting.length === 0 && turns.length > 0));
}
