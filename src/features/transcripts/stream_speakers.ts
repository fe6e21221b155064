import { contactOf, speakerShown } from '../../../actors/transcripts/transcript_attribution.js';
import type { Principal } from '../../access/principal.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull } from '../../domain/refusals.js';
import type { StreamView } from '../recordings/streams.js';
import type { FeatureServices } from '../services.js';
import { namesOf, type ReadableTranscript, somePages } from './transcript_pages.js';
import { readableTranscript } from './transcript_reading.js';

/** Who speaks in a recording, as lists of recordings show it. Rule K-240; docs/choices.md, "Recordings". */

const SPEAKERS_PAGES_MAX = 6; // ours: pages of a transcript in which a list of recordings looks for its speakers: one hour

type ListedSpeaker = NonNullable<StreamView['speakers']>[number];

/** Streams with their speakers; null for whoever may not read transcripts. */
export async function withSpeakers(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  streams: readonly StreamView[],
): Promise<StreamView[]> {
  if (!who.permissions.includes('turns:read')) return streams.map((stream) => ({ ...stream, speakers: null }));
  return Promise.all(
    streams.map(async (stream) => {
      // One without a text has nobody to look up.
      if (stream.transcript_revision === 0) return { ...stream, speakers: [] };
      const readable = await orNull(readableTranscript(services, who, stream.id), 'NOT_FOUND');
      return { ...stream, speakers: readable === null ? [] : await speakersIn(services, who, readable) };
    }),
  );
}

/** Who is heard in the first pages, in their order, and behind them the named speakers of the rest. */
async function speakersIn(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  { account_id }: Principal,
  readable: ReadableTranscript,
): Promise<ListedSpeaker[]> {
  const { stream, speakers } = readable;
  const limit = SPEAKERS_PAGES_MAX;
  // Pages without a turn are not there: others would come in their place.
  const pages = (await somePages(services, readable, { page: 0, limit })).filter(({ number }) => number < limit);
  const named = [...speakers].flatMap(([speaker, { into }]) => (into === undefined ? [{ speaker }] : []));
  const turns: { speaker: number; contact_id?: string | null }[] = pages.flatMap((page) => page.turns);
  const contacts = await namesOf(services, readable, [...turns, ...named]);
  const found = new Map<string, ListedSpeaker>();
  const add = (turn: (typeof turns)[number], is_heard: boolean) => {
    const held = contactOf(speakers, turn);
    const contact = held === null ? null : (contacts[held] ?? null);
    const speaker = speakerShown(speakers, turn);
    const key = contact?.id ?? (is_heard ? speaker : null);
    if (key === null || found.has(key) || found.size >= LIMITS.listed_speakers_max) return;
    // Whoever shares a workspace reads names, and has no contacts of others.
    const contact_id = stream.account_id === account_id ? (contact?.id ?? null) : null;
    found.set(key, { speaker, contact_id, name: contact?.name ?? null });
  };
  for (const turn of turns) add(turn, true);
  for (const turn of named) add(turn, false);
  return [...found.values()];
}
