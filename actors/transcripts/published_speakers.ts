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

/** A worker's result for a window that it has claimed. `digest`: of the whole result; a repetition has the same. */
export type Publication = {
  number: number;
  token: string;
  digest: string;
  consumed_to_ms?: number | undefined;
  speaker_scope: SpeakerScope;
  mode: 'replace' | 'attribute';
  turns: PublishedTurn[];
  /** The parts of the window that could not be heard. Turns there stay. */
  failed?: FailedAudio[] | undefined;
  /** Why nothing behind `consumed_to_ms` was heard. That part waits for another try, even in a final window. */
  stopped?: StoppedHearing | undefined;
  /** Contacts whose voices were recognised, by label. */
  recognized: Record<string, string>;
  /** Whether a recording is transcribed once more after its end. */
  final_pass: boolean;
  /** The engine, and how many segments it left out by itself; absent if unknown. */
  engine?: string | undefined;
  dropped?: number | undefined;
  /** Whether conversations are made of the speech. */
  insights?: boolean;
};

/** The numbers of labels that a result shares with the stream. */
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

/** No storage keeps a member named `__proto__`. */
export function withLabels(state: Transcript, { speaker_scope }: Publication, numbers: SpeakerNumbers): Transcript {
  if (speaker_scope !== 'stream') return state;
  const fresh = [...numbers].filter(
    ([label, number]) => number > 0 && !Object.hasOwn(state.labels, label) && label !== '__proto__',
  );
  const room = SPEAKER_LABELS_MAX - Object.keys(state.labels).length;
  return { ...state, labels: { ...state.labels, ...Object.fromEntries(fresh.slice(0, Math.max(0, room))) } };
}

/** Queries the speakers that a publication may name: those of the stream's labels, the latest and the next ones. */
export function blocksFrom({ speakers, labels }: Transcript): string[] {
  const near = [Math.max(0, speakers - LIMITS.speakers_per_block), speakers, speakers + LIMITS.speakers_per_block];
  return [...new Set([...Object.values(labels), ...near].map(speakerBlockOf))];
}

type Recognized = { numbers: SpeakerNumbers; before: Transcript; publication: Publication };

/** Gives speakers whose voices were recognised those contacts, unless a person named them. */
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
