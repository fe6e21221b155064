import { createServer } from 'node:http';
import { clientLoop, costRow, interleave, quantile, rateRow, verify, whole } from '../measure.mjs';
import { cpuMs, LOAD_CORE, startProgram, startRedis, temporaryFolder } from '../processes.mjs';
import { rawGets } from '../raw_get.mjs';
import { announce, CAPTURED_AT, toldRecording, upload } from '../recordings.mjs';
import { startSpool } from '../spool_setup.mjs';

const IN_FLIGHT = 64;
const WINDOWS = 500;
const STREAMS = 200;
/** Recorders are not in step: what 200 of them send last comes within this time. */
const SPREAD_MS = 5_000;

export const title = 'turns: publishing, reading and keeping them, and how late they are';

export async function run(options) {
  return [...(await publicationRows(options)), await readRow(options), await lagRow()];
}

async function publicationRows(options) {
  const { folder, remove } = temporaryFolder();
  const redis = await startRedis(folder, LOAD_CORE);
  const stops = [remove, () => redis.stop()];
  try {
    const program = await startProgram('turns', { socket_path: redis.socket_path });
    stops.push(() => program.stop());
    const variant = (question) => ({
      cpuMs: () => cpuMs([program.pid, redis.pid]),
      run: (seconds) => program.ask(question, { in_flight: IN_FLIGHT, seconds }),
    });
    const { publish, bare } = await interleave({ publish: variant('publish'), bare: variant('bare') }, options);
    const { turns, claimed } = await program.ask('stored');
    verify('turns', turns, claimed);
    const kept = await program.ask('bytes', { windows: WINDOWS });
    const row = (work, beside, value, goal) => {
      return {
        work,
        beside,
        figure: `${whole(value)} B`,
        peer: '',
        ratio: '',
        goal: `≤ ${goal} B`,
        met: value <= goal,
      };
    };
    const per_core = publish.map(({ cpu_us }) => 1e6 / cpu_us);
    const median = quantile(per_core, 0.5);
    return [
      rateRow({
        work: `turns published, windows of 20, ${IN_FLIGHT} in flight`,
        beside: 'the same bytes and events in a MULTI',
        ...{ ours: publish, peer: bare, goal: 0.5 },
      }),
      {
        ...{ work: 'turns published in a second of CPU', beside: 'Node and Redis together' },
        ...{ figure: whole(median), peer: '', ratio: '', goal: '≥ 12,000', met: median >= 12_000 },
      },
      row('memory of a turn', `Redis, text and page, ${whole(WINDOWS * 20)} turns`, kept.turn, 60),
      row('the same with what search knows of it', 'Redis', kept.searched, 140),
      row("memory of a turn's event", 'Redis', kept.event, 120),
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function readRow(options) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder, { env: { CHUNK_WORKER: '1', CONTENT_WORKER: '0' } });
    stops.push(() => spool.stop());
    const { app } = await spool.signIn('bench@spool.example');
    const headers = { Authorization: `Bearer ${app.access_token}` };
    const variants = {};
    for (const [name, windows] of [
      ['small', 0.5],
      ['large', WINDOWS],
    ]) {
      const id = await toldRecording(spool, app, name);
      await spool.program.ask('seed_turns', { stream_id: id, windows });
      const path = `/turns?stream_id=${id}&limit=25`;
      verify(`turns of the page (${name})`, (await app.ask('GET', path)).items.length, name === 'small' ? 10 : 25);
      // A page of as many turns, of the middle of the long one.
      const middle = name === 'small' ? '' : `&from_ms=${Math.floor(windows / 2) * 60_000}`;
      const { get, close } = rawGets({
        port: spool.ports.public,
        path: `/turns?stream_id=${id}&limit=10${middle}`,
        headers,
        lanes: 16,
      });
      stops.push(close);
      variants[name] = { cpuMs: spool.cpuMs, run: (seconds) => clientLoop({ in_flight: 16, seconds, op: get }) };
    }
    const { small, large } = await interleave(variants, options);
    const beside = 'of 10 turns in the stream';
    return costRow({
      work: `a page of 10 turns of ${whole(WINDOWS * 20)} in the stream`,
      beside,
      small,
      large,
      goal: 1.15,
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Recordings that end, until their turns are there. The engine answers at once. */
async function lagRow() {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const engine = await instantEngine();
    stops.push(engine.close);
    const env = { TRANSCRIBE_URL: engine.url, CHUNK_WORKER: '1', CONTENT_AT_ONCE: '8' };
    const spool = await startSpool(folder, { env });
    stops.push(() => spool.stop());
    const { app } = await spool.signIn('bench@spool.example');
    const { id: source_id } = await app.ask('POST', '/sources', { name: 'Desk' });
    const recordings = [];
    for (let number = 0; number < STREAMS; number++) {
      const { id } = await app.ask('POST', '/audio/streams', { source_id, captured_at: CAPTURED_AT });
      const upload_path = await announce(app, id);
      await app.ask('POST', `/audio/streams/${id}/end`, { end_ms: 2_000 });
      recordings.push({ id, upload_path });
    }
    const { cursor } = await app.ask('GET', '/events?type=turn.created&after=latest');
    const stored = new Map();
    await Promise.all(
      recordings.map(async ({ id, upload_path }, number) => {
        await new Promise((resolve) => setTimeout(resolve, (number / STREAMS) * SPREAD_MS));
        await upload({ spool, app }, upload_path);
        stored.set(id, Date.now());
      }),
    );
    const lags = await turnsOf(app, cursor, stored);
    verify('recordings with turns', lags.length, STREAMS);
    const p99 = quantile(lags, 0.99);
    return {
      work: `from the last chunk to its turns, ${STREAMS} recordings that end within ${SPREAD_MS / 1_000} s`,
      beside: 'an engine that answers at once',
      figure: `p50 ${whole(quantile(lags, 0.5))} ms, p99 ${whole(p99)} ms`,
      ...{ peer: '', ratio: '', goal: '≤ 2,000 ms', met: p99 <= 2_000 },
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Measures for each recording the ms from when its chunk was stored to when its first turn was recorded. */
async function turnsOf(app, after, stored) {
  const lags = new Map();
  const until = Date.now() + 60_000;
  for (let cursor = after; lags.size < stored.size && Date.now() < until; ) {
    const page = await app.ask('GET', `/events?type=turn.created&limit=100&after=${encodeURIComponent(cursor)}`);
    cursor = page.cursor;
    for (const { resource, occurred_at } of page.items) {
      const stream_id = `${resource.id.slice(0, 26)}00000000${resource.id.slice(34)}`;
      if (!lags.has(stream_id)) lags.set(stream_id, Date.parse(occurred_at) - stored.get(stream_id));
    }
    if (page.items.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return [...lags.values()];
}

async function instantEngine() {
  const said = JSON.stringify({ language: 'english', segments: [{ start: 0, end: 1.5, text: 'Said at once.' }] });
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(said));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close };
}
