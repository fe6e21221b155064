import t from 'tap';
import { type StreamMessage, stream } from '../../../actors/recordings/stream.js';
import type { GoneAudio } from '../../../actors/recordings/stream_expiry.js';
import {
  type Chunk,
  chunkKey,
  hasExpired,
  type Stream,
  type StreamState,
  statusOf,
} from '../../../actors/recordings/stream_state.js';
import { makeId } from '../../../src/domain/ids.js';
import type { Interval } from '../../../src/domain/intervals.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { Played, START_MS } from '../../fixtures/decisions.js';

const ID = makeId({ partition: 7, now_ms: START_MS, random: new Uint8Array(5) });
const CAPTURED_MS = START_MS - 1_000;
const DUE = { owner: 'a', index: 'due:audio:w', member: ID };
const DAY_MS = 24 * 3_600_000;

type DueAudio = { due: number[]; next: { order: number; id: string } | null };
type Recording = Played<StreamState, StreamMessage, unknown>;

function recording({ title = null, device = false }: { title?: string | null; device?: boolean } = {}): Recording {
  const played: Recording = new Played(stream, ID);
  const recorder = { device_id: 'd', binding_epoch: 'e', source_stream_ref: 'r', clock_uncertainty_ms: 0 };
  played.send({
    ...{ type: 'register', account_id: 'a', workspace_id: 'w', source_id: 's', recorder: device ? recorder : null },
    ...{ captured_at: new Date(CAPTURED_MS).toISOString(), title, end_ms: null, silent: false },
  });
  return played;
}

function keptState({ state }: Recording): Stream | null {
  return state?.status === 'kept' ? state : null;
}

function intend(number: number): StreamMessage {
  const intent = {
    ...{ source_chunk_ref: `c${number}`, sequence: number, codec: 'opus', container: 'ogg', sha256: '00' },
    ...{ source_start_ms: number * 10, publication_start_ms: number * 10, source_end_ms: number * 10 + 10 },
    size_bytes: 100,
  };
  return { type: 'intend', intent, content: `c${number}` };
}

/** Chunks from 1 on, whose uploads begin 1 ms apart. */
function store(played: Recording, count: number): void {
  for (let number = 1; number <= count; number++) {
    played.send(intend(number));
    played.send({ type: 'stored', number, place: 'p@0', upload_started_at_ms: START_MS + number });
  }
}

/** As the worker asks, page by page; gives how many went, and what the library was notified of. */
function expire(played: Recording, before_ms: number | null, spared: Interval[] | null = null) {
  const gone: number[] = [];
  let after: { order: number; id: string } | null = null;
  const began = played.effects.length;
  do {
    const page = played.send({ type: 'due_audio', before_ms, after, limit: LIMITS.expired_per_commit_max })
      .reply as DueAudio;
    const asked = { sweep_id: '1', library_id: 'l', before_ms, numbers: page.due, spared };
    const { reply } = played.send({ type: 'expire_audio', ...asked });
    const numbers = (reply as { gone: GoneAudio[] }).gone.map(({ number }) => number);
    if (numbers.length > 0) played.send({ type: 'audio_erased', numbers });
    gone.push(...numbers);
    after = page.next;
  } while (after !== null);
  const effects = played.effects.slice(began);
  const told = effects.flatMap((one) => (one.effect === 'notify' && one.to.id === 'l' ? [one.message] : []));
  return { gone, effects, counted: (told as { count: number }[]).map(({ count }) => count) };
}

const chunkOf = (played: Recording, number: number) => played.records<Chunk>('chunks').get(chunkKey(number)) as Chunk;

t.test('I-020 I-024 audio expires by when its upload began, to the millisecond', async (t) => {
  const played = recording();
  store(played, 3);
  t.same(expire(played, START_MS + 1), { gone: [], effects: [], counted: [] }, 'exactly at the cutoff it stays');
  const { gone, counted, effects } = expire(played, START_MS + 3);
  t.same(gone, [1, 2]);
  t.same(counted, [2]);
  t.ok(hasExpired(chunkOf(played, 1)) && !hasExpired(chunkOf(played, 3)));
  t.equal(statusOf(chunkOf(played, 2), played.state as Stream, START_MS), 'expired');
  t.match(played.state, {
    ...{ chunks: 3, stored_chunks: 1, stored_bytes: 100, unprocessed: 1, expired_chunks: 2 },
    ...{ audio_expired: [[10, 30]], oldest_audio_ms: START_MS + 3 },
  });
  t.match(effects.at(-1), { effect: 'add_to_index', ...DUE, order: START_MS + 3 });
  t.same([...played.records('unprocessed').keys()], [chunkKey(3)], 'nobody is to process what is gone');
  t.notOk(
    effects.some(({ effect }) => effect === 'append_event'),
    'no event is recorded for it',
  );
  t.same(expire(played, null).gone, [3], 'what is not kept goes whatever its clock');
  t.match(played.effects.at(-1), { effect: 'remove_from_index', ...DUE });
});

t.test('I-018 one commit removes no more than so many, and counts what it removes', async (t) => {
  const played = recording();
  const count = LIMITS.expired_per_commit_max * 2 + 5;
  store(played, count);
  const { gone, counted } = expire(played, null);
  t.equal(gone.length, count);
  t.same(counted, [LIMITS.expired_per_commit_max, LIMITS.expired_per_commit_max, 5]);
  t.match(played.state, { stored_chunks: 0, stored_bytes: 0, unprocessed: 0, oldest_audio_ms: null });
  t.same(keptState(played)?.audio_expired, [[10, count * 10 + 10]]);
  t.equal(played.records('kept').size, 0);
});

t.test('I-024 spans of expired audio are bounded', async (t) => {
  const played = recording();
  const holes = LIMITS.expired_spans_max + 9;
  for (let n = 1; n <= holes; n++) {
    played.send(intend(n * 2));
    played.send({ type: 'stored', number: n, place: 'p@0', upload_started_at_ms: START_MS });
  }
  expire(played, null);
  t.equal(keptState(played)?.audio_expired?.length, LIMITS.expired_spans_max);
});

t.test('I-021 a title goes with the last audio of a stream that began before the cutoff', async (t) => {
  const titled = () => recording({ title: 'Talk' });
  const whole = titled();
  store(whole, 2);
  t.same(expire(whole, START_MS + 2).counted, [1], 'some audio is left');
  t.equal(keptState(whole)?.title, 'Talk');
  const { counted, effects } = expire(whole, START_MS + 3);
  t.same(counted, [2], 'it counts one');
  t.equal(keptState(whole)?.title, null);
  t.notOk(
    effects.some(({ effect }) => effect === 'append_event'),
    'no stream.updated',
  );

  const late = titled();
  store(late, 1);
  late.state = { ...(late.state as Stream), captured_at: new Date(START_MS + 50).toISOString() };
  t.same(expire(late, START_MS + 50).counted, [1], 'it began at the cutoff');
  t.match(late.effects.at(-1), { effect: 'add_to_index', ...DUE, order: START_MS + 50 }, 'its title has its own time');
  t.same(expire(late, START_MS + 51).counted, [1]);
  t.equal(keptState(late)?.title, null);
  t.match(late.effects.at(-1), { effect: 'remove_from_index', ...DUE });
  late.send({ type: 'change', title: 'Again', silent: false });
  t.match(late.effects.at(-1), { effect: 'add_to_index', ...DUE, order: START_MS + 50 });
  t.same(expire(late, START_MS + 51).counted, [1], 'one that is given since as well');

  const empty = titled();
  t.same(expire(empty, null).counted, [], 'a stream that had no audio yet keeps its title');
  const waiting = titled();
  store(waiting, 1);
  waiting.send(intend(2));
  t.same(expire(waiting, null).counted, [1], 'as does one to which more is announced');
  t.equal(keptState(waiting)?.title, 'Talk');
});

t.test('I-020 audio that is not kept waits for its transcript, a day at most', async (t) => {
  const played = recording();
  store(played, 3);
  const done = { result: { status: 'processed' as const, checked: true } };
  played.send({ type: 'claim_chunks', token: 't', limit: 2, lease_ms: 1_000 });
  played.send({ type: 'chunk_results', token: 't', results: [1, 2].map((number) => ({ number, ...done })) });
  t.same(expire(played, null, [[20, 25]]).gone, [1], 'one is transcribed; one waits for it, one is not processed');
  t.match(played.state, { stored_chunks: 2, oldest_audio_ms: START_MS + 2 });
  played.now_ms = START_MS + 2 + DAY_MS - 1;
  t.same(expire(played, null, [[20, 25]]).gone, []);
  played.now_ms += 1;
  t.same(expire(played, null, [[20, 25]]).gone, [2], 'after a day it goes all the same');
  t.same(expire(played, null, null).gone, [3], 'nothing waits where nobody transcribes');
});

t.test('H-023 what has expired is not stored again', async (t) => {
  const played = recording();
  store(played, 1);
  played.send({ type: 'claim_chunks', token: 't', limit: 1, lease_ms: 1_000 });
  expire(played, null);
  const late = { number: 1, result: { status: 'processed' as const, checked: true } };
  t.match(played.send({ type: 'chunk_results', token: 't', results: [late] }).reply, { taken: [] });
  const { reply } = played.send(intend(1));
  t.match(reply, { chunk: { chunk_id: chunkOf(played, 1).chunk_id } }, 'its intent gets the same chunk');
  const before = played.state;
  t.match(played.send({ type: 'stored', number: 1, place: 'p@0', upload_started_at_ms: START_MS + 9 }).reply, {
    chunk: { status: 'expired' },
  });
  t.equal(played.state, before);
  t.same(expire(played, null).counted, []);
});

t.test('K-024 a deleted recording is gone at once, and its reference begins no other', async (t) => {
  const of_device = recording({ title: 'Talk', device: true });
  store(of_device, 1);
  const { effects = [] } = of_device.send({ type: 'delete', silent: false });
  t.match(effects, [
    { effect: 'append_event', type: 'stream.deleted', resource_id: ID, data: { source_id: 's' } },
    { effect: 'close_fence', id: ID },
    { effect: 'enqueue_job', job: { job: 'erase_stream', stream_id: ID } },
  ]);
  const refused = { refused: 'NOT_FOUND', message: /was deleted/ };
  const sent: StreamMessage[] = [intend(2), { type: 'delete', silent: false }, { type: 'view' }, registerAgain()];
  for (const message of sent) t.match(of_device.send(message).reply, refused, message.type);
  of_device.send({ type: 'erase', account_id: 'a', list: 'streams' });
  t.equal(of_device.records('chunks').size + of_device.records('kept').size, 0);
  t.notMatch(JSON.stringify(of_device.state), /Talk|"r"|"d"/, 'nothing of what it was is left');
  for (const message of sent) t.match(of_device.send(message).reply, refused, `erased: ${message.type}`);
  t.match(of_device.send({ type: 'erase', account_id: 'a', list: 'deleted_streams' }).effects?.at(-1), {
    effect: 'delete',
  });
  t.equal(of_device.state, null, 'with its account it goes for good');

  const of_app = recording();
  of_app.send({ type: 'delete', silent: true });
  t.notOk(
    of_app.effects.some((one) => one.effect === 'append_event' && one.type === 'stream.deleted'),
    'of a deleted source nothing is recorded',
  );
  of_app.send({ type: 'erase', account_id: 'a', list: 'streams' });
  t.equal(of_app.state, null, 'nobody can register it again');
});

function registerAgain(): StreamMessage {
  return {
    ...{ type: 'register', account_id: 'a', workspace_id: 'w', source_id: 's', recorder: null },
    ...{ captured_at: new Date(CAPTURED_MS).toISOString(), title: null, end_ms: null, silent: false },
  };
}
