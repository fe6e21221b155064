import { chunkId, ownerOfPrivateWorkspace } from '../src/domain/ids.js';
import { LIMITS } from '../src/domain/limits.js';
import { refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect, type RangeQuery, type RecordQuery } from './actor.js';
import { type EraseMessage, erased } from './erase.js';
import {
  decideProcessing,
  dueEffects,
  PROCESSING_INDEX,
  type ProcessingMessage,
  type ProcessingReply,
  processingFacts,
} from './stream_processing.js';
import {
  type Chunk,
  type ChunkIntent,
  type ChunkStatus,
  chunkKey,
  type OpenIntent,
  putChunk,
  type Stream,
  type StreamRecorder,
} from './stream_state.js';
import type { SharedStreamNews, WorkspaceMessage } from './workspace.js';

/** Collections `refs` (by source_chunk_ref) and `sequences` (by sequence). */
type ChunkPointer = { number: number; content: string };

export type StreamMessage =
  | ({ type: 'register' } & Pick<
      Stream,
      'account_id' | 'workspace_id' | 'source_id' | 'recorder' | 'captured_at' | 'title' | 'end_ms'
    > &
      Told)
  | { type: 'view' }
  | ({ type: 'end'; end_ms: number } & Told)
  | ({ type: 'retitle'; title: string | null } & Told)
  /**
   * `content`: a digest over the intent's fields, by which a repeat is known; `content_before`: one without those that
   * intents did not have at first, where it says some, by which a repeat of one from then is.
   */
  | { type: 'intend'; intent: ChunkIntent; content: string; content_before?: string }
  | { type: 'chunk'; number: number }
  | { type: 'chunks_of_refs'; refs: string[] }
  | { type: 'list_chunks'; range: RangeQuery }
  /** The bytes lie in the blob store, synced, of this size and hash. */
  | { type: 'stored'; number: number; upload_started_at_ms: number }
  | { type: 'expire_intents' }
  | ProcessingMessage
  | SharedStreamNews
  /** Its bytes are removed already. */
  | EraseMessage;

/** `silent`: its source is deleted, so that nobody is told. Who says that it isn't commits under its id being open. */
type Told = { silent: boolean };

type StreamBefore2 = Omit<Stream, 'status' | 'recorder' | 'unprocessed' | 'claims'> & StreamRecorder;

export type ListedChunk = Chunk & { order: number; member: string };
export type StreamReply =
  | Stream
  | { chunk: Chunk; stream: Stream }
  | { numbers: Record<string, number> }
  | { chunks: ListedChunk[]; stream: Stream }
  | ProcessingReply
  | { done: true };

const DONE = { done: true } as const;
const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');
const NO_CHUNK = refuse('NOT_FOUND', 'There is no such chunk.');
/** The list of all streams of an account; those of one source or private workspace are on a list of their own too. */
export const STREAMS = 'streams';
export function streamListOf(source_or_workspace_id: string): string {
  return `${STREAMS}:${source_or_workspace_id}`;
}

const OTHER_END = refuse('CONFLICT', 'The stream already has another end_ms.');

export const stream = actorKind<Stream, StreamMessage, StreamReply>({
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
  reads: ['view', 'chunk'],

  records(message, state): RecordQuery[] {
    switch (message.type) {
      case 'intend':
        return [
          { collection: 'refs', id: message.intent.source_chunk_ref },
          { collection: 'sequences', id: String(message.intent.sequence) },
        ];
      case 'chunk':
      case 'stored':
        return [{ collection: 'chunks', id: chunkKey(message.number) }];
      case 'chunks_of_refs':
        return message.refs.map((id) => ({ collection: 'refs', id }));
      case 'list_chunks':
        return [{ collection: 'chunks', range: message.range }];
      case 'expire_intents':
        return (state?.open ?? []).map(({ number }) => ({ collection: 'chunks', id: chunkKey(number) }));
      case 'claim_chunks':
      case 'prolong_claim':
      case 'chunk_results':
        return processingFacts(message, state);
      default:
        return [];
    }
  },

  decide(state, message, facts, now_ms): Decision<Stream, StreamReply> {
    if (message.type === 'register') {
      if (state?.status === 'going') return { reply: NO_STREAM };
      if (state !== null) {
        if (message.end_ms === null || message.end_ms === state.end_ms) return { reply: state };
        return end(state, message.end_ms, message);
      }
      const { type: _, silent: __, ...registered } = message;
      const next: Stream = {
        status: 'kept',
        ...registered,
        id: facts.self,
        transcript_revision: 0,
        created_at_ms: now_ms,
        chunks: 0,
        stored_chunks: 0,
        stored_bytes: 0,
        stored_until_ms: 0,
        open: [],
        unprocessed: 0,
        claims: [],
      };
      const { account_id, source_id, workspace_id } = next;
      const lists = [STREAMS, streamListOf(source_id), ...(isShared(next) ? [] : [streamListOf(workspace_id)])];
      return {
        reply: next,
        next,
        effects: [
          ...news(next, 'stream.created', message),
          ...lists.map(
            (list): Effect => ({
              effect: 'add_to_index',
              owner: account_id,
              index: list,
              member: next.id,
              order: now_ms,
            }),
          ),
          ...tellWorkspace(next, {
            type: 'stream_registered',
            ...{ stream_id: next.id, account_id, registered_at_ms: now_ms },
          }),
        ],
      };
    }
    if (message.type === 'erase') {
      const collections = ['chunks', 'refs', 'sequences', 'unprocessed'];
      const effects: Effect[] = collections.map((collection) => ({ effect: 'delete_collection', collection }));
      effects.push(
        { effect: 'cancel_reminder', name: 'expire_intents' },
        { effect: 'delete_fence', id: facts.self },
        { effect: 'remove_from_index', ...PROCESSING_INDEX, member: facts.self },
      );
      if (state !== null) effects.push(...leave(state));
      return erased(message, { member: facts.self, effects });
    }
    if (message.type === 'workspace_gone') {
      if (state?.status !== 'kept') return { reply: DONE };
      const { id: stream_id, account_id } = state;
      return {
        reply: DONE,
        next: { ...state, status: 'going' },
        effects: [
          { effect: 'close_fence', id: stream_id },
          {
            effect: 'enqueue_job',
            job_id: `erase_stream:${stream_id}`,
            job: { job: 'erase_stream', stream_id, account_id },
          },
        ],
      };
    }
    if (state === null || (state.status === 'going' && message.type !== 'expire_intents')) return { reply: NO_STREAM };
    switch (message.type) {
      case 'view':
        return { reply: state };
      case 'end':
        return end(state, message.end_ms, message);

      case 'retitle': {
        const { title } = message;
        if (title === state.title) return { reply: state };
        const next = { ...state, title };
        return { reply: next, next, effects: news(next, 'stream.updated', message, ['title']) };
      }
      case 'intend':
        return intend(state, message);

      case 'chunk': {
        const chunk = facts.record<Chunk>('chunks', chunkKey(message.number));
        return { reply: chunk === undefined ? NO_CHUNK : { chunk, stream: state } };
      }

      case 'chunks_of_refs': {
        const numbers = message.refs.flatMap((ref): [string, number][] => {
          const pointer = facts.record<ChunkPointer>('refs', ref);
          return pointer === undefined ? [] : [[ref, pointer.number]];
        });
        return { reply: { numbers: Object.fromEntries(numbers) } };
      }

      case 'list_chunks': {
        const rows = facts.range<Chunk>('chunks');
        return {
          reply: { chunks: rows.map(({ id, order, value }) => ({ ...value, order, member: id })), stream: state },
        };
      }

      case 'stored': {
        const { number } = message;
        const chunk = facts.record<Chunk>('chunks', chunkKey(number));
        if (chunk === undefined) return { reply: NO_CHUNK };
        if (chunk.status === 'stored') return { reply: { chunk, stream: state } };
        if (chunk.status === 'expired')
          return { reply: refuse('UPLOAD_EXPIRED', 'The upload intent has expired; ask for it again.') };
        const { upload_started_at_ms } = message;
        const stored: Chunk = { ...chunk, status: 'stored', upload_started_at_ms, stored_at_ms: now_ms };
        const next: Stream = {
          ...state,
          stored_chunks: state.stored_chunks + 1,
          stored_bytes: state.stored_bytes + chunk.size_bytes,
          stored_until_ms: Math.max(state.stored_until_ms, chunk.source_end_ms),
          open: state.open.filter((open) => open.number !== number),
          unprocessed: state.unprocessed + 1,
        };
        return {
          reply: { chunk: stored, stream: next },
          next,
          effects: [
            putChunk(number, stored),
            {
              effect: 'put_record',
              collection: 'unprocessed',
              id: chunkKey(number),
              value: { tries: 0 },
              order: now_ms,
            },
            ...dueEffects(state, next, facts.self),
          ],
        };
      }

      case 'expire_intents':
        return expire(state);

      case 'claim_chunks':
      case 'prolong_claim':
      case 'chunk_results':
        return decideProcessing(state, message, facts, now_ms);

      default:
        return unreachable(message);
    }

    function end(stream: Stream, end_ms: number, told: Told): Decision<Stream, StreamReply> {
      if (stream.end_ms === end_ms) return { reply: stream };
      if (stream.end_ms !== null) return { reply: OTHER_END };
      const reached_ms = Math.max(stream.stored_until_ms, ...stream.open.map((open) => open.end_ms));
      if (end_ms < reached_ms) {
        return { reply: refuse('CONFLICT', `A registered chunk ends at ${reached_ms} ms, behind this end_ms.`) };
      }
      const next = { ...stream, end_ms };
      return { reply: next, next, effects: news(next, 'stream.updated', told, ['end_ms']) };
    }

    function intend(
      stream: Stream,
      { intent, content, content_before }: Extract<StreamMessage, { type: 'intend' }>,
    ): Decision<Stream, StreamReply> {
      const known = facts.record<ChunkPointer>('refs', intent.source_chunk_ref);
      const holder = facts.record<ChunkPointer>('sequences', String(intent.sequence));
      if (known !== undefined && known.content !== content && known.content !== content_before) {
        return { reply: refuse('CONFLICT', 'This source_chunk_ref is registered with other content.') };
      }
      const open = stream.open.find(({ number }) => number === known?.number);
      if (known !== undefined && (open !== undefined || holder?.number === known.number)) {
        const number = known.number;
        const asked: Chunk = chunkOf(stream, {
          number,
          intent,
          status: open === undefined ? 'stored' : 'awaiting_upload',
        });
        if (open === undefined || now_ms < open.asked_at_ms + LIMITS.touch_every_ms)
          return { reply: { chunk: asked, stream } };
        const touched = { ...open, asked_at_ms: now_ms };
        const next = { ...stream, open: stream.open.map((other) => (other === open ? touched : other)) };
        return { reply: { chunk: asked, stream: next }, next };
      }
      if (holder !== undefined)
        return { reply: refuse('CONFLICT', 'This sequence belongs to another chunk of the stream.') };
      if (stream.end_ms !== null && intent.source_end_ms > stream.end_ms) {
        return { reply: refuse('CONFLICT', `The chunk ends past the stream's end_ms of ${stream.end_ms}.`) };
      }
      if (stream.open.length >= LIMITS.open_intents_max) {
        return {
          reply: refuse('TOO_MANY_REQUESTS', 'Too many chunks of this stream await their upload.', {
            retry_after_s: 5,
          }),
        };
      }
      const number = known?.number ?? stream.chunks + 1;
      if (number > LIMITS.chunks_per_stream_max)
        return { reply: refuse('CONFLICT', 'The stream holds no more chunks.') };
      // From here on it succeeds.
      const chunk = chunkOf(stream, { number, intent, status: 'awaiting_upload' });
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

    function chunkOf(
      stream: Stream,
      { number, intent, status }: { number: number; intent: ChunkIntent; status: ChunkStatus },
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

    /** Frees the places of intents whose bytes never came. */
    function expire(stream: Stream): Decision<Stream, StreamReply> {
      const due = (open: OpenIntent) => now_ms >= open.asked_at_ms + LIMITS.intent_life_ms;
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
  },

  invariant(state) {
    if (state.open.length > LIMITS.open_intents_max) return 'too many open intents';
    if (state.end_ms !== null && state.stored_until_ms > state.end_ms) return 'a stored chunk ends past the end';
    return null;
  },
});

function isShared({ workspace_id }: Stream): boolean {
  return ownerOfPrivateWorkspace(workspace_id) === null;
}

function tellWorkspace(stream: Stream, message: WorkspaceMessage): Effect[] {
  return isShared(stream) ? [{ effect: 'notify', to: { kind: 'workspace', id: stream.workspace_id }, message }] : [];
}

/** Takes an erased stream from the lists that stand beside the account's list of all. */
function leave(stream: Stream): Effect[] {
  const { id, account_id, source_id, workspace_id } = stream;
  const lists = [streamListOf(source_id), ...(isShared(stream) ? [] : [streamListOf(workspace_id)])];
  return [
    ...lists.map((list): Effect => ({ effect: 'remove_from_index', owner: account_id, index: list, member: id })),
    ...tellWorkspace(stream, { type: 'stream_erased', stream_id: id }),
  ];
}

/** Interface: "Which operation emits what". */
function news(
  { id, account_id, source_id }: Stream,
  type: 'stream.created' | 'stream.updated',
  { silent }: Told,
  changed_fields?: string[],
): Effect[] {
  const data = changed_fields === undefined ? { source_id } : { changed_fields, source_id };
  return silent ? [] : [{ effect: 'append_event', account_id, type, resource_id: id, data }];
}

function expireLater(at_ms: number): Effect {
  const message: StreamMessage = { type: 'expire_intents' };
  return { effect: 'schedule_reminder', name: 'expire_intents', at_ms, message };
}
