import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type DoneDecision, defineActor, type MessageOf, type RecordQuery } from '../actor.js';

/** The recordings and conversations of omi in an account; the id is the account's. docs/choices.md, "omi". */
export type Omi = {
  /** The source of its recordings; absent before the first. */
  source_id?: string;
  /** The recording that audio goes into; null between two. */
  audio: OmiAudio | null;
  /** The places of the newest bodies of audio: one that comes again gets its place again. */
  recent: OmiPlace[];
  /** The number of conversations that are known. */
  conversations: number;
};

/** `samples`: of its audio so far. `chunks`: the number of its bodies. `is_registered`: the recording exists. */
type OmiAudio = {
  stream_id: string;
  sample_rate: number;
  began_at_ms: number;
  samples: number;
  chunks: number;
  last_at_ms: number;
  is_registered: boolean;
};

/** The place of a body of audio in its recording. `key`: names the body. */
export type OmiPlace = {
  key: string;
  stream_id: string;
  chunk_ref: string;
  sequence: number;
  start_ms: number;
  end_ms: number;
  began_at_ms: number;
};

/**
 * Collection `conversations`, by a hash of omi's id. `content`: a hash of what came last. `made`: what became of it; null
 * where nothing did, or it was removed. `going`: the recording that `made` has replaced, until it is deleted.
 */
export type OmiConversation = { content: string; made: MadeOfOmi | null; going: string | null };

/** `title` and `pages`: those of the recording, and of its transcript, as they were made. */
export type MadeOfOmi = { import_id: string; stream_id: string; title: string; pages: number };

export type OmiMessage = MessageOf<typeof omi>;

/** omi sends each second; after such a pause another recording begins. */
export const OMI_PAUSE_MS = 2 * 60_000;
const RECORDING_MS_MAX = 6 * 3_600_000; // ours: as an imported one
const RECENT_MAX = 64; // ours: omi tries again for half a minute
const CONVERSATIONS = 'conversations';
const NEW: Omi = { audio: null, recent: [], conversations: 0 };
const CHANGED_MEANWHILE = refuse('UNAVAILABLE', 'The same conversation came twice at once; try again.', {
  retry_after_s: 5,
});
const TOO_MANY = refuse(
  'CONFLICT',
  `At most ${LIMITS.omi_conversations_max} conversations of omi are known of an account.`,
);

type ArrivedAudio = { key: string; stream_id: string; chunk_ref: string; samples: number; sample_rate: number };
type OfConversation = { key: string };
/** `was`: the content that is known. */
type NotedConversation = OfConversation & { was: string | null; is: OmiConversation };

export const omi = defineActor<Omi>()({
  kind: 'omi',
  home: 'id',
  schema: 1,
  messages: {
    /** The source of its recordings. `instead_of`: a deleted source. */
    source(
      state,
      { new_source_id, instead_of }: { new_source_id: string; instead_of?: string },
    ): Decision<Omi, { source_id: string }> {
      const known = state?.source_id;
      if (known !== undefined && known !== instead_of) return { reply: { source_id: known } };
      return { reply: { source_id: new_source_id }, next: { ...(state ?? NEW), source_id: new_source_id } };
    },

    /** Gives a body of audio its place, in the order of arrival. `stream_id` and `chunk_ref`: made for this message. */
    place_audio(state, body: ArrivedAudio, { now_ms }): Decision<Omi, OmiPlace & { is_registered: boolean }> {
      const before = state ?? NEW;
      const known = before.recent.find(({ key }) => key === body.key);
      if (known !== undefined) {
        const { audio } = before;
        const is_registered = audio?.stream_id !== known.stream_id || audio.is_registered;
        return { reply: { ...known, is_registered } };
      }
      const audio = audioFor(before.audio, body, now_ms);
      const samples = audio.samples + body.samples;
      const place: OmiPlace = {
        key: body.key,
        stream_id: audio.stream_id,
        chunk_ref: body.chunk_ref,
        sequence: audio.chunks,
        start_ms: msOf(audio.samples, audio),
        end_ms: msOf(samples, audio),
        began_at_ms: audio.began_at_ms,
      };
      return {
        reply: { ...place, is_registered: audio.is_registered },
        next: {
          ...before,
          audio: { ...audio, samples, chunks: audio.chunks + 1, last_at_ms: now_ms },
          recent: [...before.recent, place].slice(-RECENT_MAX),
        },
      };
    },

    audio_registered(state, { stream_id }: { stream_id: string }): DoneDecision<Omi> {
      if (state?.audio?.stream_id !== stream_id) return { reply: DONE };
      return { reply: DONE, next: { ...state, audio: { ...state.audio, is_registered: true } } };
    },

    /** The recording takes no more audio: it is deleted, or has ended. */
    audio_over(state, { stream_id }: { stream_id: string }): DoneDecision<Omi> {
      if (state === null) return { reply: DONE };
      const audio = state.audio?.stream_id === stream_id ? null : state.audio;
      const recent = state.recent.filter((one) => one.stream_id !== stream_id);
      return { reply: DONE, next: { ...state, audio, recent } };
    },

    conversation: {
      reads: true,
      records: recordOf,
      decide: (_, { key }: OfConversation, facts): Decision<Omi, { known: OmiConversation | null }> => ({
        reply: { known: facts.record<OmiConversation>(CONVERSATIONS, key) ?? null },
      }),
    },

    note_conversation: {
      records: recordOf,
      decide(state, { key, was, is }: NotedConversation, facts): DoneDecision<Omi> {
        const before = state ?? NEW;
        const known = facts.record<OmiConversation>(CONVERSATIONS, key);
        if ((known?.content ?? null) !== was) return { reply: CHANGED_MEANWHILE };
        if (known === undefined && before.conversations >= LIMITS.omi_conversations_max) return { reply: TOO_MANY };
        return {
          reply: DONE,
          next: known === undefined ? { ...before, conversations: before.conversations + 1 } : before,
          effects: [{ effect: 'put_record', collection: CONVERSATIONS, id: key, value: is }],
        };
      },
    },

    /** Ends with its account. */
    erase(state, _: unknown): Decision<Omi, { left: boolean }> {
      if (state === null) return { reply: { left: false } };
      return {
        reply: { left: false },
        next: null,
        effects: [{ effect: 'delete_collection', collection: CONVERSATIONS }, { effect: 'delete' }],
      };
    },
  },
});

function recordOf({ key }: OfConversation): RecordQuery[] {
  return [{ collection: CONVERSATIONS, id: key }];
}

/** The recording under way, or one that begins with this body. */
function audioFor(
  present: OmiAudio | null,
  { stream_id, samples, sample_rate }: ArrivedAudio,
  now_ms: number,
): OmiAudio {
  const goes_on =
    present !== null &&
    present.sample_rate === sample_rate &&
    now_ms - present.last_at_ms < OMI_PAUSE_MS &&
    msOf(present.samples + samples, present) <= RECORDING_MS_MAX;
  if (goes_on) return present;
  const began_at_ms = now_ms - msOf(samples, { sample_rate });
  return { stream_id, sample_rate, began_at_ms, samples: 0, chunks: 0, last_at_ms: now_ms, is_registered: false };
}

function msOf(samples: number, { sample_rate }: { sample_rate: number }): number {
  return Math.floor((samples * 1_000) / sample_rate);
}
