import { libraryId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { deletedMember, SEARCH_INDEX } from '../../src/domain/search/places.js';
import { type Decision, DONE, type DoneDecision, defineActor, type Effect, type MessageOf } from '../actor.js';
import { type Erase, erased } from '../erase.js';
import { arrivalMessages } from './stream_arrivals.js';
import { chunkMessages } from './stream_chunks.js';
import { deletionMessages } from './stream_deletions.js';
import {
  END_REMINDER,
  endStream,
  endStreamLater,
  endUnlessContinued,
  type LaterEnd,
  type StreamEnd,
} from './stream_end.js';
import { expiryMessages, noLongerDue, retentionEffects } from './stream_expiry.js';
import { joinWorkspace, leaveWorkspace, moveMessages, STREAMS, streamIndexOf } from './stream_move.js';
import { PROCESSING_INDEX, processingMessages, TELL_REMINDER } from './stream_processing.js';
import { type EventSilence, keptStream, noStream, type Stream, type StreamState, streamEvent } from './stream_state.js';

export type StreamMessage = MessageOf<typeof stream>;

export { STREAMS, streamIndexOf };
/** The list of an account's deleted streams of which an id is kept. */
export const DELETED_STREAMS = 'deleted_streams';

export const stream = defineActor<StreamState>()({
  kind: 'stream',
  home: 'id',
  schema: 1,
  messages: {
    register(
      state,
      { silent, ...registered }: NewStream & EventSilence,
      { self: id, now_ms },
    ): Decision<StreamState, Stream> {
      if (state !== null && state.status !== 'kept') return { reply: noStream(state) };
      if (state !== null) {
        if (registered.end_ms === null || registered.end_ms === state.end_ms) return { reply: state };
        return endStream(state, { end_ms: registered.end_ms, silent }, { now_ms });
      }
      const next: Stream = { ...EMPTY, ...registered, id, created_at_ms: now_ms };
      const { account_id: owner, source_id } = next;
      const indexes = [STREAMS, streamIndexOf(source_id)];
      return {
        reply: next,
        next,
        effects: [
          ...streamEvent(next, 'stream.created', { silent }),
          ...indexes.map((index): Effect => ({ effect: 'add_to_index', owner, index, member: id, order: now_ms })),
          ...joinWorkspace(next),
        ],
      };
    },

    view: { reads: true, decide: keptStream((state) => ({ reply: state })) },

    end: keptStream((state, end: StreamEnd, facts) => endStream(state, end, facts)),

    end_later: keptStream((state, end: LaterEnd, facts) => endStreamLater(state, end, facts)),

    end_unless_continued: keptStream((state, end: StreamEnd, facts) => endUnlessContinued(state, end, facts)),

    /** Changes what the owner has said of it. A star and tags are nobody else's business, so no event tells of them. */
    change: keptStream((state, { title = state.title, starred, tags, silent }: OwnersChange & EventSilence) => {
      const is_titled = title !== state.title;
      const is_starred = starred !== undefined && starred !== (state.starred ?? false);
      const is_tagged = tags !== undefined && !sameTexts(tags, state.tags ?? []);
      if (!is_titled && !is_starred && !is_tagged) return { reply: state };
      const next = { ...state, title, ...(is_starred ? { starred } : {}), ...(is_tagged ? { tags } : {}) };
      if (!is_titled) return { reply: next, next };
      const effects = [...streamEvent(next, 'stream.updated', { silent }, ['title']), ...retentionEffects(state, next)];
      return { reply: next, next, effects };
    }),

    /** The owner deletes the stream: it is gone for all callers, and a worker removes its content. */
    delete: keptStream(
      (state, { silent }: EventSilence): DoneDecision<StreamState> => ({
        reply: DONE,
        next: { ...state, status: 'going', deleted: true },
        effects: [...streamEvent(state, 'stream.deleted', { silent }), ...removal(state), ...forgetIn(state)],
      }),
    ),

    ...chunkMessages,
    ...arrivalMessages,
    ...processingMessages,
    ...expiryMessages,
    ...deletionMessages,
    ...moveMessages,

    // From a workspace that it is in, or has left meanwhile.
    workspace_gone(state, { workspace_id }: { workspace_id: string }): DoneDecision<StreamState> {
      if (state?.status !== 'kept' || workspace_id !== state.workspace_id) return { reply: DONE };
      return { reply: DONE, next: { ...state, status: 'going', deleted: false }, effects: removal(state) };
    },

    /** The bytes are removed. */
    erase(state, input: Erase, { self, now_ms }): DoneDecision<StreamState> {
      const collections = ['chunks', 'refs', 'sequences', 'unprocessed', 'kept'];
      const is_remembered = state?.status === 'going' && state.deleted && state.recorder !== null;
      const effects: Effect[] = [
        ...collections.map((collection): Effect => ({ effect: 'delete_collection', collection })),
        { effect: 'cancel_reminder', name: 'expire_intents' },
        { effect: 'cancel_reminder', name: END_REMINDER },
        { effect: 'cancel_reminder', name: TELL_REMINDER },
        ...(is_remembered ? [] : [{ effect: 'delete_fence' as const, id: self }]),
        { effect: 'remove_from_index', ...PROCESSING_INDEX, member: self },
        ...(state === null || state.status === 'forgotten' ? [] : leave(state)),
      ];
      return is_remembered ? forgotten(state, { ...input, effects }, now_ms) : erased(input, { member: self, effects });
    },
  },

  invariant(state) {
    if (state.status === 'forgotten') return null;
    if (state.open.length > LIMITS.open_intents_max) return 'too many open intents';
    if (state.end_ms !== null && state.stored_until_ms > state.end_ms) return 'a stored chunk ends past the end';
    return null;
  },
});

type NewStream = Pick<
  Stream,
  'account_id' | 'workspace_id' | 'source_id' | 'recorder' | 'captured_at' | 'title' | 'end_ms'
> &
  Partial<Pick<Stream, 'utc_offset_min' | 'imported' | 'transcribed'>>;

/** A change of title, star and tags by the owner; what is absent stays. */
export type OwnersChange = {
  title?: string | null | undefined;
  starred?: boolean | undefined;
  tags?: readonly string[] | undefined;
};

function sameTexts(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, at) => text === others[at]);
}

/** The fields with which every stream begins. */
const EMPTY = {
  status: 'kept' as const,
  utc_offset_min: null,
  imported: false,
  transcript_revision: 0,
  chunks: 0,
  stored_chunks: 0,
  stored_bytes: 0,
  stored_until_ms: 0,
  last_stored_at_ms: null,
  open: [],
  unprocessed: 0,
  claims: [],
  oldest_audio_ms: null,
  expired_chunks: 0,
  audio_expired: [],
  transcribed: false,
  untold: 0,
  told_at_ms: null,
  to_tell: null,
};

/**
 * Queues the removal of everything that belongs to a stream, and closes its fence: commits that need it open are
 * refused.
 */
function removal({ id: stream_id, account_id }: Stream): Effect[] {
  return [
    { effect: 'close_fence', id: stream_id },
    {
      effect: 'enqueue_job',
      job_id: `erase_stream:${stream_id}`,
      job: { job: 'erase_stream', stream_id, account_id },
    },
  ];
}

/** Removes the stream from all lists, and its speech from its library. */
function forgetIn({ id: stream_id, account_id, workspace_id }: Stream): Effect[] {
  const library_id = libraryId(account_id, workspace_id);
  return [
    { effect: 'mark_changed', owner: library_id, index: SEARCH_INDEX, member: deletedMember(stream_id) },
    { effect: 'notify', to: { kind: 'library', id: library_id }, message: { type: 'forget_stream', stream_id } },
  ];
}

/**
 * The rest of a recorder's deleted stream, kept until the account is erased: no stream can begin under its reference.
 */
function forgotten(
  { id, account_id }: Pick<Stream, 'id' | 'account_id'>,
  { list, effects }: Erase & { effects: Effect[] },
  now_ms: number,
): DoneDecision<StreamState> {
  const member = { owner: account_id, member: id };
  return {
    reply: DONE,
    next: { status: 'forgotten', account_id },
    effects: [
      ...effects,
      { effect: 'remove_from_index', ...member, index: list },
      { effect: 'add_to_index', ...member, index: DELETED_STREAMS, order: now_ms },
    ],
  };
}

/** Removes an erased stream from the lists other than the account's list of all. */
function leave(stream: Pick<Stream, 'id' | 'account_id' | 'source_id' | 'workspace_id'>): Effect[] {
  const { id, account_id, source_id } = stream;
  return [
    { effect: 'remove_from_index', owner: account_id, index: streamIndexOf(source_id), member: id },
    ...leaveWorkspace(stream),
    noLongerDue(stream),
  ];
}
