import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type StreamMessage, stream } from '../../../actors/recordings/stream.js';
import type { Chunk, ChunkResult, Stream } from '../../../actors/recordings/stream_state.js';
import { chunkId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { decideRows, START_MS } from '../../fixtures/decisions.js';

const ID = '0198c0de-0000-7000-8000-000000000007';
const kind = { kind: stream, self: ID };
const LEASE_MS = 60_000;
const until_ms = START_MS + LEASE_MS;
const base: Stream = {
  ...{ status: 'kept', id: ID, account_id: 'a', workspace_id: 'w', source_id: 's', recorder: null },
  ...{ captured_at: '2026-01-31T08:29:00.000Z', transcript_revision: 0, title: null, created_at_ms: START_MS },
  ...{ end_ms: null, chunks: 3, stored_chunks: 3, stored_bytes: 3, stored_until_ms: 3_000, open: [] },
  ...{ unprocessed: 2, claims: [] },
  ...{ utc_offset_min: null, imported: false, last_stored_at_ms: null, oldest_audio_ms: null, expired_chunks: 0 },
  ...{ audio_expired: [], transcribed: false, untold: 0, told_at_ms: null, to_tell: null },
};
const one: Stream = { ...base, unprocessed: 1 };
const held = { number: 1, token: 'T', until_ms };
const over = { ...held, until_ms: START_MS };
const chunk: Chunk = {
  ...{ chunk_id: chunkId(ID, 1), source_chunk_ref: 'c1', sequence: 1, status: 'stored' },
  ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1_000, codec: 'opus', container: 'ogg' },
  ...{
    size_bytes: 1,
    sha256: 'aa',
    registered_at_ms: START_MS,
    upload_started_at_ms: START_MS,
    stored_at_ms: START_MS,
    place: 'p@0',
  },
};
const waiting = (tries = 0) => ({ tries });
const rows = { unprocessed: { '00000001': waiting(), '00000002': waiting(2) } };
const claim = (limit: number): StreamMessage => ({ type: 'claim_chunks', token: 'T', limit, lease_ms: LEASE_MS });
const done: ChunkResult = { status: 'processed', checked: true };
const results = (token = 'T', result = done): StreamMessage => ({
  type: 'chunk_results',
  token,
  results: [{ number: 1, result }],
});
const counted = (id: string, tries: number): Effect => ({
  ...{ effect: 'put_record', collection: 'unprocessed', id, order: 0, value: { tries } },
});
const list = { owner: 'processing', index: 'due', member: ID };
const due = (order: number): Effect => ({ effect: 'add_to_index', ...list, order });

const lost: Chunk = {
  ...chunk,
  result: { status: 'failed', failure: { code: 'GIVEN_UP', message: '5 workers took the chunk and gave no result.' } },
  processed_by: 'T',
};

/** As many chunks in hands as may be. */
const all_held = Array.from({ length: LIMITS.claims_per_stream_max }, (_, index) => ({ ...held, number: 1 + index }));

t.test('a chunk is claimed by one worker at a time', async (t) => {
  const claims = [held, { ...held, number: 2 }];
  decideRows(t, kind, [
    { says: 'of no stream', state: null, message: claim(1), reply: { refused: 'NOT_FOUND' } },
    {
      says: 'the oldest',
      state: base,
      records: rows,
      message: claim(1),
      reply: { claimed: [{ number: 1, tries: 1, until_ms }], given_up: 0, left: 1 },
      next: { ...base, claims: [held] },
      effects: [counted('00000001', 1)],
    },
    {
      says: 'all of them: the stream is due when the first claim runs out',
      state: base,
      records: rows,
      message: claim(9),
      reply: {
        claimed: [
          { number: 1, tries: 1, until_ms },
          { number: 2, tries: 3, until_ms },
        ],
        given_up: 0,
        left: 0,
      },
      next: { ...base, claims },
      effects: [counted('00000001', 1), counted('00000002', 3), due(until_ms)],
    },
    {
      says: 'none that somebody has',
      state: { ...base, claims },
      records: rows,
      message: claim(9),
      reply: { claimed: [], given_up: 0, left: 0 },
    },
    {
      says: 'one whose claim has run out',
      state: { ...one, claims: [over] },
      records: { unprocessed: { '00000001': waiting(1) } },
      message: claim(9),
      reply: { claimed: [{ number: 1, tries: 2, until_ms }], given_up: 0, left: 0 },
      next: { ...one, claims: [held] },
      effects: [counted('00000001', 2), due(until_ms)],
    },
    {
      says: 'no more than a stream lets out of its hands',
      state: { ...base, unprocessed: 99, claims: all_held.map((one) => ({ ...one, number: 10 + one.number })) },
      records: rows,
      message: claim(9),
      reply: { claimed: [], given_up: 0, left: 0 },
    },
    {
      says: 'the last that may be in hands: the rest is due when the first of these is free',
      state: { ...base, unprocessed: 99, claims: all_held.slice(1) },
      records: { unprocessed: { '00000001': waiting() } },
      message: claim(1),
      reply: { claimed: [{ number: 1, tries: 1, until_ms }], given_up: 0, left: 99 - LIMITS.claims_per_stream_max },
      next: { ...base, unprocessed: 99, claims: [...all_held.slice(1), held] },
      effects: [counted('00000001', 1), due(until_ms)],
    },
    {
      says: 'not one that was claimed as often as it may be: that has failed, and the next is had',
      state: base,
      records: {
        unprocessed: { '00000001': waiting(LIMITS.chunk_tries_max), '00000002': waiting() },
        chunks: { '00000001': chunk },
      },
      message: claim(9),
      reply: { claimed: [{ number: 2, tries: 1, until_ms }], given_up: 1, left: 0 },
      next: { ...one, claims: [{ ...held, number: 2 }] },
      effects: [
        { effect: 'put_record', collection: 'chunks', id: '00000001', value: lost, order: 0 },
        { effect: 'delete_record', collection: 'unprocessed', id: '00000001' },
        counted('00000002', 1),
        due(until_ms),
      ],
    },
  ]);
});

t.test('a claim is prolonged by whoever holds it', async (t) => {
  const prolong = (token: string): StreamMessage => ({
    ...{ type: 'prolong_claim', number: 1, token, lease_ms: 2 * LEASE_MS },
  });
  const later = { ...held, until_ms: START_MS + 2 * LEASE_MS };
  decideRows(t, kind, [
    {
      says: 'held',
      state: { ...one, claims: [held] },
      message: prolong('T'),
      reply: { until_ms: later.until_ms },
      next: { ...one, claims: [later] },
      effects: [due(later.until_ms)],
    },
    {
      says: "somebody else's",
      state: { ...one, claims: [held] },
      message: prolong('U'),
      reply: { refused: 'CONFLICT' },
    },
    { says: 'run out', state: { ...one, claims: [over] }, message: prolong('T'), reply: { refused: 'CONFLICT' } },
  ]);
});

t.test('a result counts once, and only from whoever had the chunk last', async (t) => {
  const judged = { ...chunk, result: done, processed_by: 'T' };
  const took: Effect[] = [
    { effect: 'put_record', collection: 'chunks', id: '00000001', value: judged, order: 0 },
    { effect: 'delete_record', collection: 'unprocessed', id: '00000001' },
  ];
  const chunks = { '00000001': chunk };
  const nothing = { taken: [], left: 0 };
  decideRows(t, kind, [
    {
      says: 'held: the last one leaves the list',
      state: { ...one, claims: [held] },
      records: { chunks },
      message: results(),
      reply: { taken: [1], left: 0 },
      next: { ...one, unprocessed: 0, claims: [], untold: 1 },
      effects: [...took, { effect: 'remove_from_index', ...list }],
    },
    {
      says: 'run out, and taken by nobody else',
      state: { ...base, claims: [over] },
      records: { chunks },
      message: results(),
      reply: { taken: [1], left: 1 },
      next: { ...base, unprocessed: 1, claims: [], untold: 1 },
      effects: took,
    },
    {
      says: 'held, of a stream with as many in hands as may be: the rest is due at once',
      state: { ...base, unprocessed: 99, claims: all_held },
      records: { chunks },
      message: results(),
      reply: { taken: [1], left: 99 - LIMITS.claims_per_stream_max },
      next: { ...base, unprocessed: 98, claims: all_held.slice(1), untold: 1 },
      effects: [...took, due(0)],
    },
    {
      says: 'taken by somebody else since',
      state: { ...one, claims: [{ ...held, token: 'U' }] },
      records: { chunks },
      message: results(),
      reply: nothing,
    },
    {
      says: 'again',
      state: { ...one, unprocessed: 0 },
      records: { chunks: { '00000001': judged } },
      message: results(),
      reply: { taken: [1], left: 0 },
    },
    {
      says: 'another one under the same claim',
      state: { ...one, unprocessed: 0 },
      records: { chunks: { '00000001': judged } },
      message: results('T', { status: 'processed', checked: false }),
      reply: nothing,
    },
    {
      says: "after another's",
      state: { ...one, unprocessed: 0 },
      records: { chunks: { '00000001': judged } },
      message: results('U'),
      reply: nothing,
    },
    { says: 'of a chunk that is not there', state: one, message: results(), reply: { taken: [], left: 1 } },
  ]);
});
