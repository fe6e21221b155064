/** The runtime on a Redis, and the same commits without the runtime. Askers live in this process. */
import pino from 'pino';
import { defineActor } from '../../../dist/actors/actor.js';
import { makeMetrics } from '../../../dist/src/engine/metrics/metrics.js';
import { randomId } from '../../../dist/src/engine/random/random.js';
import { Runtime } from '../../../dist/src/engine/runtime/runtime.js';
import { decodeStored, encodeStored } from '../../../dist/src/engine/store/codec.js';
import { writeCommit } from '../../../dist/src/engine/store/commit_call.js';
import { NO_VERSION, versionAfter } from '../../../dist/src/engine/store/entity_version.js';
import { MsgpackWriter } from '../../../dist/src/engine/store/msgpack_writer.js';
import { keysOf } from '../../../dist/src/engine/store/partitions.js';
import { loadLibrary, openRedis } from '../../../dist/src/engine/store/redis_connection.js';
import { RedisStore } from '../../../dist/src/engine/store/redis_store.js';
import { Subscribers } from '../../../dist/src/engine/store/subscriptions.js';
import { closedLoop } from '../measure.mjs';
import { answer, settings } from './answering_server.mjs';

const { socket_path } = settings();
const redis = openRedis({ socket_path });
await redis.connect();
await loadLibrary(redis);

/** As large as an account's state, and one record a turn, as many actors write. */
const fresh = { count: 0, name: 'x'.repeat(120), when: Date.now(), numbers: [1, 2, 3, 4], text: 'y'.repeat(60) };
const counter = defineActor()({
  kind: 'bench_counter',
  home: 'id',
  schema: 1,
  messages: {
    add(state, { add }) {
      const next = { ...(state ?? fresh), count: (state?.count ?? 0) + add };
      const value = { at: next.count, note: 'z'.repeat(40) };
      return { reply: next.count, next, effects: [{ effect: 'put_record', collection: 'notes', id: 'last', value }] };
    },
  },
});
const store = new RedisStore(redis, () => 'bench');
const log = pino({ level: 'warn' }, pino.destination(2));
const runtime = new Runtime({
  store,
  metrics: makeMetrics(),
  log,
  now: Date.now,
  trust_memory: true,
  kinds: [counter],
});

const idsOf = (count) =>
  Array.from({ length: count }, (_, index) => randomId({ partition: index % 256, now_ms: Date.now() }));
const many = idsOf(10_000);
const hot = idsOf(1);
const bare = idsOf(10_000).map((id) => ({ id, version: NO_VERSION }));
let commits = 0;

const add = async (id) => {
  const reply = await runtime.ask({ kind: 'bench_counter', id }, { type: 'add', add: 1 });
  if (typeof reply !== 'number') throw new Error(`refused: ${JSON.stringify(reply)}`);
};

/** Sends what the runtime sends for one message, with no actor behind it. */
const commitBare = async (entity) => {
  const commit_id = `b0b0b0b0b0b0${(++commits).toString(16).padStart(12, '0')}`;
  const state = { ...fresh, count: entity.version.version + 1 };
  const value = encodeStored({ at: state.count, note: 'z'.repeat(40) });
  const out = new MsgpackWriter();
  writeCommit(
    out,
    {
      place: { address: { kind: 'bench_counter', id: entity.id }, partition: Number.parseInt(entity.id.slice(-2), 16) },
      commit_id,
      expected: entity.version,
      mode: 'put',
      snapshot: encodeStored({ k: 1, s: state }),
      now_ms: Date.now(),
      fences: [],
      effects: [{ effect: 'put_record', collection: 'notes', id: 'last', value }],
    },
    { draw_log_name: () => 'bench', subscribers: new Subscribers(), told_on: '' },
  );
  const [verdict] = await redis.fcall('spool_commit_v1', 0, out.take());
  if (verdict !== 'applied') throw new Error(`verdict ${verdict}`);
  entity.version = versionAfter(entity.version, commit_id);
};

/** Each lane has entities of its own and goes round them. */
const loop = ({ entities, in_flight, seconds, op }) => {
  const turns = new Array(in_flight).fill(0);
  const each = Math.max(1, Math.floor(entities.length / in_flight));
  return closedLoop({
    in_flight,
    seconds,
    op: (lane) => op(entities[(lane * each + (turns[lane]++ % each)) % entities.length]),
  });
};

const countOf = async (ids) => {
  let total = 0;
  for (const id of ids) {
    const stored = await redis.getBuffer(
      keysOf(Number.parseInt(id.slice(-2), 16)).entity({ kind: 'bench_counter', id }),
    );
    if (stored !== null) total += decodeStored(stored.subarray(1 + stored[0] * 20)).s.count;
  }
  return total;
};

answer(null, {
  many: ({ in_flight, seconds }) => loop({ entities: many, in_flight, seconds, op: add }),
  bare: ({ in_flight, seconds }) => loop({ entities: bare, in_flight, seconds, op: commitBare }),
  hot: ({ in_flight, seconds }) => loop({ entities: hot, in_flight, seconds, op: add }),
  stored: async () => ({
    many: await countOf(many),
    hot: await countOf(hot),
    bare: await countOf(bare.map(({ id }) => id)),
  }),
  stop: async () => {
    await runtime.shutdown(1_000);
    redis.disconnect();
  },
});
