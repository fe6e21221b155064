/** Spool as `npm start` runs it, with a few doors for measuring. */
import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import pino from 'pino';
import { libraryId, ownerOfPrivateWorkspace } from '../../../dist/src/domain/ids.js';
import { orNull } from '../../../dist/src/domain/refusals.js';
import { newContainer } from '../../../dist/src/engine/blobs/blob_keys.js';
import { randomId } from '../../../dist/src/engine/random/random.js';
import { startServer } from '../../../dist/src/host/server.js';
import { readSettings } from '../../../dist/src/host/settings.js';
import { answer, settings } from './answering_server.mjs';
import { mintCodes } from './authorization_codes.mjs';
import { publishInsights } from './insight_results.mjs';
import { minuteOf, seeded } from './random_words.mjs';
import { seedAccounts } from './seeding.mjs';
import { webhookDoors } from './webhook_backlog.mjs';

const { data_dir, fixed_code, env: own_env = {} } = settings();
// Sign-ins are then measured without reading mails: every code is the same.
if (fixed_code !== undefined) {
  const { randomInt } = crypto;
  crypto.randomInt = (...limits) => (limits[0] === 1_000_000 ? fixed_code : randomInt(...limits));
  syncBuiltinESMExports();
}
/** Limits are on, as they are by default. All load comes from one network and from few devices, so they may do more. */
const budgets = Object.fromEntries(
  ['SIGN_INS_BEGUN', 'CODES_SENT', 'CODES_CHECKED', 'NATIVE_STEPS', 'REGISTRATIONS', 'CLAIMS', 'DEVICE_REQUESTS'].map(
    (name) => [`RATE_${name}`, '1000000'],
  ),
);
/** Nothing is transcribed, unless a row asks for it. */
const env = {
  PORT: '0',
  DEVICE_PORT: '0',
  OPS_PORT: '0',
  TRANSCRIBE_BUILT_IN: '0',
  EMBED_BUILT_IN: '0',
  ...budgets,
  DATA_DIR: data_dir,
  ...own_env,
};
const server = await startServer(readSettings(env), pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true })));
const { services, ports, redis } = server;
// redis-server shows its socket in its title.
const socket_path = /unixsocket:(\S+)/.exec(
  readFileSync(`/proc/${redis.pid}/cmdline`, 'utf8').replaceAll('\0', ' '),
)[1];

const TURNS_A_MINUTE = 20;

/** A stream's transcript with so many minutes of audio behind what it has, and how the next of them are published. */
async function transcriptOf(stream_id, { minutes, seed }) {
  const { account_id, workspace_id, source_id, captured_at } = await services.actors.stream(stream_id).view();
  const stream = { account_id, workspace_id, source_id, captured_at_ms: Date.parse(captured_at), end_ms: null };
  const actor = services.actors.transcript(stream_id);
  const view = await orNull(actor.view(), 'NOT_FOUND');
  const begins_ms = Math.max(0, ...(view?.covered ?? []).map(([, to_ms]) => to_ms));
  const intervals = [[begins_ms, begins_ms + minutes * 60_000]];
  await actor.audio({ stream, window_ms: 60_000, intervals });
  const random = seeded(seed);
  const publish = async ({ minutes: many, part }) => {
    const token = randomId({ partition: 0, now_ms: Date.now() });
    const { window } = await actor.claim_window({ token, run_id: token, lease_ms: 60_000, window_ms: many * 60_000 });
    const all = Array.from({ length: many }, (_, at) => minuteOf(window.from_ms + at * 60_000, random)).flat();
    const turns = all.slice(0, part * all.length);
    const said = { number: window.number, token, digest: token, speaker_scope: 'stream', mode: 'replace', turns };
    await actor.publish({ ...said, recognized: {}, final_pass: false });
  };
  return { publish };
}

const heap = () => {
  for (let i = 0; i < 4; i++) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap_bytes: heapUsed + external, rss_bytes: rss };
};

answer(
  { ports, ops_token: services.ops_token, redis_pid: redis.pid, socket_path },
  {
    memory: async () => heap(),
    /** Makes accounts as they look after their first sign-in, by the keys they leave. */
    seed_accounts: ({ count, from, domain }) => seedAccounts({ socket_path, count, from, domain }),
    async view_accounts({ ids }) {
      for (let at = 0; at < ids.length; at += 500) {
        const part = ids.slice(at, at + 500);
        const found = await Promise.all(
          part.map((id) => services.runtime.ask({ kind: 'account', id }, { type: 'view' })),
        );
        if (found.some((account) => account.id === undefined)) throw new Error('an account is missing');
      }
    },
    /** Registers and stores chunks in a stream without their audio. */
    async seed_chunks({ stream_id, count }) {
      const address = { kind: 'stream', id: stream_id };
      const now_ms = services.clock.now();
      for (let at = 0; at < count; at += 64) {
        const sequences = Array.from({ length: Math.min(64, count - at) }, (_, index) => at + index);
        const found = await Promise.all(
          sequences.map((sequence) => {
            const [start, end] = [sequence * 1000, sequence * 1000 + 1000];
            const intent = {
              ...{ source_chunk_ref: `seeded-${sequence}`, sequence, source_start_ms: start },
              ...{ publication_start_ms: start, source_end_ms: end, codec: 'opus', container: 'ogg' },
              ...{ size_bytes: 1, sha256: '0'.repeat(64) },
            };
            return services.runtime.ask(address, { type: 'intend', intent, content: String(sequence) });
          }),
        );
        const numbers = found.map(({ chunk }) => Number.parseInt(chunk.chunk_id.slice(26, 34), 16));
        const result = { status: 'processed', checked: true };
        const stored = { type: 'stored', place: `${newContainer(now_ms)}@0`, upload_started_at_ms: now_ms, result };
        const message = (number) => ({ ...stored, number });
        await Promise.all(numbers.map((number) => services.runtime.ask(address, message(number))));
      }
      const last = await services.runtime.ask(address, { type: 'view' });
      if (last.stored_chunks !== count) throw new Error(`${last.stored_chunks} chunks seeded, not ${count}`);
    },
    /** Publishes so many windows of a stream's transcript, each of so many minutes, as a worker does. */
    async seed_turns({ stream_id, windows, minutes = 1, seed = 3 }) {
      const { publish } = await transcriptOf(stream_id, { minutes: Math.ceil(windows) * minutes, seed });
      for (let count = 0; count < windows; count++) await publish({ minutes, part: Math.min(1, windows - count) });
    },
    /** The same of so many turns a second, for so long; gives how many it were. */
    async publish_steadily({ stream_id, turns_a_second, seconds }) {
      const windows = Math.round((turns_a_second * seconds) / TURNS_A_MINUTE);
      const { publish } = await transcriptOf(stream_id, { minutes: windows, seed: 4 });
      const began = performance.now();
      for (let count = 0; count < windows; count++) {
        const wait_ms = began + (count * TURNS_A_MINUTE * 1000) / turns_a_second - performance.now();
        if (wait_ms > 0) await new Promise((resolve) => setTimeout(resolve, wait_ms));
        await publish({ minutes: 1, part: 1 });
      }
      return windows * TURNS_A_MINUTE;
    },
    /** Publishes so many suggestions of a recording, 50 of a conversation; gives how many there are. */
    async seed_insights({ stream_id: said_in, suggestions: count, ...of }) {
      const library_id = libraryId(of.account_id, of.workspace_id);
      for (let made = 0; made < count; made += 50) {
        const stream_id = randomId({ partition: 0, now_ms: Date.now() });
        const suggestions = Math.min(50, count - made);
        await publishInsights(services.actors, { ...of, library_id, stream_id, said_in, suggestions, memories: 0 });
      }
      return (await services.actors.library(library_id).view()).insights.given.suggestion;
    },
    /** Sweeps a workspace now, until nothing is left that it does not keep. */
    async sweep({ workspace_id }) {
      const { actors, retention } = services;
      const sweep = actors.sweep(workspace_id);
      const library_id = libraryId(ownerOfPrivateWorkspace(workspace_id).account_id, workspace_id);
      const isTold = async () => {
        const view = await orNull(sweep.view(), 'NOT_FOUND');
        const library = await orNull(actors.library(library_id).view(), 'NOT_FOUND');
        return view?.retention?.audio.days === 0 && library !== null;
      };
      while (!(await isTold())) await new Promise((resolve) => setTimeout(resolve, 5));
      await sweep.tick();
      while ((await sweep.view()).running !== null) await retention.worker.look();
    },
    ...webhookDoors(services),
    /** Recognizes speech in a file again and again, for so many times or until then. */
    async hear({ bytes, options, times = Number.POSITIVE_INFINITY, until_ms = Number.POSITIVE_INFINITY }) {
      for (let count = 0; count < times && Date.now() < until_ms; count++)
        await services.speech.recognize(bytes, options, { owner: '', signal: new AbortController().signal });
    },
    mint_codes: (asked) => mintCodes(services, asked),
    stop: () => server.close(),
  },
);
