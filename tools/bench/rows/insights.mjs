import { clientLoop, costRow, interleave, quantile, verify, whole } from '../measure.mjs';
import { LOAD_CORE, startProgram, startRedis, temporaryFolder } from '../processes.mjs';
import { rawGets } from '../raw_get.mjs';
import { startSpool } from '../spool_setup.mjs';

const PUBLICATIONS = 200;
const SMALL = 100;
const LARGE = 100_000;
const PUBLISHED_MS_MAX = 20;

export const title = 'insights: publishing what a conversation gave, and reading suggestions';

export async function run(options) {
  return [await publicationRow(), await listRow(options)];
}

async function publicationRow() {
  const { folder, remove } = temporaryFolder();
  const redis = await startRedis(folder, LOAD_CORE);
  const stops = [remove, () => redis.stop()];
  try {
    const program = await startProgram('insights', { socket_path: redis.socket_path });
    stops.push(() => program.stop());
    await program.ask('publish', { count: PUBLICATIONS / 4 }); // warm
    const { took_ms } = await program.ask('publish', { count: PUBLICATIONS });
    const { suggestion } = await program.ask('stored');
    verify('suggestions', suggestion, PUBLICATIONS * 1.25 * 50);
    const p99 = quantile(took_ms, 0.99);
    return {
      work: 'publication of 50 suggestions and 20 memories, one commit',
      beside: `${whole(PUBLICATIONS)}, one after another`,
      figure: `p50 ${quantile(took_ms, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      ...{ peer: '', ratio: '', goal: `≤ ${PUBLISHED_MS_MAX} ms`, met: p99 <= PUBLISHED_MS_MAX },
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function listRow(options) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder, { env: { CONTENT_WORKER: '0' } });
    stops.push(() => spool.stop());
    const variants = {};
    for (const [name, suggestions] of [
      ['small', SMALL],
      ['large', LARGE],
    ]) {
      const { app, session } = await spool.signIn(`${name}@spool.example`);
      const { workspaces } = await app.ask('GET', '/me');
      const { id: source_id } = await app.ask('POST', '/sources', { name });
      const { id: stream_id } = await app.ask('POST', '/audio/streams', {
        ...{ source_id, captured_at: '2026-01-31T08:30:00.000Z' },
      });
      const place = { account_id: session.user.id, workspace_id: workspaces[0].id, source_id, stream_id };
      verify(`suggestions (${name})`, await spool.program.ask('seed_insights', { ...place, suggestions }), suggestions);
      const path = '/suggestions?limit=25';
      verify(`suggestions of the page (${name})`, (await app.ask('GET', path)).items.length, 25);
      const headers = { Authorization: `Bearer ${app.access_token}` };
      const { get, close } = rawGets({ port: spool.ports.public, path, headers, lanes: 16 });
      stops.push(close);
      variants[name] = { cpuMs: spool.cpuMs, run: (seconds) => clientLoop({ in_flight: 16, seconds, op: get }) };
    }
    const { small, large } = await interleave(variants, options);
    return costRow({
      work: `a page of 25 of ${whole(LARGE)} suggestions`,
      beside: `of ${whole(SMALL)}`,
      ...{ small, large, goal: 1.15 },
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
