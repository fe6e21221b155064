import type { Stream } from '../../../actors/recordings/stream_state.js';
import { TRANSCRIPT_MEMBER } from '../../../actors/transcripts/announcement_index.js';
import type { PageTurn, TranscriptPage } from '../../../actors/transcripts/transcript_page.js';
import { speakerNumber } from '../../../actors/transcripts/transcript_state.js';
import type { Principal } from '../../access/principal.js';
import { placeOfTurn } from '../../domain/ids.js';
import { orNull, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import type { Actors, EntityOf } from '../../engine/runtime/actors.js';
import { closedAs } from '../../engine/runtime/runtime_refusals.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';
import type { Announcements } from './announcements.js';
import type { TranscriberShown } from './engines/choose_engine.js';
import type { ReadableTranscript } from './transcript_pages.js';
import { readableTranscript, viewTurns } from './transcript_reading.js';
import { readTranscript, type TranscriptView } from './transcript_summary.js';
import type { TurnView } from './turn_shape.js';
import { Voices } from './voices.js';

/**
 * Corrections of transcripts by people. The commit checks that the caller's credential, the stream and its source are
 * still there. The answer is made of what was committed: a later run may already have replaced it.
 */

const NO_TURN = refuse('NOT_FOUND', 'There is no such turn.');
const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');
const NO_SPEAKER = refuse('NOT_FOUND', 'There is no such speaker in this stream.');
const ONLY_OWNER = refuse('FORBIDDEN', 'Only the owner of a stream may correct its transcript.');

/**
 * A person's correction of a turn: who said it (a contact, null for nobody, or another speaker), and its text (null for
 * the text as it was heard).
 */
type TurnCorrection = {
  contact_id?: string | null | undefined;
  speaker?: number | undefined;
  text?: string | null | undefined;
};

/** Says who said a turn, what was said in it, or both. */
export async function correctTurn(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  turn_id: string,
  { contact_id, speaker, text }: TurnCorrection,
): Promise<TurnView> {
  const change = {
    ...(contact_id === undefined ? {} : { contact_id: await contactToday(services, who, contact_id) }),
    ...(speaker === undefined ? {} : { speaker }),
    ...(text === undefined ? {} : { text }),
  };
  const { readable, reply } = await changeTurn(services, who, turn_id, (transcript, place, fences) =>
    transcript.change_turn({ ...place, ...change }, fences),
  );
  const views = await viewChanged(services, who, { readable, page: reply.page, turns: [reply.turn] });
  return views[0] ?? throwRefusal(NO_TURN);
}

/** Makes two turns of one, and gives both. */
export async function splitTurn(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  turn_id: string,
  { at_ms }: { at_ms: number },
): Promise<TurnView[]> {
  const { readable, reply } = await changeTurn(services, who, turn_id, (transcript, place, fences) =>
    transcript.split_turn({ ...place, at_ms }, fences),
  );
  return viewChanged(services, who, { readable, ...reply });
}

/** Deletes a turn, and withdraws what insights had of it. */
export async function deleteTurn(
  services: Pick<FeatureServices, 'actors' | 'runtime'> & {
    speech_withdrawal: { ofStream(stream: Stream): Promise<void> };
  },
  who: Principal,
  turn_id: string,
): Promise<void> {
  const { readable } = await changeTurn(
    services,
    who,
    turn_id,
    (transcript, place, fences) => transcript.delete_turn(place, fences),
    services.actors.downstream,
  );
  await services.speech_withdrawal.ofStream(readable.stream);
}

/** Says who a speaker is, in all turns of which nobody said something else. */
export async function assignSpeaker(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'runtime'> & {
    announcements: Announcements;
    transcriber: TranscriberShown;
  },
  who: Principal,
  { stream_id, speaker: name, contact_id }: { stream_id: string; speaker: string; contact_id: string | null },
): Promise<TranscriptView> {
  const speaker = speakerNumber(name);
  if (speaker === null) throw new Refused(NO_SPEAKER);
  const readable = await ownTranscript(services, who, stream_id);
  const { transcript } = readable;
  if (transcript === null) throw new Refused(NO_SPEAKER);
  const held = await contactToday(services, who, contact_id);
  await askTranscript(services, who, readable, (actor, fences) =>
    actor.assign_speaker({ speaker, contact_id: held }, fences),
  );
  const voices = new Voices(services.actors, services.clock.now);
  await voices.name(transcript, { stream_id, speaker, contact_id: held });
  return announced(services, who, stream_id);
}

/** Gives all turns of a speaker to another one. */
export async function mergeSpeakers(
  services: Pick<FeatureServices, 'actors' | 'runtime'> & {
    announcements: Announcements;
    transcriber: TranscriberShown;
  },
  who: Principal,
  { stream_id, speaker: name, into }: { stream_id: string; speaker: string; into: number },
): Promise<TranscriptView> {
  const speaker = speakerNumber(name);
  if (speaker === null) throw new Refused(NO_SPEAKER);
  const readable = await ownTranscript(services, who, stream_id);
  if (readable.transcript === null) throw new Refused(NO_SPEAKER);
  await askTranscript(services, who, readable, (actor, fences) => actor.merge_speaker({ speaker, into }, fences));
  return announced(services, who, stream_id);
}

/** A contact as it is today, so that a turn never shows one that became a part of another. */
async function contactToday(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  contact_id: string | null,
): Promise<string | null> {
  if (contact_id === null) return null;
  const resolved = await actors.contacts(account_id).resolve({ ids: [contact_id] });
  return resolved.contacts[contact_id]?.id ?? throwRefusal(NO_CONTACT);
}

async function changeTurn<Reply>(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  turn_id: string,
  ask: (transcript: EntityOf<'transcript'>, place: { page: number; serial: number }, fences: Fence[]) => Promise<Reply>,
  actors: Pick<Actors, 'transcript'> = services.actors,
): Promise<{ readable: ReadableTranscript; reply: Reply }> {
  const found = placeOfTurn(turn_id);
  if (found === null) throw new Refused(NO_TURN);
  const { stream_id, ...place } = found;
  const readable = await orNull(ownTranscript(services, who, stream_id), 'NOT_FOUND');
  if (readable === null || readable.transcript === null) throw new Refused(NO_TURN);
  const reply = await askTranscript(
    services,
    who,
    readable,
    (transcript, fences) => ask(transcript, place, fences),
    actors,
  );
  return { readable, reply };
}

function viewChanged(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { readable, page, turns }: { readable: ReadableTranscript; page: TranscriptPage; turns: PageTurn[] },
): Promise<TurnView[]> {
  const found = turns.map((turn) => ({ page: page.number, turn, words: null }));
  return viewTurns(services, who, { readable, turns: found });
}

async function ownTranscript(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  stream_id: string,
): Promise<ReadableTranscript> {
  const readable = await readableTranscript(services, who, stream_id);
  return readable.stream.account_id === who.account_id ? readable : throwRefusal(ONLY_OWNER);
}

/** No event comes after that of its source's deletion. */
async function askTranscript<Reply>(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { stream: { id, source_id } }: ReadableTranscript,
  ask: (transcript: EntityOf<'transcript'>, fences: Fence[]) => Promise<Reply>,
  actors: Pick<Actors, 'transcript'> = services.actors,
): Promise<Reply> {
  const open = [source_id, id].map((held): Fence => ({ fence: 'open', id: held }));
  return ask(actors.transcript(id), [...who.fences, ...open]).catch(closedAs(NO_TURN));
}

/** The transcript with the change; its events follow, most of them before the answer. */
async function announced(
  services: Pick<FeatureServices, 'actors' | 'runtime'> & {
    announcements: Announcements;
    transcriber: TranscriberShown;
  },
  who: Principal,
  stream_id: string,
): Promise<TranscriptView> {
  await services.announcements.offer(TRANSCRIPT_MEMBER + stream_id);
  return readTranscript(services, who, { stream_id });
}
