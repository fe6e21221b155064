import { randomBytes, randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Event } from '../../kits/typescript/src/api.js';
import { sha256Of } from '../../kits/typescript/src/device_client.js';
import { type Kills, killWithin } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { allOf } from '../fixtures/colleagues.js';

const HOUR_MS = 3_600_000;
/** Longer than the lease of a job in the hands of a server that is no more. */
const LEASE_OVER_MS = 3 * 60_000;
const EMAIL = 'swept@x.test';
const STREAMS = 2;
const CHUNKS = 2;
const SIGNALS = 3;
const RECORDS = STREAMS * (CHUNKS + SIGNALS + 1);

type Step = { ask: () => Promise<unknown>; streams: string[]; events_before: number };
type Applied = Event & { data: { buckets: Record<string, { count: number }> } };

scenario<Kills & { rounds: number }>({
  title: 'I-018 I-019 a sweep killed after any of its commits goes on, counts each record once and records one event',
  smoke: { steps: 1, points: 2, rounds: 1 },
  full: { steps: Infinity, points: Infinity, rounds: 20 },
  run: retentionKills,
});

async function retentionKills(t: Test, { rounds, ...kills }: Kills & { rounds: number }): Promise<void> {
  const server = await Servers.open(t, { env: { CHUNK_WORKER: '0' } });
  const signedIn = async () => server.client((await server.signIn(EMAIL)).access_token);
  let app = await signedIn();
  const [own] = (await app.ask<{ workspaces: { id: string }[] }>('GET', '/me')).workspaces;
  const not_kept = { audio: { days: 0 }, transcripts: { days: 0 } };
  await app.ask('PATCH', `/workspaces/${own?.id}`, { retention: not_kept });
  const source = await app.ask<{ id: string }>('POST', '/sources', { name: 'Desk' });
  const applied = async () =>
    (await allOf<Event>(app, '/events')).filter(({ type }) => type === 'workspace.retention_applied') as Applied[];

  const upload = async (stream_id: string, sequence: number) => {
    const bytes = randomBytes(40);
    const intent = await app.ask<{ upload_path: string }>('POST', `/audio/streams/${stream_id}/chunks/intents`, {
      ...{ source_chunk_ref: randomUUID(), sequence, codec: 'opus', container: 'ogg' },
      ...{ source_start_ms: sequence * 10, publication_start_ms: sequence * 10, source_end_ms: sequence * 10 + 10 },
      ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
    const headers = { Authorization: `Bearer ${app.access_token}` };
    const sent = await fetch(server.base_url + intent.upload_path, {
      ...{ method: 'PUT', headers, body: Uint8Array.from(bytes) },
    });
    t.equal(sent.status, 200);
  };

  /** Recordings with titles, audio and signals, none of which is kept, and the hour in which they go. */
  const prepare = async (): Promise<Step> => {
    app = await signedIn();
    const streams: string[] = [];
    for (let n = 0; n < STREAMS; n++) {
      const body = { source_id: source.id, captured_at: '2026-01-01T10:00:00Z', title: `Talk ${n}` };
      const { id } = await app.ask<{ id: string }>('POST', '/audio/streams', body);
      streams.push(id);
      for (let sequence = 0; sequence < CHUNKS; sequence++) await upload(id, sequence);
      const signals = Array.from({ length: SIGNALS }, (_, at) => ({ ref: `s${at}`, type: 'a.b', start_ms: at }));
      await app.ask('POST', `/audio/streams/${id}/signals`, { signals });
    }
    const events_before = (await applied()).length;
    return { ask: () => server.operator.advanceClock(HOUR_MS), streams, events_before };
  };

  for (let round = 0; round < rounds; round++)
    await killWithin<Step>(
      t,
      server,
      { steps: { sweep: prepare }, kinds: [['sweep']], kills },
      async ({ nth, step }, t) => {
        for (let n = 0; n < 2; n++) await server.operator.advanceClock(LEASE_OVER_MS);
        app = await signedIn();
        const news = (await applied()).slice(0, -step.events_before || undefined);
        t.equal(news.length, 1, `after commit ${nth}: one event`);
        const counts = news.flatMap(({ data }) => Object.values(data.buckets).map(({ count }) => count));
        t.equal(
          counts.reduce((sum, count) => sum + count, 0),
          RECORDS,
          `after commit ${nth}: as many are counted as went`,
        );
        for (const id of step.streams) {
          t.match(await app.ask('GET', `/audio/streams/${id}`), { title: null, stored_chunks: 0, stored_bytes: 0 });
          const signals = await allOf<{ payload_state: { state: string } }>(app, `/audio/streams/${id}/signals`);
          t.ok(signals.every(({ payload_state }) => payload_state.state === 'expired'));
        }
      },
    );
}
