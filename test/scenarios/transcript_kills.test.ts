import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Event, Turn } from '../../kits/typescript/src/api.js';
import { CallRefused } from '../../kits/typescript/src/call.js';
import { sha256Of } from '../../kits/typescript/src/device_client.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { ALL_KILLS, type Kills, killWithin, SOME_KILLS } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { storedSearchFaults } from '../faults/equalities.js';
import { allOf } from '../fixtures/colleagues.js';
import { type Said, said, type WorkView } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

const EMAIL = 'speaker@x.test';
const WINDOW_MS = 60_000;
/** More than one commit may report. */
const MANY_TURNS = 300;
/** Longer than a lease of what the server that is no more had in hand. */
const LEASES_OVER_MS = 120_000;
const WAV = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 8_000 }) }, Buffer.alloc(WINDOW_MS * 16, 7));

type Recording = { stream_id: string; work: WorkView };

/** One step, ready to be asked for as often as need be: what it answers, and what must hold then. */
type Step = { ask: () => Promise<string>; again?: string[]; check: (t: Test) => Promise<void> };

const KINDS = [
  ['audio becomes a window', 'publish', 'replace by a later run'],
  ['correct a turn', 'split a turn', 'delete a turn'],
  ['name a speaker', 'merge speakers', 'merge contacts'],
];

scenario({
  title: 'K-005 K-011 K-033 killed at any commit of a transcript: no turn twice, none lost, each change told once',
  smoke: SOME_KILLS,
  full: ALL_KILLS,
  run: transcriptKills,
});

async function transcriptKills(t: Test, kills: Kills): Promise<void> {
  const server = await Servers.open(t, { env: { CHUNK_WORKER: '1', CONTENT_WORKER: '0' } });
  let { access_token } = await server.signIn(EMAIL);
  const app = () => server.client(access_token);
  const source = await app().ask<{ id: string }>('POST', '/sources', { name: 'Desk' });

  /** A minute of audio of a stream; gives where it goes. */
  const announce = async (stream_id: string) => {
    const path = `/audio/streams/${stream_id}/chunks/intents`;
    const { upload_path } = await app().ask<{ upload_path: string }>('POST', path, {
      ...{ source_chunk_ref: randomUUID(), sequence: 0, source_start_ms: 0, publication_start_ms: 0 },
      ...{ source_end_ms: WINDOW_MS, codec: 'pcm_s16le', container: 'wav' },
      ...{ size_bytes: WAV.length, sha256: sha256Of(WAV) },
    });
    return upload_path;
  };
  const upload = async (upload_path: string) => {
    const headers = { authorization: `Bearer ${access_token}` };
    const put = await fetch(server.base_url + upload_path, { method: 'PUT', headers, body: new Uint8Array(WAV) });
    return String(put.status);
  };
  const registered = async () =>
    (
      await app().ask<{ id: string }>('POST', '/audio/streams', {
        source_id: source.id,
        captured_at: '2026-11-01T10:00:00Z',
      })
    ).id;
  const claim = async (stream_id: string): Promise<WorkView> => {
    let work: WorkView | undefined;
    await until('a window is due', async () => {
      await server.operator.advanceClock(LEASES_OVER_MS);
      const { items } = await server.operator.ask<{ items: WorkView[] }>('POST', '/ops/jobs/claim', {
        limit: 20,
        lease_s: 3_600,
      });
      work = items.find((one) => one.stream_id === stream_id);
      return work !== undefined;
    });
    return work as WorkView;
  };
  const claimed = async (): Promise<Recording> => {
    const stream_id = await registered();
    await upload(await announce(stream_id));
    return { stream_id, work: await claim(stream_id) };
  };
  const publish = ({ work }: Recording, turns: Said[]) =>
    answerOf(server.operator.ask('POST', `/ops/jobs/${work.job}/publish`, { claim: work.claim, turns }));
  const published = async (turns: Said[]): Promise<Recording & { turns: Turn[] }> => {
    const recording = await claimed();
    t.equal(await publish(recording, turns), '200');
    return { ...recording, turns: await turnsOf(recording.stream_id) };
  };
  const turnsOf = async (stream_id: string): Promise<Turn[]> => {
    const turns: Turn[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path = `/turns?stream_id=${stream_id}&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page: { items: Turn[]; cursor: string | null } = await app().ask('GET', path);
      turns.push(...page.items);
      ({ cursor } = page);
    }
    return turns;
  };
  const contact = async (name: string) => (await app().ask<{ id: string }>('POST', '/contacts', { name })).id;
  const ask = (method: string, path: string, body?: unknown) => answerOf(app().ask(method, path, body));

  /** The types of events of these resources, once all that is to be told is told. */
  const toldOf = async (ids: readonly string[], type: string) => {
    await server.operator.advanceClock(LEASES_OVER_MS);
    const events = (await allOf<Event>(app(), '/events')).filter((event) => event.type === type);
    const counts = new Map(ids.map((id) => [id, 0]));
    for (const { resource } of events) {
      const count = counts.get(resource.id);
      if (count !== undefined) counts.set(resource.id, count + 1);
    }
    return [...counts.values()];
  };
  const toldOnce = async (t: Test, turns: readonly { id: string }[], type: string) => {
    const counts = await toldOf(
      turns.map(({ id }) => id),
      type,
    );
    t.ok(
      counts.every((count) => count === 1),
      `${type}: each of ${turns.length} once (${[...new Set(counts)]})`,
    );
  };
  const texts = (turns: readonly Turn[]) => turns.map(({ text }) => text);
  const few = [said('One two three.', [0, 3_000], 'A'), said('Four five.', [4_000, 6_000], 'B')];
  const many = Array.from({ length: MANY_TURNS }, (_, at) =>
    said(`Turn ${at}.`, [at * 190, at * 190 + 180], 'AB'[at % 2]),
  );

  const STEPS: Record<string, () => Promise<Step>> = {
    async 'audio becomes a window'() {
      const stream_id = await registered();
      const upload_path = await announce(stream_id);
      return {
        async ask() {
          const status = await upload(upload_path);
          await server.operator.advanceClock(0); // what was stored is processed
          return status;
        },
        async check(t) {
          const work = await claim(stream_id);
          t.match(work, { from_ms: 0, to_ms: WINDOW_MS });
          t.equal(await publish({ stream_id, work }, few), '200');
          t.same(texts(await turnsOf(stream_id)), texts(few as unknown as Turn[]));
          const { items } = await server.operator.ask<{ items: WorkView[] }>('POST', '/ops/jobs/claim', { limit: 20 });
          t.notOk(
            items.some((other) => other.stream_id === stream_id),
            'and not once more',
          );
        },
      };
    },
    async publish() {
      const recording = await claimed();
      return {
        ask: () => publish(recording, few),
        async check(t) {
          const turns = await turnsOf(recording.stream_id);
          t.same(texts(turns), texts(few as unknown as Turn[]));
          await toldOnce(t, turns, 'turn.created');
        },
      };
    },
    async 'replace by a later run'() {
      const { stream_id } = await published(few);
      await server.operator.ask('POST', `/ops/streams/${stream_id}/reprocess`, {});
      const again = { stream_id, work: await claim(stream_id) };
      const other = [said('Six seven.', [0, 3_000], 'A')];
      return {
        ask: () => publish(again, other),
        async check(t) {
          t.same(texts(await turnsOf(stream_id)), ['Six seven.']);
          t.same(await toldOf([again.work.run_id], 'run.published'), [1]);
        },
      };
    },
    async 'correct a turn'() {
      const { turns } = await published(few);
      const [turn, who] = [turns[0] as Turn, await contact('Bob')];
      return {
        ask: () => ask('PATCH', `/turns/${turn.id}`, { contact_id: who }),
        async check(t) {
          t.match(await app().ask('GET', `/turns/${turn.id}`), { contact_id: who, attribution: 'manual' });
          await toldOnce(t, [turn], 'turn.updated');
        },
      };
    },
    async 'split a turn'() {
      const { stream_id, turns } = await published(few);
      const turn = turns[0] as Turn;
      return {
        ask: () => ask('POST', `/turns/${turn.id}/split`, { at_ms: 2_000 }),
        again: ['409 CONFLICT'], // it was split already, and ends there
        async check(t) {
          const now = await turnsOf(stream_id);
          t.same(texts(now), ['One two', 'three.', 'Four five.']);
          await toldOnce(t, now, 'turn.created');
        },
      };
    },
    async 'delete a turn'() {
      const { stream_id, turns } = await published(few);
      const turn = turns[0] as Turn;
      return {
        ask: () => ask('DELETE', `/turns/${turn.id}`),
        again: ['404 NOT_FOUND'],
        async check(t) {
          t.same(texts(await turnsOf(stream_id)), ['Four five.']);
          await toldOnce(t, [turn], 'turn.deleted');
        },
      };
    },
    async 'name a speaker'() {
      const { stream_id, turns } = await published(many);
      const who = await contact('Eva');
      return {
        ask: () => ask('PATCH', `/audio/streams/${stream_id}/speakers/S1`, { contact_id: who }),
        async check(t) {
          const of_first = turns.filter(({ speaker }) => speaker === 'S1');
          await toldOnce(t, of_first, 'turn.updated');
          const named = (await turnsOf(stream_id)).filter(({ contact_id }) => contact_id === who);
          t.equal(named.length, of_first.length);
        },
      };
    },
    async 'merge speakers'() {
      const { stream_id, turns } = await published(many);
      return {
        ask: () => ask('POST', `/audio/streams/${stream_id}/speakers/S2/merge`, { into: 'S1' }),
        async check(t) {
          await toldOnce(
            t,
            turns.filter(({ speaker }) => speaker === 'S2'),
            'turn.updated',
          );
          t.ok((await turnsOf(stream_id)).every(({ speaker }) => speaker === 'S1'));
        },
      };
    },
    async 'merge contacts'() {
      const { stream_id, turns } = await published(few);
      const [one, other] = [await contact('Ann'), await contact('Anna')];
      await ask('PATCH', `/turns/${turns[0]?.id}`, { contact_id: one });
      return {
        ask: () => ask('POST', `/contacts/${one}/merge`, { into: other }),
        async check(t) {
          t.equal((await turnsOf(stream_id))[0]?.contact_id, other);
          const counts = await toldOf([turns[0]?.id as string], 'turn.updated');
          t.same(counts, [2], 'once when it got a contact, once when that became another');
        },
      };
    },
  };

  await killWithin<Step>(t, server, { steps: STEPS, kinds: KINDS, kills }, async ({ nth, step, answer }, t) => {
    ({ access_token } = await server.signIn(EMAIL));
    const again = answer ?? (await step.ask());
    t.ok(['200', ...(answer === null ? (step.again ?? []) : [])].includes(again), `after commit ${nth}: ${again}`);
    await step.check(t);
  });
  t.same(await storedSearchFaults(await server.connect()), [], 'what search knows is what is there');
}

/** `200`, or status and code of a refusal. */
function answerOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => '200',
    (error: unknown) => {
      if (error instanceof CallRefused) return `${error.status} ${error.code}`;
      throw error;
    },
  );
}
