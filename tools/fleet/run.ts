import { setTimeout as delay } from 'node:timers/promises';
import pMap from 'p-map';
import { AppClient } from '../../kits/typescript/src/app_client.js';
import { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { Patience } from '../../kits/typescript/src/retries.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import type { ChosenServer } from '../demo/server_choice.js';
import { AudioSource } from './audio_source.js';
import { Dashboard, megabytes, type Out } from './dashboard.js';
import { FlakyConnection } from './flaky_connection.js';
import { Ledger } from './ledger.js';
import { FleetRecorder, type RecorderPlan } from './recorder.js';
import { ServerWatch } from './server_watch.js';
import { Stats } from './stats.js';
import { type Verified, verifyAccount } from './verify.js';

export type FleetOptions = {
  devices: number;
  minutes: number;
  seed: number;
  /** Of all recorders, in percent. */
  shared_percent: number;
  chunk_ms: number;
  chunk_bytes: number;
  faults: boolean;
  /**
   * Something is said in each chunk, which the engine of the server hears (scripted_engine.ts), and a model finds promises
   * in it (scripted_chat.ts).
   */
  speech: boolean;
  /** The processes that are killed (SIGKILL) while they record, one after the other in equal parts of the time. */
  kills: ('server' | 'redis')[];
  /** Of all chunks, how many in a hundred are read back at the end. */
  read_percent: number;
};

export type FleetOutcome = {
  lines: string[];
  good: boolean;
  stats: Stats;
  verified: Verified;
  /** Mean memory of the server in the second quarter of the time and in the last. */
  memory: { before_bytes: number; after_bytes: number };
  /** Cores that the server took in the second half of the time; null where it was another process at the end. */
  cores: number | null;
};

/** Recorders of one account; a host has at most a hundred sessions alive. */
const DEVICES_PER_ACCOUNT = 50;
const PROVISIONED_AT_ONCE = 4;
/** New connections begin over this time for each thousand recorders: a handshake costs what twenty requests do. */
const RAMP_MS_PER_THOUSAND = 15_000;
const VERIFIED_AT_ONCE = 2;
const SESSION_HOURS = 3;

type Household = { app: AppClient; ledger: Ledger };

export async function runFleet(server: ChosenServer, options: FleetOptions, out: Out): Promise<FleetOutcome> {
  const { devices, minutes, seed } = options;
  const random = new SeededRandom(seed);
  const stats = new Stats();
  const patience = new Patience();
  const operator = new OperatorClient(server.operator_url, server.ops_token);
  const watch = new ServerWatch(server.operator_url);
  const households: Household[] = [];
  const count = Math.ceil(devices / DEVICES_PER_ACCOUNT);
  const shared = Math.round((devices * options.shared_percent) / 100);
  const phase = { says: 'signing in' };
  const dashboard = new Dashboard(out, {
    title: `${devices} recorders, ${shared} of them shared; accounts: ${count}; seed ${seed}; server: ${server.description}`,
    stats,
    watch,
    devices,
    progress: () => phase,
  });
  watch.start();
  dashboard.start();
  try {
    const run_id = Date.now().toString(36);
    await pMap(
      numbers(count),
      async (index) => {
        const app = new AppClient(server.base_url, { patience: null });
        await signIn(app, operator, { email: `fleet-${run_id}-${index}@fleet.example`, patience });
        households[index] = { app, ledger: new Ledger() };
        phase.says = `signing in: ${households.length} of ${count}`;
      },
      { concurrency: PROVISIONED_AT_ONCE },
    );

    const audio = new AudioSource(random, options);
    const plan = planOf(options);
    const recorders: FleetRecorder[] = [];
    await pMap(
      numbers(devices),
      async (index) => {
        const kind = index < shared ? 'shared' : 'personal';
        const credentials = await patience.ask(() => operator.provision(kind));
        const own = new SeededRandom(seed * 1_000_003 + index);
        // Spread over the accounts, so that each has some of both kinds.
        const { app, ledger } = households[index % count] as Household;
        const faults = options.faults ? { answer_lost: 0.01, sent_twice: 0.01 } : { answer_lost: 0, sent_twice: 0 };
        const connection = new FlakyConnection({ url: server.device_url, credentials, random: own, stats, faults });
        recorders[index] = new FleetRecorder({
          ...{ name: `recorder ${index + 1}`, kind, random: own, connection, audio, stats, ledger, plan },
          newClaim: () => newClaim(app, kind, patience),
          endByHost: async (id) =>
            void (await patience.repeat(() => app.call('POST /device-sessions/{id}/end', { path: { id } }))),
        });
        phase.says = `provisioning: ${recorders.length} of ${devices}`;
      },
      { concurrency: PROVISIONED_AT_ONCE },
    );

    const began = performance.now();
    const ramp_ms = (devices / 1_000) * RAMP_MS_PER_THOUSAND;
    const until_ms = began + ramp_ms + minutes * 60_000;
    const showing = setInterval(() => {
      const left_s = Math.max(0, (until_ms - performance.now()) / 1_000);
      phase.says = left_s > 0 ? `recording, ${left_s.toFixed(0)} s left` : 'sending what is left';
    }, 500);
    const killing = kill(server, options.kills, { from_ms: began + ramp_ms, until_ms, dashboard });
    // All of them end in one moment, which no fleet does: what that costs is told apart.
    let while_recording = '';
    const ended = delay(until_ms - began).then(() => {
      while_recording = quantiles(stats);
    });
    await Promise.all(
      recorders.map(async (recorder, index) => {
        await delay((ramp_ms * index) / devices);
        await recorder.run(until_ms);
      }),
    );
    await Promise.all([killing, ended]);
    clearInterval(showing);
    const sent_ms = performance.now();

    const verified: Verified = {
      streams: 0,
      chunks: 0,
      bytes_read: 0,
      events: 0,
      turns: 0,
      suggestions: 0,
      faults: [],
      faults_count: 0,
    };
    const chunks_total = households.reduce((sum, { ledger }) => sum + chunksOf(ledger), 0);
    let checked = 0;
    const onChunk = () => {
      checked += 1;
      phase.says = `checking: ${checked} of ${chunks_total} chunks`;
    };
    await pMap(
      households,
      async ({ app, ledger }) => {
        const read_share = options.read_percent / 100;
        const found = await verifyAccount(app, ledger, {
          patience,
          random,
          read_share,
          speech: options.speech,
          onChunk,
        });
        verified.streams += found.streams;
        verified.chunks += found.chunks;
        verified.bytes_read += found.bytes_read;
        verified.events += found.events;
        verified.turns += found.turns;
        verified.suggestions += found.suggestions;
        verified.faults_count += found.faults_count;
        verified.faults.push(...found.faults);
      },
      { concurrency: VERIFIED_AT_ONCE },
    );
    phase.says = 'done';
    const quarter = (until_ms - began - ramp_ms) / 4;
    const memory = {
      before_bytes: watch.memoryBetween(until_ms - 3 * quarter, until_ms - 2 * quarter),
      after_bytes: watch.memoryBetween(until_ms - quarter, until_ms),
    };
    const cores = watch.coresBetween(until_ms - 2 * quarter, until_ms);
    const outcome = { stats, verified, memory, cores };
    const good =
      verified.faults_count === 0 && stats.wrong_count === 0 && verified.chunks === chunks_total && chunks_total > 0;
    return {
      ...outcome,
      good,
      lines: summary(outcome, { good, recorded_s: (sent_ms - began) / 1_000, while_recording }),
    };
  } finally {
    dashboard.end();
    watch.stop();
    operator.close();
    for (const { app } of households) app.close();
  }
}

function planOf({ faults, chunk_ms }: FleetOptions): RecorderPlan {
  return {
    stream_chunks: [2, 8],
    session_streams: [1, 3],
    connection_lost_every_ms: faults ? 90_000 : Number.POSITIVE_INFINITY,
    connection_lost_ms: [500, Math.max(5_000, chunk_ms)],
    reboot_every_ms: faults ? 240_000 : Number.POSITIVE_INFINITY,
    out_of_order: faults ? 0.3 : 0,
  };
}

async function signIn(
  app: AppClient,
  operator: OperatorClient,
  { email, patience }: { email: string; patience: Patience },
): Promise<void> {
  await patience.ask(() => app.signIn(email, () => operator.readCode(email)));
}

async function newClaim(
  app: AppClient,
  kind: 'personal' | 'shared',
  patience: Patience,
): Promise<{ claim: string; session_id: string | null }> {
  // One that is made twice because its answer was lost runs out by itself.
  if (kind === 'personal') {
    const { claim } = await patience.repeat(() => app.call('POST /devices/claims', { body: { kind: 'owner' } }));
    return { claim, session_id: null };
  }
  const expires_at = new Date(Date.now() + SESSION_HOURS * 3_600_000).toISOString();
  const hosted = await patience.repeat(() => app.call('POST /device-sessions', { body: { expires_at } }));
  return { claim: hosted.claim, session_id: hosted.session.id };
}

async function kill(
  { own }: ChosenServer,
  kills: FleetOptions['kills'],
  { from_ms, until_ms, dashboard }: { from_ms: number; until_ms: number; dashboard: Dashboard },
): Promise<void> {
  if (own === null) return;
  for (const [index, what] of kills.entries()) {
    const at_ms = from_ms + ((until_ms - from_ms) * (index + 1)) / (kills.length + 1);
    await delay(Math.max(0, at_ms - performance.now()));
    const began = performance.now();
    if (what === 'redis') {
      process.kill(own.redis_pid, 'SIGKILL');
      dashboard.note('its Redis was killed; the server starts it again');
    } else {
      await own.kill();
      dashboard.note('the server was killed');
      await own.restart();
      dashboard.note(`it was started again and is ready, ${((performance.now() - began) / 1_000).toFixed(1)} s after`);
    }
  }
}

function summary(
  { stats, verified, memory, cores }: Pick<FleetOutcome, 'stats' | 'verified' | 'memory' | 'cores'>,
  { good, recorded_s, while_recording }: { good: boolean; recorded_s: number; while_recording: string },
): string[] {
  const made = Object.entries(stats.faults).map(([name, count]) => `${count} ${name}`);
  const retries = [...stats.retries].map(([name, count]) => `${count} ${name}`);
  return [
    `recorded:  ${uploadsOf(stats.chunks, verified.chunks)}, ${megabytes(stats.bytes)}, in ${recorded_s.toFixed(0)} s`,
    `answers:   ${while_recording}, while they recorded`,
    `           ${quantiles(stats)}, with the end of all of them in one moment`,
    `faults:    ${made.join(', ')}`,
    `repeated:  ${retries.length === 0 ? 'nothing' : retries.join(', ')}`,
    `memory:    ${megabytes(memory.before_bytes)} in the second quarter, ${megabytes(memory.after_bytes)} in the last`,
    `CPU:       ${cores === null ? 'not known' : `${(cores * 100).toFixed(0)} % of a core in the second half`}`,
    `held:      ${verified.streams} streams, ${verified.chunks} chunks, ${verified.turns} turns, ${verified.suggestions} suggestions, ${verified.events} events; ${megabytes(verified.bytes_read)} read back`,
    ...stats.wrong.map((text) => `wrong:     ${text}`),
    ...verified.faults.map((text) => `differs:   ${text}`),
    good ? 'What the server holds is exactly what was sent.' : 'What the server holds is NOT what was sent.',
  ];
}

/** A chunk whose answer got lost, or that a device sends twice on purpose, is uploaded again. */
function uploadsOf(uploads: number, chunks: number): string {
  const repeats = uploads - chunks;
  return `${uploads} uploads of ${chunks} chunks, ${repeats > 0 ? `${repeats} of them repeats` : 'none of them a repeat'}`;
}

function quantiles({ calls }: Stats): string {
  const of = (name: 'store' | 'intent' | 'upload') => {
    const { count, max_ms } = calls[name];
    const [p50, p99] = [calls[name].quantile(0.5), calls[name].quantile(0.99)];
    return `${count} ${name}s p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(0)}, max ${max_ms.toFixed(0)} ms`;
  };
  return (['store', 'intent', 'upload'] as const).map(of).join('; ');
}

function chunksOf({ streams }: Ledger): number {
  return streams.reduce((sum, { chunks }) => sum + chunks.size, 0);
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
