import { setImmediate } from 'node:timers/promises';
import { defaultPipeline } from '../../../../actors/insights/context.js';
import type { Context, Pipeline } from '../../../../actors/insights/context_state.js';
import type { ClaimedJob } from '../../../../actors/insights/library_jobs.js';
import type { Span, SpokenBy, Suggestion } from '../../../../actors/insights/library_state.js';
import { contactOf } from '../../../../actors/transcripts/transcript_attribution.js';
import { type PageTurn, pageOf } from '../../../../actors/transcripts/transcript_page.js';
import { libraryId, ownerOfPipeline, ownerOfPrivateWorkspace } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull, orRefused } from '../../../domain/refusals.js';
import type { Actors } from '../../../engine/runtime/actors.js';
import { mayBeAhead } from '../../../engine/time/time_zone.js';
import {
  type Contacts,
  namesOf,
  pagesFrom,
  type ReadableTranscript,
  readableTranscriptOf,
  type TranscriptReader,
} from '../../transcripts/transcript_pages.js';
import type { InputPerson, InputTurn, InsightInput } from '../engines/insight_input.js';

/** The input of an engine for a job: read anew whenever it is needed, so that nothing deleted meanwhile is used. */

const INSIGHT_MEMORIES_TOLD_MAX = 50; // ours: what an engine is told that is known already

export type InputReader = TranscriptReader & {
  actors: Pick<Actors, 'stream' | 'library' | 'context' | 'contacts'>;
};
export type Owner = { account_id: string; workspace_id: string };
/** `engine`: its name in the operator's list. */
export type JobInput = { input: InsightInput; engine: string };

/** Null if nothing is to be analysed: the turns are gone, or the pipeline makes no insights. */
export async function inputOfJob(reader: InputReader, job: ClaimedJob, owner: Owner): Promise<JobInput | null> {
  const { actors } = reader;
  const { account_id } = owner;
  const context = await orNull(actors.context(account_id).view(), 'NOT_FOUND');
  if (context === null) return null;
  const number = job.pipeline_id === null ? null : ownerOfPipeline(job.pipeline_id)?.number;
  const pipeline =
    number === null
      ? defaultPipeline(context)
      : context.pipelines.find((one) => one.number === number && !one.archived);
  if (pipeline === undefined || pipeline.insights === null) return null;
  const said = await saidIn(reader, job, account_id);
  if (said.turns.length === 0) return null;
  return {
    engine: pipeline.insights.engine,
    input: {
      started_at_ms: job.started_at_ms,
      ended_at_ms: job.ended_at_ms,
      title: job.conversation_item?.title ?? null,
      turns: said.turns,
      people: said.people,
      ...(await knownOf(reader, job, { library_id: libraryId(account_id, owner.workspace_id), people: said.people })),
      ...(await toldBy(reader, { owner, context, insights: pipeline.insights })),
      time_zone: zoneOf(context, said.turns),
    },
  };
}

/** The zone of the profile; null for the clocks of the recording, if it was made elsewhere. */
function zoneOf({ profile: { time_zone } }: Context, [first]: readonly InputTurn[]): string | null {
  if (first === undefined || first.utc_offset_min === 0) return time_zone;
  const { at_ms, utc_offset_min } = first;
  return mayBeAhead(at_ms, { time_zone, utc_offset_min }) ? time_zone : null;
}

type ProfileQuery = { owner: Owner; context: Context; insights: NonNullable<Pipeline['insights']> };

/**
 * The parts of a profile that engines get. Members of a shared workspace read an engine's results, and an engine may
 * repeat its input. So there it gets nothing about the account, only how to hear and which kinds are wanted.
 */
async function toldBy({ actors }: InputReader, { owner, context: { profile }, insights }: ProfileQuery) {
  const { about, languages, vocabulary } = profile;
  const { suggestion_kinds, memory_kinds, instructions } = insights;
  const told = { languages, vocabulary, suggestion_kinds, memory_kinds };
  if (ownerOfPrivateWorkspace(owner.workspace_id) === null)
    return { ...told, about: null, context: [], instructions: '' };
  const items = await orNull(actors.context(owner.account_id).context_items(), 'NOT_FOUND');
  return { ...told, about, instructions, context: (items?.items ?? []).map(({ text }) => text) };
}

/** Suggestions of this conversation; memories of it, and the newest others of the account. */
async function knownOf(
  { actors }: InputReader,
  { conversation_item, pipeline_id }: ClaimedJob,
  { library_id, people }: { library_id: string; people: readonly InputPerson[] },
): Promise<Pick<InsightInput, 'suggestions' | 'memories'>> {
  const library = actors.library(library_id);
  const numbers = { suggestions: conversation_item?.suggestions ?? [], memories: conversation_item?.memories ?? [] };
  const newest = { descending: true, limit: INSIGHT_MEMORIES_TOLD_MAX };
  const itemsOf = async (kind: 'suggestion' | 'memory', wanted: number[]) =>
    (await orNull(library.items_of({ kind, numbers: wanted }), 'NOT_FOUND'))?.items ?? [];
  const [suggestions, own, others] = await Promise.all([
    itemsOf('suggestion', numbers.suggestions.slice(-LIMITS.suggestions_per_result_max)),
    itemsOf('memory', numbers.memories.slice(-LIMITS.memories_per_result_max)),
    orNull(library.list({ kind: 'memory', range: newest }), 'NOT_FOUND'),
  ]);
  const memories = new Map([...(others?.items ?? []), ...own].map(({ number, item }) => [number, item]));
  return {
    suggestions: suggestions.flatMap(({ number: ref, item }) => {
      // Of one without a text, speech was deleted.
      if (!('status' in item) || item.text === '') return [];
      const { kind, text, status, due_at_ms, due_date, evidence: spans } = item;
      return [{ ref, kind, text, status, due_at_ms, due_date, spans, ...labelsOf(item, people) }];
    }),
    memories: [...memories].flatMap(([ref, item]) => {
      if (!('origin' in item) || item.state !== 'active' || item.pipeline_id !== pipeline_id) return [];
      return [{ ref, kind: item.kind, text: item.text, own: numbers.memories.includes(ref) }];
    }),
  };
}

/** The people of an input who have the roles of a suggestion. */
function labelsOf(
  { roles, role_speakers }: Suggestion,
  people: readonly InputPerson[],
): { owner: string | null; requester: string | null } {
  const labelOf = (contact_id: string | null, spoke: SpokenBy | null = null) =>
    people.find((person) =>
      contact_id === null
        ? person.contact_id === null && spoke !== null && isSpeaker(person.who, spoke)
        : person.contact_id === contact_id,
    )?.label ?? null;
  return {
    owner: labelOf(roles.owner_contact_id, role_speakers.owner),
    requester: labelOf(roles.requester_contact_id, role_speakers.requester),
  };
}

function isSpeaker(one: SpokenBy, other: SpokenBy): boolean {
  return one.stream_id === other.stream_id && one.speaker === other.speaker;
}

type InputSpeech = { turns: InputTurn[]; people: InputPerson[] };

async function saidIn(
  reader: InputReader,
  { parts, pipeline_id }: Pick<ClaimedJob, 'parts' | 'pipeline_id'>,
  account_id: string,
): Promise<InputSpeech> {
  const people = new Map<string, InputPerson>();
  const turns: InputTurn[] = [];
  const selves = new Map<string, boolean>();
  for (const part of parts) {
    const stream = await orNull(reader.actors.stream(part.stream_id).view(), 'NOT_FOUND');
    const readable =
      stream === null
        ? null
        : await orNull(readableTranscriptOf(reader, stream, { pipeline_id, or_default: true }), 'NOT_FOUND');
    if (readable === null) continue;
    const found = await turnsIn(reader, readable, part);
    const contacts = (await orNull(namesOf(reader, readable, found), 'NOT_FOUND')) ?? {};
    for (const contact of Object.values(contacts))
      if (contact !== null && !selves.has(contact.id))
        selves.set(contact.id, await isSelf(reader, account_id, contact.id));
    const { captured_at, utc_offset_min } = readable.stream;
    const captured_at_ms = Date.parse(captured_at);
    for (const turn of found) {
      if (turns.length >= LIMITS.conversation_turns_max) break;
      const { start_ms, end_ms, text, language } = turn;
      turns.push({
        number: turns.length + 1,
        stream_id: part.stream_id,
        source_id: part.source_id,
        start_ms,
        end_ms,
        text,
        language,
        at_ms: captured_at_ms + start_ms,
        utc_offset_min: utc_offset_min ?? 0,
        speaker: labelOf(turn, { readable, contacts, people, selves }),
      });
    }
  }
  return { turns, people: [...people.values()] };
}

async function turnsIn(
  reader: TranscriptReader,
  readable: ReadableTranscript,
  { start_ms, end_ms }: Span,
): Promise<PageTurn[]> {
  const found: PageTurn[] = [];
  for await (const page of pagesFrom(reader, readable, { page: pageOf(start_ms) })) {
    if (page.number > pageOf(end_ms)) break;
    found.push(...page.turns.filter((turn) => turn.start_ms >= start_ms && turn.start_ms <= end_ms));
    await setImmediate(); // a long recording holds nobody up
  }
  return found;
}

type KnownPeople = {
  readable: ReadableTranscript;
  contacts: Contacts;
  people: Map<string, InputPerson>;
  selves: ReadonlyMap<string, boolean>;
};

/** The speaker: a contact is one person in all recordings, a speaker label in one. */
function labelOf(
  turn: PageTurn,
  { readable: { stream, speakers }, contacts, people, selves }: KnownPeople,
): string | null {
  const held = contactOf(speakers, turn);
  const contact = held === null ? null : (contacts[held] ?? null);
  if (contact === null && turn.speaker === 0) return null;
  const speaker = speakers.get(turn.speaker)?.into ?? turn.speaker;
  const key = contact?.id ?? `${stream.id} ${speaker}`;
  const known = people.get(key);
  if (known !== undefined) return known.label;
  const label = `P${people.size + 1}`;
  people.set(key, {
    label,
    name: contact?.name ?? null,
    contact_id: contact?.id ?? null,
    is_self: contact !== null && selves.get(contact.id) === true,
    who: {
      stream_id: stream.id,
      speaker,
      ...(turn.contact_id !== undefined && { contact_id: turn.contact_id }),
    },
  });
  return label;
}

async function isSelf({ actors }: InputReader, account_id: string, contact_id: string): Promise<boolean> {
  const contact = await actors.contacts(account_id).view({ contact_id }).catch(orRefused(null));
  return contact?.is_self === true;
}
