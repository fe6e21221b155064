/** Publications of windows on a Redis, and the same bytes written without any of it. */
import pino from 'pino';
import { transcript } from '../../../dist/actors/transcripts/transcript.js';
import { libraryId, turnId } from '../../../dist/src/domain/ids.js';
import { makeMetrics } from '../../../dist/src/engine/metrics/metrics.js';
import { randomId } from '../../../dist/src/engine/random/random.js';
import { actorsOf } from '../../../dist/src/engine/runtime/actors.js';
import { Runtime } from '../../../dist/src/engine/runtime/runtime.js';
import { keysOf } from '../../../dist/src/engine/store/partitions.js';
import { loadLibrary, openRedis } from '../../../dist/src/engine/store/redis_connection.js';
import { RedisStore } from '../../../dist/src/engine/store/redis_store.js';
import { closedLoop } from '../measure.mjs';
import { answer, settings } from './answering_server.mjs';
import { minuteOf, seeded } from './random_words.mjs';

const WINDOW_MS = 60_000;
const TURNS = 20;
/** Of a recording; then another one begins. */
const WINDOWS = 100;
const EVENT_BYTES = 51;

const { socket_path } = settings();
const redis = openRedis({ socket_path });
await redis.connect();
await loadLibrary(redis);
const store = new RedisStore(redis, () => 'bench');
const log = pino({ level: 'warn' }, pino.destination(2));
const runtime = new Runtime({
  ...{ store, metrics: makeMetrics(), log, now: Date.now, trust_memory: true, kinds: [transcript] },
});
const actors = actorsOf(runtime);
const random = seeded(2);
const lanes = new Map();
let tokens = 0;
let recordings = 0;

/** A recording whose audio waits to be transcribed. */
async function begin(most = WINDOWS) {
  const drawn = () => randomId({ partition: recordings++ % 256, now_ms: Date.now() });
  const id = drawn();
  const account_id = id.replace(/^0/, '1');
  const stream = { account_id, workspace_id: account_id, source_id: id, captured_at_ms: Date.now(), end_ms: null };
  await actors.transcript(id).audio({ stream, window_ms: WINDOW_MS, intervals: [[0, most * WINDOW_MS]] });
  return { id, account_id, windows: 0, most };
}

/** Claims the next window of a lane's recording and publishes it. */
async function publish(lane) {
  let recording = lanes.get(lane);
  if (recording === undefined || recording.windows === recording.most) {
    recording = await begin();
    lanes.set(lane, recording);
  }
  const actor = actors.transcript(recording.id);
  const token = `t${++tokens}`;
  const run_id = randomId({ partition: 0, now_ms: Date.now() });
  const { window } = await actor.claim_window({ token, run_id, lease_ms: 60_000, window_ms: WINDOW_MS });
  const turns = minuteOf(window.from_ms, random);
  const said = { number: window.number, token, digest: token, speaker_scope: 'stream', mode: 'replace', turns };
  const { tally } = await actor.publish({ ...said, recognized: {}, final_pass: false });
  if (tally.turns !== TURNS) throw new Error(`${tally.turns} turns`);
  recording.windows += 1;
}

/** A page in the middle of its ten minutes, as it lies in Redis; and the state. */
async function drawSample() {
  const recording = await begin();
  lanes.set(-1, recording);
  for (let windows = 0; windows < 5; windows++) await publish(-1);
  const keys = keysOf(Number.parseInt(recording.id.slice(-2), 16));
  const address = { kind: 'transcript', id: recording.id };
  const page = await redis.hgetBuffer(keys.records(address, 'pages'), '0000');
  return { page, state: await redis.getBuffer(keys.entity(address)), event: Buffer.alloc(EVENT_BYTES, 7) };
}

let sample;

async function bare(lane) {
  sample ??= drawSample();
  const { page, state, event } = await sample;
  const key = `{bare${lane}}`;
  const commit = redis.multi().set(`${key}e`, state).hset(`${key}p`, '0000', page);
  for (let turn = 0; turn < TURNS; turn++) commit.xadd(`${key}l`, '*', 't', 'turn.created', 'b', event);
  await commit.exec();
}

const inTurns = ({ ops, seconds }) => ({ ops: ops * TURNS, seconds });

/** The bytes that Redis keeps of a recording of so many windows, by turn. */
async function bytes({ windows }) {
  const recording = await begin(windows);
  lanes.set(-2, recording);
  for (let count = 0; count < windows; count++) await publish(-2);
  const { id, account_id } = recording;
  const keys = keysOf(Number.parseInt(id.slice(-2), 16));
  const of = async (key) => Number((await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')) ?? 0);
  const address = { kind: 'transcript', id };
  const records = ['pages', 'published', 'speakers'].flatMap((name) => [
    keys.records(address, name),
    keys.order(address, name),
  ]);
  let kept = await of(keys.entity(address));
  for (const key of records) kept += await of(key);
  const index = keys.index(libraryId(account_id, account_id), 'search');
  const searched = kept + (await of(keys.records(address, 'blocks'))) + (await of(index));
  const last = turnId(id, { page: Math.floor((windows - 1) / 10), serial: 0 });
  const turns = windows * TURNS;
  return { turn: kept / turns, searched: searched / turns, event: (await of(keys.log(account_id))) / turns, last };
}

answer(null, {
  publish: async ({ in_flight, seconds }) => inTurns(await closedLoop({ in_flight, seconds, op: publish })),
  bare: async ({ in_flight, seconds }) => inTurns(await closedLoop({ in_flight, seconds, op: bare })),
  bytes,
  async stored() {
    let turns = 0;
    for (const { id } of lanes.values()) turns += (await actors.transcript(id).view()).turns;
    let claimed = 0;
    for (const { windows } of lanes.values()) claimed += windows * TURNS;
    return { turns, claimed };
  },
  stop: async () => {
    await runtime.shutdown(1_000);
    redis.disconnect();
  },
});
