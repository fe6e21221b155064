import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type StreamMessage, stream } from '../../../actors/recordings/stream.js';
import type { ArrivalReply } from '../../../actors/recordings/stream_arrivals.js';
import type { ListedChunk } from '../../../actors/recordings/stream_chunks.js';
import {
  type Chunk,
  type ChunkIntent,
  chunkKey,
  type Stream,
  type StreamState,
} from '../../../actors/recordings/stream_state.js';
import { chunkId, makeId, streamOfChunk } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const ID = makeId({ partition: 7, now_ms: START_MS, random: new Uint8Array(5) });
const kind = { kind: stream, self: ID };
const numberIn = (chunk_id: string) => streamOfChunk(chunk_id)?.number as number;
const TOUCH_MS = LIMITS.touch_every_ms;
const LIFE_MS = LIMITS.intent_life_ms;

const registered = {
  account_id: 'a',
  workspace_id: 'w',
  source_id: 's',
  recorder: { device_id: 'd', binding_epoch: 'e', source_stream_ref: 'r', clock_uncertainty_ms: 12 },
  captured_at: '2026-01-31T08:29:00.000Z',
  title: null,
};
const register = (end_ms: number | null = null, silent = false): StreamMessage => ({
  ...{ type: 'register', ...registered, end_ms, silent },
});
const fresh: Stream = {
  status: 'kept',
  ...registered,
  id: ID,
  end_ms: null,
  transcript_revision: 0,
  created_at_ms: START_MS,
  chunks: 0,
  stored_chunks: 0,
  stored_bytes: 0,
  stored_until_ms: 0,
  open: [],
  unprocessed: 0,
  claims: [],
  ...{ utc_offset_min: null, imported: false, last_stored_at_ms: null, oldest_audio_ms: null, expired_chunks: 0 },
  ...{ audio_expired: [], transcribed: false, untold: 0, told_at_ms: null, to_tell: null },
};
const ended: Stream = { ...fresh, end_ms: 1_000 };

const intentOf = (more: Partial<ChunkIntent> = {}): ChunkIntent => ({
  source_chunk_ref: 'c1',
  sequence: 1,
  source_start_ms: 0,
  publication_start_ms: 0,
  source_end_ms: 1_000,
  codec: 'opus',
  container: 'ogg',
  size_bytes: 100,
  sha256: '00',
  ...more,
});
const contentOf = (intent: ChunkIntent) => Object.values(intent).join(' ');
const intend = (more: Partial<ChunkIntent> = {}): StreamMessage => {
  const intent = intentOf(more);
  return { type: 'intend', intent, content: contentOf(intent) };
};
const chunkOf = (number: number, more: Partial<Chunk> = {}): Chunk => ({
  ...intentOf(),
  chunk_id: chunkId(ID, number),
  status: 'awaiting_upload',
  registered_at_ms: START_MS,
  upload_started_at_ms: null,
  stored_at_ms: null,
  place: more.status === 'stored' ? `p@${number}` : null,
  ...more,
});
const putChunk = (number: number, value: Chunk): Effect => ({
  effect: 'put_record',
  collection: 'chunks',
  id: chunkKey(number),
  value,
  order: value.source_start_ms,
});
const expireAt = (at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'expire_intents',
  at_ms,
  message: { type: 'expire_intents' },
});
const stored = (number: number): StreamMessage => ({
  ...{ type: 'stored', number, place: `p@${number}` },
  upload_started_at_ms: START_MS - 9,
});
const end = (end_ms: number, silent = false): StreamMessage => ({ type: 'end', end_ms, silent });
const DONE = { done: true } as const;
const SHARED = makeId({ partition: 9, now_ms: START_MS, random: new Uint8Array(5) });
/** In a shared workspace. */
const shared: Stream = { ...fresh, workspace_id: SHARED };
const going: StreamState = { ...shared, status: 'going', deleted: false };
const toWorkspace = (message: unknown): Effect => ({
  effect: 'notify',
  to: { kind: 'workspace', id: SHARED },
  message,
});
const on = (effect: 'add_to_index' | 'remove_from_index', ...lists: string[]): Effect[] =>
  lists.map((list) =>
    effect === 'add_to_index'
      ? { effect, owner: 'a', index: list, member: ID, order: START_MS }
      : { effect, owner: 'a', index: list, member: ID },
  );

/** A stream as one chunk's intent leaves it, and its records. */
const one_open: Stream = { ...fresh, chunks: 1, open: [{ number: 1, end_ms: 1_000, asked_at_ms: START_MS }] };
const pointer = { number: 1, content: contentOf(intentOf()) };
const of_one = { refs: { c1: pointer }, sequences: { 1: pointer }, chunks: { [chunkKey(1)]: chunkOf(1) } };
const one_stored: Stream = {
  ...{ ...one_open, stored_chunks: 1, stored_bytes: 100, stored_until_ms: 1_000, open: [] },
  unprocessed: 1,
  oldest_audio_ms: START_MS - 9,
  last_stored_at_ms: START_MS,
};
const due = { owner: 'processing', index: 'due', member: ID };
/** What is stored waits for a worker and is kept for retention to find, and the stream is where both look. */
const offered = (number: number): Effect[] => [
  { effect: 'put_record', collection: 'unprocessed', id: chunkKey(number), value: { tries: 0 }, order: START_MS },
  { effect: 'put_record', collection: 'kept', id: chunkKey(number), value: true, order: START_MS - 9 },
  { effect: 'add_to_index', owner: 'a', index: 'due:audio:w', member: ID, order: START_MS - 9 },
  { effect: 'add_to_index', ...due, order: 0 },
];
const ERASED: Effect[] = [
  ...['chunks', 'refs', 'sequences', 'unprocessed', 'kept'].map(
    (collection): Effect => ({ effect: 'delete_collection', collection }),
  ),
  { effect: 'cancel_reminder', name: 'expire_intents' },
  { effect: 'cancel_reminder', name: 'end' },
  { effect: 'cancel_reminder', name: 'tell' },
  { effect: 'delete_fence', id: ID },
  { effect: 'remove_from_index', ...due },
];
const stored_chunk = chunkOf(1, { status: 'stored', upload_started_at_ms: START_MS - 9, stored_at_ms: START_MS });
const of_stored = { ...of_one, chunks: { [chunkKey(1)]: stored_chunk } };
const of_expired = { refs: { c1: pointer }, chunks: { [chunkKey(1)]: chunkOf(1, { status: 'expired' }) } };
const one_expired: Stream = { ...one_open, open: [] };

t.test('H-009 H-010 H-014 a stream is registered once', async (t) => {
  decideRows(t, kind, [
    {
      says: 'registered',
      state: null,
      message: register(),
      reply: fresh,
      next: fresh,
      effects: [
        { effect: 'append_event', account_id: 'a', type: 'stream.created', resource_id: ID, data: { source_id: 's' } },
        ...on('add_to_index', 'streams', 'streams:s', 'streams:w'),
      ],
    },
    {
      says: 'registered, when its source is deleted',
      state: null,
      message: register(null, true),
      reply: fresh,
      next: fresh,
      effects: on('add_to_index', 'streams', 'streams:s', 'streams:w'),
    },
    {
      says: 'registered in a shared workspace, which hears of it',
      state: null,
      message: { ...register(null, true), workspace_id: SHARED } as StreamMessage,
      reply: shared,
      next: shared,
      effects: [
        ...on('add_to_index', 'streams', 'streams:s'),
        toWorkspace({ type: 'stream_registered', stream_id: ID, account_id: 'a', registered_at_ms: START_MS }),
      ],
    },
    { says: 'again', state: fresh, now_ms: START_MS + 1, message: register(), reply: fresh },
    { says: 'again, after its end was set', state: ended, message: register(), reply: ended },
    { says: 'viewed', state: fresh, message: { type: 'view' }, reply: fresh },
    ...(
      [
        { type: 'view' },
        end(1),
        intend(),
        { type: 'chunk', number: 1 },
        { type: 'chunks_of_refs', refs: ['c1'] },
        { type: 'list_chunks', range: { limit: 1 } },
        stored(1),
        { type: 'expire_intents' },
      ] as StreamMessage[]
    ).map((message) => ({
      says: `unknown: ${message.type}`,
      state: null,
      message,
      reply: { refused: 'NOT_FOUND' as const },
    })),
  ]);
});

t.test('K-002 K-003 H-037 a title is told when it changes, and nothing of a deleted source', async (t) => {
  const retitle = (title: string | null, silent = false): StreamMessage => ({ type: 'change', title, silent });
  const titled: Stream = { ...fresh, title: 'One' };
  const updated: Effect = {
    effect: 'append_event',
    account_id: 'a',
    type: 'stream.updated',
    resource_id: ID,
    data: { changed_fields: ['title'], source_id: 's' },
  };
  decideRows(t, kind, [
    { says: 'none', state: null, message: retitle('One'), reply: { refused: 'NOT_FOUND' } },
    { says: 'set', state: fresh, message: retitle('One'), reply: titled, next: titled, effects: [updated] },
    { says: 'the same', state: titled, message: retitle('One'), reply: titled },
    { says: 'taken away', state: titled, message: retitle(null), reply: fresh, next: fresh, effects: [updated] },
    { says: 'silently', state: fresh, message: retitle('One', true), reply: titled, next: titled },
    { says: 'an end, silently', state: fresh, message: end(1_000, true), reply: ended, next: ended },
  ]);
});

t.test('K-310 a star and tags are told to nobody', async (t) => {
  const change = (marks: { starred?: boolean; tags?: string[] }): StreamMessage => ({
    ...{ type: 'change', silent: false },
    ...marks,
  });
  const starred: Stream = { ...fresh, starred: true };
  const tagged: Stream = { ...fresh, tags: ['Family', 'Tea'] };
  const row = (says: string, state: Stream, marks: { starred?: boolean; tags?: string[] }, next: Stream) => ({
    ...{ says, state, message: change(marks), reply: next },
    ...(next === state ? {} : { next }),
  });
  decideRows(t, kind, [
    { says: 'none', state: null, message: change({ starred: true }), reply: { refused: 'NOT_FOUND' } },
    row('a star', fresh, { starred: true }, starred),
    row('the same star', starred, { starred: true }, starred),
    row('no star', fresh, { starred: false }, fresh),
    row('a star that is taken away', starred, { starred: false }, { ...fresh, starred: false }),
    row('tags', fresh, { tags: ['Family', 'Tea'] }, tagged),
    row('the same tags', tagged, { tags: ['Family', 'Tea'] }, tagged),
    row('other tags', tagged, { tags: ['Tea'] }, { ...fresh, tags: ['Tea'] }),
    row('both', tagged, { starred: true, tags: [] }, { ...fresh, starred: true, tags: [] }),
  ]);
});

t.test('a stream goes with its workspace: from then on it is not there', async (t) => {
  const gone: StreamMessage = { type: 'workspace_gone', workspace_id: shared.workspace_id };
  const other: StreamMessage = { type: 'workspace_gone', workspace_id: 'left before' };
  decideRows(t, kind, [
    { says: 'unknown', state: null, message: gone, reply: DONE },
    {
      says: 'goes',
      state: shared,
      message: gone,
      reply: DONE,
      next: going,
      effects: [
        { effect: 'close_fence', id: ID },
        {
          effect: 'enqueue_job',
          job_id: `erase_stream:${ID}`,
          job: { job: 'erase_stream', stream_id: ID, account_id: 'a' },
        },
      ],
    },
    { says: 'again', state: going, message: gone, reply: DONE },
    { says: 'it has left that one', state: shared, message: other, reply: DONE },
    ...[register(), { type: 'view' } as const, end(1), intend(), stored(1)].map((message) => ({
      says: `going: ${message.type}`,
      state: going,
      message,
      reply: { refused: 'NOT_FOUND' as const },
    })),
    {
      says: 'erased: it leaves every list, and tells the workspace',
      state: going,
      message: { type: 'erase', account_id: 'a', list: 'streams' },
      reply: DONE,
      next: null,
      effects: [
        ...ERASED,
        ...on('remove_from_index', 'streams:s'),
        toWorkspace({ type: 'stream_erased', stream_id: ID }),
        ...on('remove_from_index', `due:audio:${SHARED}`, 'streams'),
        { effect: 'delete' },
      ],
    },
  ]);
});

t.test('K-254 an end that waits is set unless audio behind it has come', async (t) => {
  const end = { end_ms: 1_000, silent: false };
  const waiting: StreamMessage = { type: 'end_later', ...end, after_ms: 60_000 };
  const due: StreamMessage = { type: 'end_unless_continued', ...end };
  const reminder: Effect = {
    ...{ effect: 'schedule_reminder', name: 'end', at_ms: START_MS + 60_000 },
    message: { type: 'end_unless_continued', ...end },
  };
  const continued: Stream = { ...one_stored, stored_until_ms: 1_500 };
  decideRows(t, kind, [
    { says: 'it is put off', state: fresh, message: waiting, reply: fresh, next: fresh, effects: [reminder] },
    { says: 'it has that end', state: ended, message: waiting, reply: ended },
    { says: 'audio lies behind it', state: continued, message: waiting, reply: { refused: 'CONFLICT' } },
    { says: 'it went on', state: continued, message: due, reply: DONE },
    { says: 'it has another end', state: { ...fresh, end_ms: 1_500 }, message: due, reply: DONE },
  ]);
  const played = new Played(stream, ID);
  played.state = fresh;
  played.send(waiting);
  played.pass(59_999);
  t.equal(played.state?.end_ms, null);
  played.send({ ...waiting, end_ms: 2_000 });
  played.pass(60_000);
  t.equal(played.state?.end_ms, 2_000, 'the later call took the place of the first');
});

t.test('H-021 the end of a stream is set once, and not before a chunk', async (t) => {
  const updated: Effect = {
    effect: 'append_event',
    account_id: 'a',
    type: 'stream.updated',
    resource_id: ID,
    data: { changed_fields: ['end_ms'], source_id: 's' },
  };
  const both: Stream = { ...one_stored, stored_until_ms: 900, open: one_open.open };
  for (const [how, message] of [['end', end] as const, ['register', register] as const]) {
    decideRows(t, kind, [
      {
        says: `${how}: the first`,
        state: fresh,
        message: message(1_000),
        reply: ended,
        next: ended,
        effects: [updated],
      },
      { says: `${how}: the same`, state: ended, message: message(1_000), reply: ended },
      { says: `${how}: an earlier one`, state: ended, message: message(999), reply: { refused: 'CONFLICT' } },
      { says: `${how}: a later one`, state: ended, message: message(1_001), reply: { refused: 'CONFLICT' } },
      {
        says: `${how}: before an open chunk`,
        state: one_open,
        message: message(999),
        reply: { refused: 'CONFLICT', message: / 1000 ms/ },
      },
      {
        says: `${how}: before a stored chunk`,
        state: one_stored,
        message: message(999),
        reply: { refused: 'CONFLICT', message: / 1000 ms/ },
      },
      {
        says: `${how}: the largest counts`,
        state: both,
        message: message(950),
        reply: { refused: 'CONFLICT', message: / 1000 ms/ },
      },
      {
        says: `${how}: with the largest`,
        state: both,
        message: message(1_000),
        reply: { ...both, end_ms: 1_000 },
        next: { ...both, end_ms: 1_000 },
        effects: [updated],
      },
      {
        says: `${how}: an expired chunk counts no more`,
        state: one_expired,
        message: message(1),
        reply: { ...one_expired, end_ms: 1 },
        next: { ...one_expired, end_ms: 1 },
        effects: [updated],
      },
    ]);
  }
});

t.test('H-015 H-019 H-020 what a device hears that announces a chunk, in order', async (t) => {
  const full: Stream = {
    ...ended,
    chunks: LIMITS.chunks_per_stream_max,
    open: Array.from({ length: LIMITS.open_intents_max }, (_, index) => ({
      number: index + 1,
      end_ms: 1,
      asked_at_ms: START_MS,
    })),
  };
  const room = { ...full, open: full.open.slice(1) };
  const last = { ...room, chunks: LIMITS.chunks_per_stream_max - 1 };
  const other = { number: 9, content: 'other' };
  const past: Partial<ChunkIntent> = { source_end_ms: 1_001 };
  const accepted: Stream = {
    ...last,
    chunks: LIMITS.chunks_per_stream_max,
    open: [...last.open, { number: LIMITS.chunks_per_stream_max, end_ms: 1_000, asked_at_ms: START_MS }],
  };
  const the_last = chunkOf(LIMITS.chunks_per_stream_max);
  const last_pointer = { number: LIMITS.chunks_per_stream_max, content: contentOf(intentOf()) };
  decideRows(t, kind, [
    {
      says: 'its reference with other content',
      state: full,
      records: { refs: { c1: other }, sequences: { 1: { number: 8, content: '' } } },
      message: intend(past),
      reply: { refused: 'CONFLICT', message: /other content/ },
    },
    {
      says: "another chunk's sequence",
      state: full,
      records: { sequences: { 1: other } },
      message: intend(past),
      reply: { refused: 'CONFLICT', message: /sequence/ },
    },
    {
      says: 'past the end',
      state: full,
      message: intend(past),
      reply: { refused: 'CONFLICT', message: /end_ms of 1000/ },
    },
    {
      says: 'too many open',
      state: full,
      message: intend(),
      reply: { refused: 'TOO_MANY_REQUESTS', retry_after_s: 5 },
    },
    {
      says: 'too many chunks',
      state: room,
      message: intend(),
      reply: { refused: 'CONFLICT', message: /no more chunks/ },
    },
    {
      says: 'the last chunk there can be',
      state: last,
      message: intend(),
      reply: { chunk: the_last, stream: accepted },
      next: accepted,
      effects: [
        putChunk(LIMITS.chunks_per_stream_max, the_last),
        { effect: 'put_record', collection: 'sequences', id: '1', value: last_pointer },
        { effect: 'put_record', collection: 'refs', id: 'c1', value: last_pointer },
      ],
    },
    {
      says: 'the first of a stream',
      state: fresh,
      message: intend(),
      reply: { chunk: chunkOf(1), stream: one_open },
      next: one_open,
      effects: [
        putChunk(1, chunkOf(1)),
        { effect: 'put_record', collection: 'sequences', id: '1', value: pointer },
        { effect: 'put_record', collection: 'refs', id: 'c1', value: pointer },
        expireAt(START_MS + LIFE_MS),
      ],
    },
  ]);
});

t.test('H-019 an intent again, in every state of its chunk', async (t) => {
  const touched: Stream = { ...one_open, open: [{ number: 1, end_ms: 1_000, asked_at_ms: START_MS + TOUCH_MS }] };
  const crowded: Stream = {
    ...one_open,
    end_ms: 1_000,
    open: [
      ...one_open.open,
      ...Array.from({ length: LIMITS.open_intents_max - 1 }, (_, index) => ({
        number: index + 2,
        end_ms: 1,
        asked_at_ms: START_MS,
      })),
    ],
  };
  const taken = { ...of_expired, sequences: { 1: { number: 2, content: 'other' } } };
  const again: Stream = { ...one_open, open: [{ number: 1, end_ms: 1_000, asked_at_ms: START_MS + 5 }] };
  const chunk_again = chunkOf(1, { registered_at_ms: START_MS + 5 });
  const late = (ms: number) => chunkOf(1, { registered_at_ms: START_MS + ms });
  decideRows(t, kind, [
    {
      says: 'open',
      state: one_open,
      records: of_one,
      message: intend(),
      reply: { chunk: chunkOf(1), stream: one_open },
    },
    {
      says: 'open, and no place left',
      state: crowded,
      records: of_one,
      message: intend(),
      reply: { chunk: chunkOf(1), stream: crowded },
    },
    {
      says: 'open, a millisecond before it is noted',
      state: one_open,
      records: of_one,
      now_ms: START_MS + TOUCH_MS - 1,
      message: intend(),
      reply: { chunk: late(TOUCH_MS - 1), stream: one_open },
    },
    {
      says: 'open, noted',
      state: one_open,
      records: of_one,
      now_ms: START_MS + TOUCH_MS,
      message: intend(),
      reply: { chunk: late(TOUCH_MS), stream: touched },
      next: touched,
    },
    {
      says: 'open, other content',
      state: one_open,
      records: of_one,
      message: intend({ sha256: '01' }),
      reply: { refused: 'CONFLICT', message: /other content/ },
    },
    {
      says: 'its sequence under another reference',
      state: one_open,
      records: of_one,
      message: intend({ source_chunk_ref: 'c2' }),
      reply: { refused: 'CONFLICT', message: /sequence/ },
    },
    {
      says: 'stored',
      state: one_stored,
      records: of_stored,
      message: intend(),
      reply: { chunk: chunkOf(1, { status: 'stored', place: null }), stream: one_stored },
    },
    {
      says: 'stored, other content',
      state: one_stored,
      records: of_stored,
      message: intend({ size_bytes: 1 }),
      reply: { refused: 'CONFLICT', message: /other content/ },
    },
    {
      says: 'expired: its number again',
      state: one_expired,
      records: of_expired,
      now_ms: START_MS + 5,
      message: intend(),
      reply: { chunk: chunk_again, stream: again },
      next: again,
      effects: [
        putChunk(1, chunk_again),
        { effect: 'put_record', collection: 'sequences', id: '1', value: pointer },
        expireAt(START_MS + 5 + LIFE_MS),
      ],
    },
    {
      says: 'expired, other content',
      state: one_expired,
      records: of_expired,
      message: intend({ size_bytes: 1 }),
      reply: { refused: 'CONFLICT', message: /other content/ },
    },
    {
      says: 'expired, its sequence taken',
      state: one_expired,
      records: taken,
      message: intend(),
      reply: { refused: 'CONFLICT', message: /sequence/ },
    },
    {
      says: 'expired, past the end set since',
      state: { ...one_expired, end_ms: 999 },
      records: of_expired,
      message: intend(),
      reply: { refused: 'CONFLICT', message: /past/ },
    },
  ]);
});

t.test('H-023 H-024 bytes are stored once', async (t) => {
  const behind: Stream = { ...one_open, stored_until_ms: 5_000 };
  decideRows(t, kind, [
    { says: 'no such chunk', state: one_open, message: stored(2), reply: { refused: 'NOT_FOUND' } },
    {
      says: 'expired',
      state: one_expired,
      records: of_expired,
      message: stored(1),
      reply: { refused: 'UPLOAD_EXPIRED' },
    },
    {
      says: 'stored',
      state: one_open,
      records: of_one,
      message: stored(1),
      reply: { chunk: stored_chunk, stream: one_stored },
      next: one_stored,
      effects: [putChunk(1, stored_chunk), ...offered(1)],
    },
    {
      says: 'again',
      state: one_stored,
      records: of_stored,
      now_ms: START_MS + 1,
      message: stored(1),
      reply: { chunk: stored_chunk, stream: one_stored },
    },
    {
      says: 'before the latest',
      state: behind,
      records: of_one,
      message: stored(1),
      reply: { chunk: stored_chunk, stream: { ...one_stored, stored_until_ms: 5_000 } },
      next: { ...one_stored, stored_until_ms: 5_000 },
      effects: [putChunk(1, stored_chunk), ...offered(1)],
    },
    {
      says: 'looked up',
      state: one_stored,
      records: of_stored,
      message: { type: 'chunk', number: 1 },
      reply: { chunk: stored_chunk, stream: one_stored },
    },
    {
      says: 'none to look up',
      state: one_stored,
      records: of_stored,
      message: { type: 'chunk', number: 2 },
      reply: { refused: 'NOT_FOUND' },
    },
    {
      says: 'by reference',
      state: one_stored,
      records: of_stored,
      message: { type: 'chunks_of_refs', refs: ['c1', 'c2'] },
      reply: { numbers: { c1: 1 } },
    },
    {
      says: 'listed',
      state: one_stored,
      records: of_stored,
      message: { type: 'list_chunks', range: { limit: 5 } },
      reply: { chunks: [{ ...stored_chunk, order: 0, member: chunkKey(1) }], stream: one_stored },
    },
  ]);
});

t.test('H-024 an intent expires a day after its last repeat', async (t) => {
  const two: Stream = {
    ...one_open,
    chunks: 2,
    open: [...one_open.open, { number: 2, end_ms: 5, asked_at_ms: START_MS + 7 }],
  };
  const message: StreamMessage = { type: 'expire_intents' };
  const due_ms = START_MS + LIFE_MS;
  const left: Stream = { ...two, open: two.open.slice(1) };
  const second = chunkOf(2, { sequence: 2, source_chunk_ref: 'c2' });
  const records = { ...of_one, chunks: { ...of_one.chunks, [chunkKey(2)]: second } };
  const expired = (number: number, chunk: Chunk): Effect[] => [
    { effect: 'delete_record', collection: 'sequences', id: String(chunk.sequence) },
    putChunk(number, { ...chunk, status: 'expired' }),
  ];
  decideRows(t, kind, [
    {
      says: 'a millisecond before',
      state: two,
      records,
      now_ms: due_ms - 1,
      message,
      reply: { done: true },
      next: two,
      effects: [expireAt(due_ms)],
    },
    {
      says: 'the first is due',
      state: two,
      records,
      now_ms: due_ms,
      message,
      reply: { done: true },
      next: left,
      effects: [...expired(1, chunkOf(1)), expireAt(due_ms + 7)],
    },
    {
      says: 'both are',
      state: two,
      records,
      now_ms: due_ms + 7,
      message,
      reply: { done: true },
      next: { ...two, open: [] },
      effects: [...expired(1, chunkOf(1)), ...expired(2, second)],
    },
    { says: 'none is open', state: one_stored, message, reply: { done: true }, next: one_stored },
  ]);
});

type StreamStep =
  | { intend: number; sequence: number; start: number; length: number; size: number }
  | { repeat: number }
  | { arrive: { ref: number; sequence: number; start: number; size: number }[] }
  | { stored: number }
  | { end: number; by: 'end' | 'register' }
  | { pass: number };

/** What a play has seen of a chunk, by its reference. */
type Known = {
  intent: ChunkIntent;
  number: number;
  chunk_id: string;
  status: 'open' | 'stored' | 'expired';
  noted_ms: number;
};

const small = fc.integer({ min: 0, max: 6 });
const arrivals = (ref: fc.Arbitrary<number>) =>
  fc.record({
    arrive: fc.array(fc.record({ ref, sequence: small, start: small, size: fc.integer({ min: 1, max: 2 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
  });
/** Few references, so that repeats and conflicts meet; `wide` ones run into the limit of open intents. */
function streamSteps(wide: boolean): fc.Arbitrary<StreamStep[]> {
  const ref = wide ? fc.integer({ min: 0, max: 150 }) : small;
  const intent = fc.record({
    intend: ref,
    sequence: fc.oneof({ weight: wide ? 9 : 2, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: small }), // -1: as its reference
    start: fc.integer({ min: 0, max: 9 }),
    length: fc.integer({ min: 1, max: 9 }),
    size: fc.integer({ min: 1, max: 2 }),
  });
  const step: fc.Arbitrary<StreamStep> = fc.oneof(
    { weight: wide ? 30 : 8, arbitrary: intent },
    { weight: 4, arbitrary: fc.record({ repeat: fc.nat() }) },
    { weight: wide ? 1 : 4, arbitrary: arrivals(ref) },
    { weight: 4, arbitrary: fc.record({ stored: wide ? fc.integer({ min: 0, max: 90 }) : small }) },
    {
      weight: 1,
      arbitrary: fc.record({
        end: fc.integer({ min: 0, max: 20 }),
        by: fc.constantFrom('end' as const, 'register' as const),
      }),
    },
    {
      weight: wide ? 1 : 3,
      arbitrary: fc.record({ pass: fc.constantFrom(1, TOUCH_MS - 1, TOUCH_MS, LIFE_MS / 2, LIFE_MS - 1, LIFE_MS) }),
    },
  );
  return fc.array(step, { minLength: wide ? 150 : 0, maxLength: wide ? 250 : 60, size: 'max' });
}

function playStream(steps: StreamStep[]): { most_open: number } {
  const played = new Played(stream, ID);
  played.ask(register());
  const known = new Map<string, Known>();
  let end_ms: number | null = null;
  let most_open = 0;
  const living = () => [...known.values()].filter(({ status }) => status !== 'expired');
  const isWelcome = (intent: ChunkIntent): 'known' | 'new' | 'no' => {
    const before = known.get(intent.source_chunk_ref);
    const same = before !== undefined && contentOf(before.intent) === contentOf(intent);
    if (before !== undefined && !same) return 'no';
    if (before !== undefined && before.status !== 'expired') return 'known';
    const free = !living().some(
      ({ intent: other }) => other.sequence === intent.sequence && other.source_chunk_ref !== intent.source_chunk_ref,
    );
    return free && (end_ms === null || intent.source_end_ms <= end_ms) ? 'new' : 'no';
  };
  const announce = (intent: ChunkIntent) => {
    const before = known.get(intent.source_chunk_ref);
    const lives = before !== undefined && before.status !== 'expired';
    const room = living().filter(({ status }) => status === 'open').length < LIMITS.open_intents_max;
    const place = isWelcome(intent);
    const welcome = place === 'known' || (place === 'new' && room);
    const { reply } = played.send({ type: 'intend', intent, content: contentOf(intent) });
    if (isRefusal(reply) === welcome) throw new Error(`an intent is refused: ${!welcome} expected`);
    if (isRefusal(reply) || !('chunk' in reply)) return;
    const { chunk_id, status } = reply.chunk;
    if (before !== undefined && before.chunk_id !== chunk_id) throw new Error('another chunk id');
    if (status !== (before?.status === 'stored' ? 'stored' : 'awaiting_upload'))
      throw new Error(`answered as ${status}`);
    const number = numberIn(chunk_id);
    const noted = !lives || played.now_ms >= before.noted_ms + TOUCH_MS;
    const noted_ms = noted ? played.now_ms : before.noted_ms;
    known.set(intent.source_chunk_ref, {
      intent,
      number,
      chunk_id,
      status: before?.status === 'stored' ? 'stored' : 'open',
      noted_ms,
    });
  };
  const arrive = (intents: ChunkIntent[]) => {
    const chunks = intents.map((intent, index) => ({
      ...{ intent, content: contentOf(intent), place: `p@${index}`, upload_started_at_ms: played.now_ms },
    }));
    return played.ask<ArrivalReply>({ type: 'store_chunks', chunks }).outcomes;
  };
  for (const step of steps) {
    if ('arrive' in step) {
      const intents = step.arrive.map(({ ref, sequence, start, size }) =>
        intentOf({
          ...{ source_chunk_ref: `ref ${ref}`, sequence, size_bytes: size },
          ...{ source_start_ms: start, publication_start_ms: start, source_end_ms: start + 1 },
        }),
      );
      for (const [index, outcome] of arrive(intents).entries()) {
        const intent = intents[index] as ChunkIntent;
        const before = known.get(intent.source_chunk_ref);
        const welcome = isWelcome(intent) !== 'no';
        if ('refusal' in outcome === welcome) throw new Error(`a chunk is refused: ${!welcome} expected`);
        if (!('chunk' in outcome)) continue;
        const { chunk_id } = outcome.chunk;
        if (before !== undefined && before.chunk_id !== chunk_id) throw new Error('another chunk id');
        if (outcome.is_new !== (before?.status !== 'stored')) throw new Error('stored twice');
        const number = numberIn(chunk_id);
        known.set(intent.source_chunk_ref, { intent, number, chunk_id, status: 'stored', noted_ms: played.now_ms });
      }
    } else if ('pass' in step) {
      played.pass(step.pass);
      for (const chunk of known.values()) {
        if (chunk.status === 'open' && played.now_ms >= chunk.noted_ms + LIFE_MS) chunk.status = 'expired';
      }
    } else if ('intend' in step) {
      const source_start_ms = step.start;
      announce(
        intentOf({
          source_chunk_ref: `ref ${step.intend}`,
          sequence: step.sequence === -1 ? step.intend : step.sequence,
          ...{ source_start_ms, publication_start_ms: source_start_ms, source_end_ms: source_start_ms + step.length },
          size_bytes: step.size,
        }),
      );
    } else if ('repeat' in step) {
      const chunk = [...known.values()][step.repeat % Math.max(known.size, 1)];
      if (chunk !== undefined) announce(chunk.intent);
    } else if ('stored' in step) {
      const chunk = [...known.values()].find(({ number }) => number === step.stored);
      const { reply } = played.send(stored(step.stored));
      const welcome = chunk !== undefined && chunk.status !== 'expired';
      if (isRefusal(reply) === welcome) throw new Error(`bytes are refused: ${!welcome} expected`);
      if (welcome) chunk.status = 'stored';
    } else {
      const { reply } = played.send(step.by === 'end' ? end(step.end) : register(step.end));
      const reached_ms = Math.max(0, ...living().map(({ intent }) => intent.source_end_ms));
      const welcome: boolean = end_ms === null ? step.end >= reached_ms : step.end === end_ms;
      if (isRefusal(reply) === welcome) throw new Error(`an end is refused: ${!welcome} expected`);
      if (welcome) end_ms = step.end;
    }
    checkStream(played, { known, end_ms });
    most_open = Math.max(most_open, (played.state as Stream | null)?.open.length ?? 0);
  }
  return { most_open };
}

function checkStream(
  played: Played<StreamState, StreamMessage, unknown>,
  { known, end_ms }: { known: Map<string, Known>; end_ms: number | null },
): void {
  const state = played.state as Stream;
  const chunks = played.records<Chunk>('chunks');
  const must = (holds: boolean, what: string) => {
    if (!holds) throw new Error(what);
  };
  must(state.end_ms === end_ms, 'another end');
  must(
    played.effects.filter((effect) => effect.effect === 'append_event').length === (end_ms === null ? 1 : 2),
    'events',
  );
  must(state.chunks === known.size && chunks.size === known.size, 'chunks are counted wrongly');
  must(state.open.length <= LIMITS.open_intents_max, 'too many are open');
  const sequences = new Set<number>();
  let open = 0;
  let stored_chunks = 0;
  let stored_bytes = 0;
  const kept = played.records('kept');
  let first_due_ms = Number.POSITIVE_INFINITY;
  for (const { intent, number, chunk_id, status, noted_ms } of known.values()) {
    const chunk = chunks.get(chunkKey(number));
    must(chunk?.chunk_id === chunk_id && chunk_id === chunkId(ID, number), 'another number');
    must(chunk?.status === (status === 'open' ? 'awaiting_upload' : status), `${chunk?.status}, not ${status}`);
    if (status === 'expired') continue;
    must(!sequences.has(intent.sequence), 'a sequence twice');
    sequences.add(intent.sequence);
    must(end_ms === null || intent.source_end_ms <= end_ms, 'a chunk past the end');
    if (status === 'open') {
      open += 1;
      first_due_ms = Math.min(first_due_ms, noted_ms + LIFE_MS);
    } else {
      stored_chunks += 1;
      stored_bytes += intent.size_bytes;
    }
  }
  must(open === state.open.length, 'open intents');
  must(stored_chunks === state.stored_chunks && stored_bytes === state.stored_bytes, 'what is stored');
  must(
    stored_chunks === kept.size && (stored_chunks === 0) === (state.oldest_audio_ms === null),
    'what retention finds',
  );
  must(played.records('sequences').size === sequences.size, 'sequences that are held');
  must(played.records('refs').size === known.size, 'references that are held');
  if (open > 0)
    must((played.reminders.get('expire_intents')?.at_ms ?? Infinity) <= first_due_ms, 'an intent stays open');
  const bytes = encodeStored(state).length;
  must(bytes <= 4_000, `a snapshot of ${bytes} bytes`);
}

t.test('C-122 C-123 H-019 H-020 H-021 in any play a stream keeps its promises', async (t) => {
  checkPlays(t, { plays: streamSteps(false), runs: 1_000 }, playStream);
});

t.test('H-019 H-020 H-021 in any play with many open intents a stream keeps its promises', async (t) => {
  let most_open = 0;
  checkPlays(t, { plays: streamSteps(true), runs: 40, counts: true }, (steps) => {
    most_open = Math.max(most_open, playStream(steps).most_open);
  });
  t.equal(most_open, LIMITS.open_intents_max, 'the limit was met');
});

t.test('a stream answers every message in every state, and lists all chunks in the order of their start', async (t) => {
  const ref = fc.constantFrom('c1', 'c2', 'constructor', '__proto__', 'toString');
  const number = fc.integer({ min: 0, max: 5 });
  const message: fc.Arbitrary<StreamMessage> = fc.oneof(
    fc.record({ source_chunk_ref: ref, sequence: number, source_start_ms: number }).map(intend),
    number.map(stored),
    number.map((number) => ({ type: 'chunk' as const, number })),
    fc.array(ref).map((refs) => ({ type: 'chunks_of_refs' as const, refs })),
    fc.array(fc.tuple(ref, number, number), { maxLength: 3 }).map((given) => ({
      type: 'store_chunks' as const,
      chunks: given.map(([source_chunk_ref, sequence, number]) => {
        const intent = intentOf({ source_chunk_ref, sequence });
        return { intent, content: contentOf(intent), place: `p@${number}`, upload_started_at_ms: START_MS };
      }),
    })),
    number.map((by) => end(1_000 + by)),
    fc.option(number).map(register),
    fc.constantFrom<StreamMessage>({ type: 'view' }, { type: 'expire_intents' }),
    fc.record({
      type: fc.constant('list_chunks' as const),
      range: fc.record({ limit: fc.integer({ min: 1, max: 3 }), descending: fc.boolean() }),
    }),
  );
  checkPlays(t, { plays: anyPlay(message, [1, TOUCH_MS, LIFE_MS]), runs: 300 }, (steps) => {
    const played = new Played(stream, ID);
    for (const step of steps) {
      if ('pass' in step) {
        played.pass(step.pass);
        continue;
      }
      const { reply } = played.send(step.send);
      if (step.send.type !== 'chunks_of_refs' || isRefusal(reply) || !('numbers' in reply)) continue;
      const refs = played.records<{ number: number }>('refs');
      for (const asked of step.send.refs) {
        const found = Object.hasOwn(reply.numbers, asked) ? reply.numbers[asked] : undefined;
        if (found !== refs.get(asked)?.number) throw new Error(`${asked} is told as ${found}`);
      }
    }
    if (played.state === null) return;
    const listed: ListedChunk[] = [];
    for (;;) {
      const last = listed.at(-1);
      const after = last && { order: last.order, id: last.member };
      const page = played.ask<{ chunks: ListedChunk[]; stream: Stream }>({
        type: 'list_chunks',
        range: { limit: 2, after },
      });
      if (page.chunks.length === 0) break;
      listed.push(...page.chunks);
    }
    const starts = listed.map(({ source_start_ms }) => source_start_ms);
    if (
      listed.length !== (played.state as Stream).chunks ||
      starts.some((start, index) => start < (starts[index - 1] ?? 0))
    ) {
      throw new Error('listed otherwise');
    }
  });
});

t.test('an erased stream leaves no records, no reminder and no place on the list', async (t) => {
  const message: StreamMessage = { type: 'erase', account_id: 'a', list: 'streams' };
  const effects = (lists: string[]): Effect[] => [
    ...ERASED,
    ...on('remove_from_index', ...lists),
    { effect: 'delete' },
  ];
  decideRows(
    t,
    kind,
    [fresh, null].map((state) => ({
      says: state === null ? 'gone' : 'there',
      state,
      message,
      reply: { done: true },
      next: null,
      effects: effects(state === null ? ['streams'] : ['streams:s', 'streams:w', 'due:audio:w', 'streams']),
    })),
  );
});
