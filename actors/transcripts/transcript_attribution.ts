import type { PageTurn } from './transcript_page.js';
import { type Speaker, speakerName } from './transcript_state.js';

/** The person that a turn shows, by its speaker and by what people set for the turn itself. */

export type Speakers = ReadonlyMap<number, Speaker>;
type Attribution = 'none' | 'detected' | 'recognized' | 'manual';

/** The speaker's number, after merges. */
export function speakerShown(speakers: Speakers, { speaker }: Pick<PageTurn, 'speaker'>): string | null {
  return speaker === 0 ? null : speakerName(speakers.get(speaker)?.into ?? speaker);
}

/** The contact that a turn shows, as set at that time. */
export function contactOf(
  speakers: Speakers,
  { contact_id, speaker }: { contact_id?: string | null; speaker: number },
): string | null {
  if (contact_id !== undefined) return contact_id;
  return knownOf(speakers, speaker)?.contact_id ?? null;
}

export function attributionOf(speakers: Speakers, turn: PageTurn): Attribution {
  if (turn.contact_id !== undefined || turn.speaker_is_manual) return 'manual';
  if (turn.speaker === 0) return 'none';
  const known = knownOf(speakers, turn.speaker);
  return known === undefined || (known.by === 'recognized' && known.contact_id === null) ? 'detected' : known.by;
}

function knownOf(speakers: Speakers, speaker: number): Speaker | undefined {
  const known = speakers.get(speaker);
  return known?.into === undefined ? known : speakers.get(known.into);
}
