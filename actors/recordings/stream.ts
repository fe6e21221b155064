import { chunkId, libraryId, ownerOfPrivateWorkspace } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import { deletedMember, SEARCH_INDEX } from '../../src/domain/search/places.js';
import {
  type Decision,
  DONE,
  type DoneDecision,
  defineActor,
  type Effect,
  type Facts,
  type MessageOf,
  type RangeQuery,
  type RecordQuery,
} from '../actor.js';
import { type Erase, erased } from '../erase.js';
import type { TranscriptMessage } from '../transcripts/transcript.js';
import type { WorkspaceMessage } from '../workspaces/workspace.js';
import { expiryMessages, keptChunk, noLongerDue, retentionEffects } from './stream_expiry.js';
import { dueEffects, PROCESSING_INDEX, processingMessages } from './stream_processing.js';
import {
  type Chunk,
  type ChunkIntent,
  type ChunkStatus,
  chunkKey,
  hasExpired,
  keptStream,
  noStream,
  type OpenIntent,
  putChunk,
  type Stream,
  type StreamRecorder,
} from './stream_state.js';

/** Collections `refs` (by source_chunk_ref) and `sequences` (by sequence). */
type ChunkPointer = { number: number; content: string };

export type StreamMessage = MessageOf<typeof stream>;

/** `silent`: its source is deleted, so that no event is recorded. Otherwise the commit is fenced by the source's open id. */
type Told = { silent: boolean };

type StreamBefore2 = Omit<Stream, 'status' | 'recorder' | 'unprocessed' | 'claims'> & StreamRecorder;

export type ListedChunk = Chunk & { order: number; member: string };
const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');
/** The list of all streams of an account; those of one source or private workspace are on a list of their own too. */
export const STREAMS = 'streams';
/** The list of an account's deleted streams of which something stays. */
export const DELETED_STREAMS = 'deleted_streams';
export function streamIndexOf(source_or_workspace_id: string): string {
  return `${STREAMS}:${source_or_workspace_id}`;
}

const OTHER_END = refuse('CONFLICT', 'The stream already has another end_ms.');

export const stream = defineActor<Stream>()({
  kind: 'stream',
  home: 'id',
  schema: 2,
  upcast: {
    1(old: StreamBefore2): Stream {
      const { device_id, binding_epoch, source_stream_ref, clock_uncertainty_ms, ...rest } = old;
      const recorder = { device_id, binding_epoch, source_stream_ref, clock_uncertainty_ms };
      // What was stored before there was processing stays as it is.
      return { status: 'kept', ...rest, recorder, unprocessed: 0, claims: [] };
    },
  },
  messages: {
    register(state, { silent, ...registered }: NewStream & Told, { self: id, now_ms }): Decision<Stream, Stream> {
      if (state?.status === 'going') return { reply: noStream(state) };
      if (state !== null) {
        if (registered.end_ms === null || registered.end_ms === state.end_ms) return { reply: state };
        return end(state, { end_ms: registered.end_ms, silent });
      }
      const next: Stream = { status: 'kept', ...registered, id, ...EMPTY, created_at_ms: now_ms };
      const { account_id: owner, source_id, workspace_id } = next;
      const indexes = [STREAMS, streamIndexOf(source_id), ...(isShared(next) ? [] : [streamIndexOf(workspace_id)])];
      const listed = { stream_id: id, account_id: owner, registered_at_ms: now_ms };
      return {
        reply: next,
        next,
        effects: [
          ...news(next, 'stream.created', { silent }),
          ...indexes.map((index): Effect => ({ effect: 'add_to_index', owner, index, member: id, order: now_ms })),
          ...notifyWorkspace(next, { type: 'stream_registered', ...listed }),
        ],
      };
    },

    view: { reads: true, decide: keptStream((state) => ({ reply: state })) },

    end: keptStream((state, ending: { end_ms: number } & Told) => end(state, ending)),

    retitle: keptStream((state, { title, silent }: { title: string | null } & Told) => {
      if (title === state.title) return { reply: state };
      const next = { ...state, title };
      const effects = [...news(next, 'stream.updated', { silent }, ['title']), ...retentionEffects(state, next)];
      return { reply: next, next, effects };
    }),

    /** Its owner deletes it: it is not there from here on, and a worker removes what lies with it. */
    delete: keptStream(
      (state, { silent }: Told): DoneDecision<Stream> => ({
        reply: DONE,
        next: { ...state, status: 'going', deleted: true },
        effects: [...news(state, 'stream.deleted', { silent }), ...removal(state), ...forgetIn(state)],
      }),
    ),

    intend: {
      records: ({ intent }: Intended) => [
        { collection: 'refs', id: intent.source_chunk_ref, expected: 'absent' },
        { collection: 'sequences', id: String(intent.sequence), expected: 'absent' },
      ],
      decide: keptStream((state, intended: Intended, facts) => intend(state, intended, facts)),
    },

    chunk: {
      reads: true,
      records: chunkRecord,
      decide: keptStream((state, { number }: { number: number }, facts) => {
        const chunk = facts.record<Chunk>('chunks', chunkKey(number));
        return { reply: chunk === undefined ? NO_CHUNK : { chunk, stream: state } };
      }),
    },

    chunks_of_refs: {
      records: ({ refs }: { refs: string[] }) => refs.map((id) => ({ collection: 'refs', id })),
      decide: keptStream((_, { refs }: { refs: string[] }, facts) => {
        const numbers = refs.flatMap((ref): [string, number][] => {
          const pointer = facts.record<ChunkPointer>('refs', ref);
          return pointer === undefined ? [] : [[ref, pointer.number]];
        });
        return { reply: { numbers: Object.fromEntries(numbers) } };
      }),
    },

    list_chunks: {
      records: ({ range }: { range: RangeQuery }) => [{ collection: 'chunks', range }],
      decide: keptStream((state, _: { range: RangeQuery }, facts) => {
        const rows = facts.range<Chunk>('chunks');
        const chunks: ListedChunk[] = rows.map(({ id, order, value }) => ({ ...value, order, member: id }));
        return { reply: { chunks, stream: state } };
      }),
    },

    /** The bytes lie in the blob store, synced, of this size and hash. */
    stored: {
      records: chunkRecord,
      decide: keptStream((state, stored: StoredBytes, facts) => store(state, stored, facts)),
    },

    expire_intents: {
      records: (_: unknown, state) =>
        (state?.open ?? []).map(({ number }) => ({ collection: 'chunks', id: chunkKey(number) })),
      decide: (state, _: unknown, facts): DoneDecision<Stream> =>
        state === null ? { reply: noStream(state) } : expire(state, facts),
    },

    ...processingMessages,
    ...expiryMessages,

    // From its workspace.
    workspace_gone(state): DoneDecision<Stream> {
      if (state?.status !== 'kept') return { reply: DONE };
      return { reply: DONE, next: { ...state, status: 'going' }, effects: removal(state) };
    },

    /** Its bytes are removed already. */
    erase(state, input: Erase, { self, now_ms }): DoneDecision<Stream> {
      const collections = ['chunks', 'refs', 'sequences', 'unprocessed', 'kept'];
      const is_remembered = state !== null && state.deleted === true && state.recorder !== null;
      const effects: Effect[] = [
        ...collections.map((collection): Effect => ({ effect: 'delete_collection', collection })),
        { effect: 'cancel_reminder', name: 'expire_intents' },
        ...(is_remembered ? [] : [{ effect: 'delete_fence' as const, id: self }]),
        { effect: 'remove_from_index', ...PROCESSING_INDEX, member: self },
        ...(state === null || isForgotten(state) ? [] : leave(state)),
      ];
      return is_remembered ? forgotten(state, { ...input, effects }, now_ms) : erased(input, { member: self, effects });
    },
  },

  invariant(state) {
    if (state.open.length > LIMITS.open_intents_max) return 'too many open intents';
    if (state.end_ms !== null && state.stored_until_ms > state.end_ms) return 'a stored chunk ends past the end';
    return null;
  },
});

type ChunkReply = { chunk: Chunk; stream: Stream };
type NewStream = Pick<
  Stream,
  'account_id' | 'workspace_id' | 'source_id' | 'recorder' | 'captured_at' | 'utc_offset_min' | 'title' | 'end_ms'
>;
type StoredBytes = { number: number; upload_started_at_ms: number };

/**
 * `content`: a digest over the intent's fields, by which a repeat is known; `content_before`: one without those that
 * intents did not have at first, where it says some, by which a repeat of one from then is.
 */
type Intended = { intent: ChunkIntent; content: string; content_before?: string };

const EMPTY = {
  transcript_revision: 0,
  chunks: 0,
  stored_chunks: 0,
  stored_bytes: 0,
  stored_until_ms: 0,
  open: [],
  unprocessed: 0,
  claims: [],
};

const FORGOTTEN: Omit<Stream, 'id' | 'account_id'> = {
  ...EMPTY,
  status: 'going',
  deleted: true,
  workspace_id: '',
  source_id: '',
  recorder: null,
  captured_at: '',
  title: null,
  created_at_ms: 0,
  end_ms: null,
};

function isForgotten({ source_id }: Stream): boolean {
  return source_id === FORGOTTEN.source_id;
}

function chunkRecord({ number }: { number: number }): RecordQuery[] {
  return [{ collection: 'chunks', id: chunkKey(number) }];
}

function end(stream: Stream, { end_ms, silent }: { end_ms: number } & Told): Decision<Stream, Stream> {
  if (stream.end_ms === end_ms) return { reply: stream };
  if (stream.end_ms !== null) return { reply: OTHER_END };
  const reached_ms = Math.max(stream.stored_until_ms, ...stream.open.map((open) => open.end_ms));
  if (end_ms < reached_ms)
    return { reply: refuse('CONFLICT', `A registered chunk ends at ${reached_ms} ms, behind this end_ms.`) };
  const next = { ...stream, end_ms };
  const message: TranscriptMessage = { type: 'ended', end_ms };
  const told: Effect[] = stream.transcribed
    ? [{ effect: 'notify', to: { kind: 'transcript', id: stream.id }, message }]
    : [];
  return { reply: next, next, effects: [...news(next, 'stream.updated', { silent }, ['end_ms']), ...told] };
}

/** A place for a chunk's bytes: one that stands already, or a new one. */
function intend(stream: Stream, intended: Intended, facts: Facts): Decision<Stream, ChunkReply> {
  const { intent, content, content_before } = intended;
  const known = facts.record<ChunkPointer>('refs', intent.source_chunk_ref);
  const holder = facts.record<ChunkPointer>('sequences', String(intent.sequence));
  if (known !== undefined && known.content !== content && known.content !== content_before)
    return { reply: refuse('CONFLICT', 'This source_chunk_ref is registered with other content.') };
  const open = stream.open.find(({ number }) => number === known?.number);
  if (known !== undefined && (open !== undefined || holder?.number === known.number))
    return intendAgain(stream, { number: known.number, open, intent }, facts);
  const number = known?.number ?? stream.chunks + 1;
  const refused = mayIntend(stream, { intent, number, holder });
  if (refused !== null) return { reply: refused };
  // From here on it succeeds.
  const { now_ms } = facts;
  const chunk = chunkOf(stream, { number, intent, status: 'awaiting_upload' }, facts);
  const pointer: ChunkPointer = { number, content };
  const next: Stream = {
    ...stream,
    chunks: Math.max(stream.chunks, number),
    open: [...stream.open, { number, end_ms: intent.source_end_ms, asked_at_ms: now_ms }],
  };
  const effects: Effect[] = [
    putChunk(number, chunk),
    { effect: 'put_record', collection: 'sequences', id: String(intent.sequence), value: pointer },
  ];
  if (known === undefined)
    effects.push({ effect: 'put_record', collection: 'refs', id: intent.source_chunk_ref, value: pointer });
  if (stream.open.length === 0) effects.push(expireLater(now_ms + LIMITS.intent_life_ms));
  return { reply: { chunk, stream: next }, next, effects };
}

/** The same intent again: an open one gets a new deadline. */
function intendAgain(
  stream: Stream,
  { number, open, intent }: { number: number; open: OpenIntent | undefined; intent: ChunkIntent },
  facts: Facts,
): Decision<Stream, ChunkReply> {
  const chunk = chunkOf(stream, { number, intent, status: open === undefined ? 'stored' : 'awaiting_upload' }, facts);
  const { now_ms } = facts;
  if (open === undefined || now_ms < open.asked_at_ms + LIMITS.touch_every_ms) return { reply: { chunk, stream } };
  const touched = { ...open, asked_at_ms: now_ms };
  const next = { ...stream, open: stream.open.map((other) => (other === open ? touched : other)) };
  return { reply: { chunk, stream: next }, next };
}

/** Null when a new chunk of this intent may be announced. `holder`: who has its sequence. */
function mayIntend(
  stream: Stream,
  { intent, number, holder }: { intent: ChunkIntent; number: number; holder: ChunkPointer | undefined },
): Refusal | null {
  if (holder !== undefined) return refuse('CONFLICT', 'This sequence belongs to another chunk of the stream.');
  if (stream.end_ms !== null && intent.source_end_ms > stream.end_ms)
    return refuse('CONFLICT', `The chunk ends past the stream's end_ms of ${stream.end_ms}.`);
  if (stream.open.length >= LIMITS.open_intents_max)
    return refuse('TOO_MANY_REQUESTS', 'Too many chunks of this stream await their upload.', { retry_after_s: 5 });
  return number > LIMITS.chunks_per_stream_max ? refuse('CONFLICT', 'The stream holds no more chunks.') : null;
}

function chunkOf(
  stream: Stream,
  { number, intent, status }: { number: number; intent: ChunkIntent; status: ChunkStatus },
  { now_ms }: Facts,
): Chunk {
  return {
    ...intent,
    chunk_id: chunkId(stream.id, number),
    status,
    registered_at_ms: now_ms,
    upload_started_at_ms: null,
    stored_at_ms: null,
  };
}

function store(
  stream: Stream,
  { number, upload_started_at_ms }: StoredBytes,
  facts: Facts,
): Decision<Stream, ChunkReply> {
  const chunk = facts.record<Chunk>('chunks', chunkKey(number));
  if (chunk === undefined) return { reply: NO_CHUNK };
  if (chunk.status === 'stored') return { reply: { chunk, stream } };
  if (hasExpired(chunk)) return { reply: { chunk, stream } };
  if (chunk.status === 'expired')
    return { reply: refuse('UPLOAD_EXPIRED', 'The upload intent has expired; ask for it again.') };
  const { self, now_ms } = facts;
  const stored: Chunk = { ...chunk, status: 'stored', upload_started_at_ms, stored_at_ms: now_ms };
  const { next, effects } = keptChunk(stream, stored, number, {
    stored_chunks: stream.stored_chunks + 1,
    stored_bytes: stream.stored_bytes + chunk.size_bytes,
    stored_until_ms: Math.max(stream.stored_until_ms, chunk.source_end_ms),
    last_stored_at_ms: now_ms,
    open: stream.open.filter((open) => open.number !== number),
    unprocessed: stream.unprocessed + 1,
  });
  const waiting = { collection: 'unprocessed', id: chunkKey(number), value: { tries: 0 }, order: now_ms };
  return {
    reply: { chunk: stored, stream: next },
    next,
    effects: [
      putChunk(number, stored),
      { effect: 'put_record', ...waiting },
      ...effects,
      ...dueEffects(stream, next, self),
    ],
  };
}

/** Frees the places of intents whose bytes never came. */
function expire(stream: Stream, facts: Facts): DoneDecision<Stream> {
  const due = (open: OpenIntent) => facts.now_ms >= open.asked_at_ms + LIMITS.intent_life_ms;
  const left = stream.open.filter((open) => !due(open));
  const effects: Effect[] = [];
  for (const { number } of stream.open.filter(due)) {
    const chunk = facts.record<Chunk>('chunks', chunkKey(number));
    if (chunk === undefined) throw new Error(`open intent ${number} has no chunk`);
    effects.push(
      { effect: 'delete_record', collection: 'sequences', id: String(chunk.sequence) },
      putChunk(number, { ...chunk, status: 'expired' }),
    );
  }
  const next_at_ms = Math.min(...left.map((open) => open.asked_at_ms)) + LIMITS.intent_life_ms;
  if (left.length > 0) effects.push(expireLater(next_at_ms));
  return { reply: DONE, next: { ...stream, open: left }, effects };
}

function isShared({ workspace_id }: Stream): boolean {
  return ownerOfPrivateWorkspace(workspace_id) === null;
}

function notifyWorkspace(stream: Stream, message: WorkspaceMessage): Effect[] {
  return isShared(stream) ? [{ effect: 'notify', to: { kind: 'workspace', id: stream.workspace_id }, message }] : [];
}

/**
 * Makes a worker remove everything that belongs to a stream, and closes its fence: no commit that needs it open
 * succeeds any more.
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

/** Nothing of it is found any more, and nothing is made of it in its library. */
function forgetIn({ id: stream_id, account_id, workspace_id }: Stream): Effect[] {
  const library_id = libraryId(account_id, workspace_id);
  return [
    { effect: 'mark_changed', owner: library_id, index: SEARCH_INDEX, member: deletedMember(stream_id) },
    { effect: 'notify', to: { kind: 'library', id: library_id }, message: { type: 'forget_stream', stream_id } },
  ];
}

/** The state of a recorder's deleted stream until the account is erased: there is none under its id. */
function forgotten(
  { id, account_id }: Stream,
  { list, effects }: Erase & { effects: Effect[] },
  now_ms: number,
): DoneDecision<Stream> {
  const member = { owner: account_id, member: id };
  return {
    reply: DONE,
    next: { ...FORGOTTEN, id, account_id },
    effects: [
      ...effects,
      { effect: 'remove_from_index', ...member, index: list },
      { effect: 'add_to_index', ...member, index: DELETED_STREAMS, order: now_ms },
    ],
  };
}

/** Takes an erased stream from the lists that stand beside the account's list of all. */
function leave(stream: Stream): Effect[] {
  const { id, account_id, source_id, workspace_id } = stream;
  const lists = [streamIndexOf(source_id), ...(isShared(stream) ? [] : [streamIndexOf(workspace_id)])];
  return [
    ...lists.map((list): Effect => ({ effect: 'remove_from_index', owner: account_id, index: list, member: id })),
    noLongerDue(stream),
    ...notifyWorkspace(stream, { type: 'stream_erased', stream_id: id }),
  ];
}

/** Rule H-037. */
function news(
  { id, account_id, source_id }: Stream,
  type: 'stream.created' | 'stream.updated' | 'stream.deleted',
  { silent }: Told,
  changed_fields?: string[],
): Effect[] {
  const data = changed_fields === undefined ? { source_id } : { changed_fields, source_id };
  return silent ? [] : [{ effect: 'append_event', account_id, type, resource_id: id, data }];
}

function expireLater(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: 'expire_intents', at_ms, message: { type: 'expire_intents' } };
}
