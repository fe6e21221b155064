import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal } from '../../src/domain/refusals.js';
import type { Effect, Facts } from '../actor.js';
import { announce, showContact } from './transcript_announcements.js';
import type { SpeakerNumbers } from './transcript_merge.js';
import {
  type FailedAudio,
  type PublishedTurn,
  putBlock,
  type SpeakerBlock,
  type SpeakerScope,
  speakerBlockOf,
  speakerNumber,
  type Transcript,
} from './transcript_state.js';
import type { StoppedHearing } from './transcript_windows.js';

const SPEAKER_LABELS_MAX = 64; // ours: labels of a stream that mean the same in all of it

/** A worker's result for a window that it has claimed. `digest`: over all that the worker said, by which a repeat is known. */
export type Publication = {
  number: number;
  token: string;
  digest: string;
  consumed_to_ms?: number | undefined;
  speaker_scope: SpeakerScope;
  mode: 'replace' | 'attribute';
  turns: PublishedTurn[];
  /** Parts of the window that could not be heard. What stood there stays. */
  failed?: FailedAudio[] | undefined;
  /** Why nothing behind `consumed_to_ms` was heard; that waits for another try, also of a final window. */
  stopped?: StoppedHearing | undefined;
  /** Contacts whose voices were recognised, by label. */
  recognized: Record<string, string>;
  /** Whether a recording is run once more after its end. */
  final_pass: boolean;
  /** Who heard it, and how many segments it left out by itself; absent where nobody said. */
  engine?: string | undefined;
  dropped?: number | undefined;
  /** Whether somebody makes conversations of what is said. */
  insights?: boolean;
};

/** Numbers of labels that a result takes from the stream. */
export function knownLabels(
  { labels, speakers }: Pick<Transcript, 'labels' | 'speakers'>,
  { speaker_scope, turns }: Pick<Publication, 'speaker_scope' | 'turns'>,
): Record<string, number> {
  if (speaker_scope === 'window') return {};
  if (speaker_scope === 'stream') return labels;
  const named = [...new Set(turns.flatMap(({ speaker }) => speaker ?? []))].flatMap((label): [string, number][] => {
    const number = speakerNumber(label);
    return number === null || number > speakers ? [] : [[label, number]];
  });
  return Object.fromEntries(named);
}

/** No storage keeps a member that is called `__proto__`. */
export function withLabels(state: Transcript, { speaker_scope }: Publication, numbers: SpeakerNumbers): Transcript {
  if (speaker_scope !== 'stream') return state;
  const fresh = [...numbers].filter(
    ([label, number]) => number > 0 && !Object.hasOwn(state.labels, label) && label !== '__proto__',
  );
  const room = SPEAKER_LABELS_MAX - Object.keys(state.labels).length;
  return { ...state, labels: { ...state.labels, ...Object.fromEntries(fresh.slice(0, Math.max(0, room))) } };
}

/** Where speakers stand that a publication may name: those of the stream's labels, the latest and the next ones. */
export function blocksFrom({ speakers, labels }: Transcript): string[] {
  const near = [Math.max(0, speakers - LIMITS.speakers_per_block), speakers, speakers + LIMITS.speakers_per_block];
  return [...new Set([...Object.values(labels), ...near].map(speakerBlockOf))];
}

type Recognized = { numbers: SpeakerNumbers; before: Transcript; publication: Publication };

/** Speakers whose voices were recognised are those contacts, unless something is known of them. */
export function recognize(
  state: Transcript,
  { numbers, before, publication }: Recognized,
  facts: Facts,
): { state: Transcript; effects: Effect[] } {
  let next = state;
  const blocks = new Map<string, SpeakerBlock>();
  const effects: Effect[] = [];
  for (const [label, contact_id] of Object.entries(publication.recognized)) {
    const number = numbers.get(label) ?? 0;
    const id = speakerBlockOf(number);
    if (number === 0 || !blocksFrom(before).includes(id)) continue;
    const block = blocks.get(id) ?? facts.record<SpeakerBlock>('speakers', id) ?? {};
    const shown = block[number] === undefined ? showContact(next, contact_id, facts.self) : null;
    if (shown === null) continue;
    // Of turns that were there before, an event says that they have a contact now.
    const announced = number <= before.speakers ? announce(shown.state, { speakers: [number] }, facts) : null;
    next = announced === null || isRefusal(announced) ? shown.state : announced.state;
    effects.push(...shown.effects, ...(announced === null || isRefusal(announced) ? [] : announced.effects));
    blocks.set(id, { ...block, [number]: { contact_id, by: 'recognized' } });
  }
  return { state: next, effects: [...effects, ...[...blocks].map(([id, block]) => putBlock(id, block))] };
}
