import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import type { Event } from '../../../kits/typescript/src/api.js';
import { sha256Of } from '../../../kits/typescript/src/device_client.js';
import { libraryId, partitionOfId, streamOfChunk } from '../../../src/domain/ids.js';
import { isRefused } from '../../../src/domain/refusals.js';
import { dueIndex } from '../../../src/domain/retention.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { waveformKey } from '../../../src/engine/blobs/blob_keys.js';
import { keysOf } from '../../../src/engine/store/partitions.js';
import { TestAccount } from '../../fixtures/account.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { allOf } from '../../fixtures/colleagues.js';
import { record } from '../../fixtures/recording.js';
import { everyKey, ownRedisOf } from '../../fixtures/redis_content.js';
import { TestSpool } from '../../fixtures/spool.js';
import { keyOfChunk, liesInSegment } from '../../fixtures/stored_audio.js';
import { until } from '../../fixtures/until.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const CAPTURED = '2026-01-01T10:00:00.000Z';
const wav = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 1_000 }) }, Buffer.alloc(200, 7));

type Days = Partial<Record<'audio' | 'transcripts' | 'insights' | 'voice', { days: number | null }>>;
type Applied = Event & {
  data: { changed_fields: string[]; buckets: Record<string, { cutoff: string | null; count: number }> };
};
type Chunk = { id: string; status: string; upload_started_at: string | null; stored_at: string | null };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const redis = await ownRedisOf(spool.folder);
t.teardown(() => redis.disconnect());

/** Somebody with a private workspace; signs in again when days have passed. */
class Person {
  app!: AppClient;
  id = '';
  workspace = '';
  private constructor(readonly email: string) {}

  static async of(name: string): Promise<Person> {
    const person = new Person(`${name}@x.test`);
    await person.signIn();
    const [own] = (await person.app.ask<{ workspaces: { id: string }[] }>('GET', '/me')).workspaces;
    person.workspace = own?.id ?? '';
    return person;
  }

  async signIn(): Promise<void> {
    const { app, session } = await spool.signIn(this.email);
    this.app = app;
    this.id = session.user.id;
  }

  keep(retention: Days, workspace = this.workspace): Promise<unknown> {
    return this.app.ask('PATCH', `/workspaces/${workspace}`, { retention });
  }

  entitle(name: string, enabled: boolean): Promise<unknown> {
    return spool.operator.ask('PUT', `/ops/accounts/${this.email}/entitlements/${name}`, { enabled });
  }

  events(): Promise<Event[]> {
    return allOf<Event>(this.app, '/events');
  }

  async applied(): Promise<Applied[]> {
    return (await this.events()).filter(({ type }) => type === 'workspace.retention_applied') as Applied[];
  }

  async source(): Promise<string> {
    return (await this.app.ask<{ id: string }>('POST', '/sources', { name: 'Desk' })).id;
  }

  async stream(title: string | null = null): Promise<string> {
    const body = { source_id: await this.source(), captured_at: CAPTURED, title };
    return (await this.app.ask<{ id: string }>('POST', '/audio/streams', body)).id;
  }

  async upload(stream_id: string, sequence: number): Promise<string> {
    const chunk = await this.app.ask<{ chunk_id: string; upload_path: string }>(
      ...(['POST', `/audio/streams/${stream_id}/chunks/intents`] as const),
      {
        ...{ source_chunk_ref: randomUUID(), sequence, codec: 'pcm_s16le', container: 'wav' },
        ...{ source_start_ms: sequence * 100, publication_start_ms: sequence * 100 },
        ...{ source_end_ms: sequence * 100 + 100, size_bytes: wav.length, sha256: sha256Of(wav) },
      },
    );
    const status = await this.put(chunk.upload_path);
    if (status !== 200) throw new Error(`an upload was answered with ${status}`);
    return chunk.chunk_id;
  }

  async put(path: string, bytes = wav): Promise<number> {
    const headers = { Authorization: `Bearer ${this.app.access_token}`, 'Content-Type': 'application/octet-stream' };
    return (await fetch(spool.base_url + path, { method: 'PUT', headers, body: Uint8Array.from(bytes) })).status;
  }

  signal(stream_id: string, ref: string, payload: unknown = { said: ref }): Promise<{ items: { id: string }[] }> {
    const signals = [{ ref, type: 'meeting.note', start_ms: 0, payload }];
    return this.app.ask('POST', `/audio/streams/${stream_id}/signals`, { signals });
  }

  async chunks(stream_id: string): Promise<Chunk[]> {
    return allOf<Chunk>(this.app, `/audio/streams/${stream_id}/chunks`);
  }

  async says(method: string, path: string, body?: unknown): Promise<string> {
    const answer = await this.app.send(method, path, { body });
    const { error } = answer.body.length === 0 ? { error: undefined } : JSON.parse(answer.body.toString());
    return error === undefined ? String(answer.status) : `${answer.status} ${error.code}`;
  }
}

/** Moves the clock, until all that is due is done, and signs in again. */
async function pass(ms: number, ...people: Person[]): Promise<void> {
  await spool.operator.advanceClock(ms);
  if (ms >= HOUR_MS) for (const person of people) await person.signIn();
}

/** One sweep of a private workspace with this cutoff, as an hour would begin it; everything else is kept. */
async function sweep(person: Person, cutoffs: Record<string, number | null>): Promise<void> {
  const { actors } = spool.server.services;
  const library = actors.library(libraryId(person.id, person.workspace));
  await library.open({ account_id: person.id, workspace_id: person.workspace });
  const began_at_ms = spool.server.services.clock.now();
  const asked = { workspace_id: person.workspace, sweep_id: `test ${began_at_ms}`, began_at_ms, cutoffs };
  await library.sweep(asked);
  await spool.server.services.retention.worker.look();
  await until('it is counted', async () => {
    return (await library.view()).sweep === null;
  });
}

/** What is published of all windows that wait: one turn for each. */
async function transcribe(stream_id: string): Promise<void> {
  await until('its audio is processed', async () => {
    await spool.operator.advanceClock(11_000);
    const claimed = await spool.operator.ask<{
      items: { job: string; claim: string; stream_id: string; from_ms: number }[];
    }>(...(['POST', '/ops/jobs/claim', { kinds: ['transcribe'], limit: 20, lease_s: 60 }] as const));
    for (const { job, claim, from_ms } of claimed.items) {
      const turns = [{ start_ms: from_ms, end_ms: from_ms + 50, text: 'marked words spoken' }];
      await spool.operator.ask('POST', `/ops/jobs/${encodeURIComponent(job)}/publish`, { claim, turns });
    }
    return claimed.items.some((work) => work.stream_id === stream_id);
  });
}

t.test(
  'I-018 I-019 I-021 I-023 I-024 G-017 K-377 what is older than a workspace keeps it goes, and one event says how much',
  async (t) => {
    const ann = await Person.of('ann');
    const [stream, kept] = [await ann.stream('Talk with Dr. Grey'), await ann.stream('Kept')];
    const chunk = await ann.upload(stream, 0);
    await ann.upload(stream, 1);
    const kept_chunk = await ann.upload(kept, 0);
    const kept_key = await keyOfChunk(spool.server.services.actors, kept_chunk);
    await transcribe(stream);
    const turns = await allOf<{ id: string }>(ann.app, '/turns');
    t.ok(turns.length > 0);
    const [signal] = (await ann.signal(stream, 'one')).items;
    await ann.signal(stream, 'empty', {});
    t.equal((await ann.app.send('GET', `/audio/streams/${kept}/waveform`)).status, 200);
    t.ok(await spool.server.services.blobs.has(waveformKey(kept)));
    await ann.keep({ audio: { days: 30 }, transcripts: { days: 30 }, insights: { days: null } });
    await pass(25 * DAY_MS, ann);
    t.same(await ann.applied(), [], 'nothing is that old');
    await ann.signal(stream, 'young');
    await ann.upload(stream, 2);
    const before = await ann.events();
    await pass(6 * DAY_MS, ann);
    const [event, ...more] = await ann.applied();
    t.same(more, []);
    const told = event as Applied;
    t.same(told.resource, { type: 'workspace', id: ann.workspace });
    t.same(told.data.changed_fields, ['audio', 'transcripts']);
    t.equal(told.data.buckets.audio?.count, 4, 'three chunks and a title: the other stream has audio left');
    t.equal(told.data.buckets.transcripts?.count, turns.length + 2);
    for (const { cutoff } of Object.values(told.data.buckets)) {
      const age_ms = Date.parse(told.occurred_at) - Date.parse(cutoff as string);
      t.ok(Math.abs(age_ms - 30 * DAY_MS) < 60_000, cutoff as string);
    }
    t.same(
      (await ann.events()).filter(({ id }) => !before.some((known) => known.id === id)).map(({ type }) => type),
      ['workspace.retention_applied'],
      'nothing else was recorded',
    );
    t.notMatch(JSON.stringify(told), new RegExp(`${stream}|${chunk}|${signal?.id}`), 'no ids');

    t.same(
      (await ann.chunks(stream)).map(({ status }) => status),
      ['expired', 'expired', 'processed'],
    );
    t.equal(await ann.says('GET', `/audio/chunks/${chunk}/content`), '410 CONTENT_EXPIRED');
    t.equal(await ann.says('GET', `/audio/chunks/${kept_chunk}/content`), '410 CONTENT_EXPIRED');
    t.equal(await ann.says('GET', `/audio/streams/${kept}/content`), '410 CONTENT_EXPIRED');
    t.equal((await ann.app.send('GET', `/audio/streams/${stream}/content`)).headers['x-joined-chunks'], '1');
    t.match(await ann.app.ask('GET', `/audio/streams/${stream}`), {
      title: 'Talk with Dr. Grey',
      chunks: 3,
      stored_chunks: 1,
    });
    t.match(await ann.app.ask('GET', `/audio/streams/${kept}`), { title: null, stored_chunks: 0, stored_bytes: 0 });
    t.equal(await spool.server.services.blobs.open(kept_key), null);
    t.notOk(await spool.server.services.blobs.has(waveformKey(kept)));
    const { items: signals } = await ann.app.ask<{ items: { ref: string; payload: unknown }[] }>(
      ...(['GET', `/audio/streams/${stream}/signals`] as const),
    );
    t.match(
      signals.sort((a, b) => (a.ref < b.ref ? -1 : 1)),
      [
        { ref: 'empty', payload: null, payload_state: { state: 'expired', removed_at: /Z$/ } },
        { ref: 'one', payload: null, payload_state: { state: 'expired', removed_at: /Z$/ } },
        { ref: 'young', payload: { said: 'young' }, payload_state: { state: 'available', removed_at: null } },
      ],
    );
    t.match(
      await ann.signal(stream, 'one'),
      { items: [{ id: signal?.id, payload: null }] },
      'the same again is nothing new',
    );
    t.equal(
      await ann.says('POST', `/audio/streams/${stream}/signals`, {
        signals: [{ ref: 'one', type: 'other', start_ms: 0 }],
      }),
      '409 CONFLICT',
    );
    for (const turn of turns) t.equal(await ann.says('GET', `/turns/${turn.id}`), '410 CONTENT_EXPIRED');
    t.same(await allOf(ann.app, '/turns'), []);
    await pass(2 * HOUR_MS, ann);
    t.equal((await ann.applied()).length, 1, 'a sweep that removes nothing records nothing');
  },
);

t.test('I-020 each clock is compared to the millisecond, and each record goes by its own', async (t) => {
  const bob = await Person.of('bob');
  const stream = await bob.stream();
  for (const sequence of [0, 1, 2]) {
    await bob.upload(stream, sequence);
    await bob.signal(stream, `s${sequence}`);
    await pass(1_000);
  }
  await transcribe(stream);
  const [, second] = (await bob.chunks(stream)).map((chunk) => Date.parse(chunk.upload_started_at ?? ''));
  const signals = () => bob.app.ask<{ items: SignalView[] }>('GET', `/audio/streams/${stream}/signals`);
  type SignalView = { ref: string; created_at: string; payload_state: { state: string } };
  const statuses = async () => (await bob.chunks(stream)).map(({ status }) => status);
  const states = async () =>
    (await signals()).items.sort((a, b) => (a.ref < b.ref ? -1 : 1)).map(({ payload_state }) => payload_state.state);
  await sweep(bob, { audio: second as number });
  t.same(await statuses(), ['expired', 'processed', 'processed'], 'at the cutoff it stays');
  t.same(await states(), ['available', 'available', 'available'], 'another bucket stays');
  await sweep(bob, { audio: (second as number) + 1 });
  t.same(await statuses(), ['expired', 'expired', 'processed']);

  const posted = (await signals()).items.find(({ ref }) => ref === 's1')?.created_at ?? '';
  await sweep(bob, { transcripts: Date.parse(posted) });
  t.same(await states(), ['expired', 'available', 'available']);
  await sweep(bob, { transcripts: Date.parse(posted) + 1 });
  t.same(await states(), ['expired', 'expired', 'available']);

  const contacts = spool.server.services.actors.contacts(bob.id);
  const voice = { stream_id: stream, speaker: 1, model: 'm', embedding: new Uint8Array(8) };
  await contacts.learn_voice({ workspace_id: bob.workspace, ...voice });
  const learnt_ms = spool.server.services.clock.now();
  const voices = async () => (await contacts.voices({ workspace_id: bob.workspace })) as { voices: unknown[] };
  await sweep(bob, { voice: learnt_ms - 1_000 });
  t.equal((await voices()).voices.length, 1);
  await sweep(bob, { voice: learnt_ms + 1 });
  t.equal((await voices()).voices.length, 0);

  const [turn] = await allOf<{ id: string; published_at: string }>(bob.app, '/turns');
  const published_ms = Date.parse(turn?.published_at ?? '');
  await sweep(bob, { transcripts: published_ms });
  t.equal(await bob.says('GET', `/turns/${turn?.id}`), '200');
  await sweep(bob, { transcripts: published_ms + 1 });
  t.equal(await bob.says('GET', `/turns/${turn?.id}`), '410 CONTENT_EXPIRED');
});

t.test('I-018 I-019 X-37 what is not kept goes within the hour, what is kept for ever never', async (t) => {
  const cy = await Person.of('cy');
  const stream = await cy.stream('Not kept');
  await cy.upload(stream, 0);
  await transcribe(stream);
  await pass(400 * DAY_MS, cy);
  t.match(await cy.chunks(stream), [{ status: 'processed' }], 'null keeps for ever');
  await cy.keep({ audio: { days: 0 } });
  const waiting = await cy.upload(stream, 1);
  await pass(HOUR_MS + 60_000, cy);
  t.match(await cy.chunks(stream), [{ status: 'expired' }, { status: 'processed' }], 'one waits for its transcript');
  t.match((await cy.applied())[0]?.data.buckets, { audio: { cutoff: null, count: 1 } });
  await transcribe(stream);
  await pass(HOUR_MS, cy);
  t.match(await cy.chunks(stream), [{ status: 'expired' }, { id: waiting, status: 'expired' }]);
  t.match((await cy.applied())[0]?.data.buckets, { audio: { cutoff: null, count: 2 } }, 'the title goes with it');
  t.match(await cy.app.ask('GET', `/audio/streams/${stream}`), { title: null });
  await cy.upload(stream, 2);
  await pass(25 * HOUR_MS, cy);
  t.equal((await cy.chunks(stream)).at(-1)?.status, 'expired', 'after a day it waits no longer');
  await cy.keep({ audio: { days: null } });
  await cy.upload(stream, 3);
  await pass(30 * HOUR_MS, cy);
  t.equal((await cy.chunks(stream)).at(-1)?.status, 'processed');
});

t.test('I-025 each member of a shared workspace gets the event, whoever recorded there', async (t) => {
  const [dan, eve] = [await TestAccount.open(spool, 'dan@x.test'), await TestAccount.open(spool, 'eve@x.test')];
  const team = await dan.workspace('Team');
  await dan.bring(team.id, [eve]);
  const [by_dan, by_eve] = [
    await spool.hostSession(dan.app, { workspace_id: team.id }),
    await spool.hostSession(eve.app, { workspace_id: team.id }),
  ];
  const chunks: string[] = [];
  for (const { device, epoch } of [by_dan, by_eve, by_eve]) chunks.push((await record(device, { epoch })).chunk_id);
  await dan.ask('PATCH', `/workspaces/${team.id}`, { retention: { audio: { days: 1 }, voice: { days: 2 } } });
  await spool.operator.advanceClock(26 * HOUR_MS);
  for (const email of ['dan@x.test', 'eve@x.test']) {
    const { app } = await spool.signIn(email);
    const applied = (await allOf<Applied>(app, '/events')).filter(({ type }) => type === 'workspace.retention_applied');
    t.match(
      applied,
      [{ resource: { id: team.id }, data: { changed_fields: ['audio'], buckets: { audio: { count: 3 } } } }],
      email,
    );
    for (const id of chunks)
      t.equal((await app.send('GET', `/audio/chunks/${id}/content`)).status, 410, 'members read that it has expired');
  }
});

t.test('H-023 I-024 a device hears that what it stored has expired, and sends it in vain', async (t) => {
  const fay = await Person.of('fay');
  const { device, epoch: binding_epoch } = await spool.boundDevice(fay.app);
  const one = await record(device, { epoch: binding_epoch });
  const { source_stream_ref, source_chunk_ref, chunk_id, bytes } = one;
  const stream_id = streamOfChunk(chunk_id)?.stream_id as string;
  await sweep(fay, { audio: spool.server.services.clock.now() + 1 });
  const expired = { chunk_id, status: 'expired', stored_at: /Z$/, failure: null };
  t.match(await device.ask('GET', `/device/chunks/${chunk_id}`), expired);
  const refs = { binding_epoch, source_stream_ref, source_chunk_refs: [source_chunk_ref] };
  t.match(await device.ask('POST', '/device/chunks/status', refs), { items: [expired] });
  t.same(await device.ask('GET', `/device/streams/${source_stream_ref}/gaps?binding_epoch=${binding_epoch}`), {
    ...{ missing: [], truncated: false, awaiting_upload: 0 },
  });
  const intent = {
    ...{ source_chunk_ref, source_stream_ref, binding_epoch, sequence: 0 },
    ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000, codec: 'opus', container: 'ogg' },
    ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
  };
  const again = await device.ask<{ chunk_id: string; upload_path: string }>('POST', '/device/chunks/intents', intent);
  t.equal(again.chunk_id, chunk_id);
  t.match(await device.upload(again.upload_path, bytes), { status: 'expired' }, 'the same bytes are fine');
  const other = await device
    .upload(again.upload_path, randomBytes(bytes.length))
    .catch((error: Error) => error.message);
  t.match(other, /CHECKSUM_MISMATCH/);
  t.match(await device.ask('GET', `/device/chunks/${chunk_id}`), expired);
  t.match(await fay.app.ask('GET', `/audio/streams/${stream_id}`), { stored_chunks: 0 });
  const { chunk } = await spool.server.services.actors.stream(stream_id).chunk({ number: 1 });
  t.equal(chunk.place, null, 'its bytes are not here again');
  t.notOk(liesInSegment(join(spool.folder, 'blobs'), bytes));
});

t.test('I-018 what a deleted account has stays until it is restored', async (t) => {
  const gil = await Person.of('gil');
  const stream = await gil.stream();
  await gil.upload(stream, 0);
  await transcribe(stream);
  await gil.keep({ audio: { days: 1 } });
  t.equal(await gil.says('DELETE', '/me'), '204');
  await pass(3 * DAY_MS);
  const state = await spool.server.services.actors.stream(stream).view();
  t.match(state, { stored_chunks: 1 });
  await gil.signIn();
  t.equal(await gil.says('POST', '/me/restore'), '204');
  await pass(HOUR_MS, gil);
  t.match(await gil.chunks(stream), [{ status: 'expired' }], 'the first sweep after does it');
  t.equal((await gil.applied()).length, 1);
});

t.test('I-018 chunks that come while a sweep runs are in it or in the next one, and counted once', async (t) => {
  const hal = await Person.of('hal');
  const streams = await Promise.all(Array.from({ length: 4 }, () => hal.stream()));
  for (const stream of streams) for (let n = 0; n < 6; n++) await hal.upload(stream, n);
  await hal.keep({ audio: { days: 0 } });
  await hal.entitle('transcripts.access', false); // nothing waits for its text
  let uploaded = 24;
  const arriving = streams.map(async (stream) => {
    for (let n = 6; n < 60; n++) {
      await hal.upload(stream, n);
      uploaded += 1;
    }
  });
  for (const part of [20, 20, 10]) await spool.operator.advanceClock(part * 60_000);
  await Promise.all(arriving);
  await pass(HOUR_MS, hal);
  await hal.entitle('transcripts.access', true);
  const counts = (await hal.applied()).map(({ data }) => data.buckets.audio?.count ?? 0);
  t.ok(counts.length > 0, `${uploaded} chunks went in ${counts.join(', ')}`);
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    uploaded,
    'each is counted once',
  );
  for (const stream of streams) {
    t.same(new Set((await hal.chunks(stream)).map(({ status }) => status)), new Set(['expired']));
    t.same(
      await redis.zrange(keysOf(partitionOfId(stream)).order({ kind: 'stream', id: stream }, 'kept'), '0', '-1'),
      [],
    );
  }
  t.same(
    await redis.zrange(keysOf(partitionOfId(hal.id)).index(hal.id, dueIndex('audio', hal.workspace)), '0', '-1'),
    [],
  );
});

t.test('K-024 H-037 a deleted recording is gone at once and for good', async (t) => {
  const jo = await Person.of('jo');
  const { device, epoch: binding_epoch } = await spool.boundDevice(jo.app);
  const { source_stream_ref, source_chunk_ref, chunk_id, bytes } = await record(device, { epoch: binding_epoch });
  const id = streamOfChunk(chunk_id)?.stream_id as string;
  await jo.signal(id, 'said', { words: 'marked' });
  await jo.app.ask('PATCH', `/audio/streams/${id}`, { title: 'Marked title' });
  const { source_id } = await jo.app.ask<{ source_id: string }>('GET', `/audio/streams/${id}`);
  const before = (await jo.events()).length;
  const stranger = await Person.of('stranger');
  t.equal(await stranger.says('DELETE', `/audio/streams/${id}`), '404 NOT_FOUND');
  t.equal(await jo.says('DELETE', `/audio/streams/${id}`), '204');
  const paths = ['', '/chunks', '/content', '/signals'].map((rest) => `/audio/streams/${id}${rest}`);
  const gone = async () => {
    for (const path of [...paths, `/audio/chunks/${chunk_id}/content`, '/turns?stream_id='.concat(id)])
      t.equal(await jo.says('GET', path), '404 NOT_FOUND', path);
    t.equal(await jo.says('DELETE', `/audio/streams/${id}`), '404 NOT_FOUND', 'a second time');
    const signals = [{ ref: 'late', type: 'a.b', start_ms: 0 }];
    t.equal(await jo.says('POST', `/audio/streams/${id}/signals`, { signals }), '404 NOT_FOUND');
    const { items } = await jo.app.ask<{ items: { id: string }[] }>('GET', '/audio/streams');
    t.notOk(items.some((stream) => stream.id === id));
    const stream = { source_stream_ref, captured_at: CAPTURED, clock_uncertainty_ms: 0, binding_epoch };
    const intent = {
      ...{ source_chunk_ref, source_stream_ref, binding_epoch, sequence: 0 },
      ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000, codec: 'opus', container: 'ogg' },
      ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
    };
    const said = (asked: Promise<unknown>) => asked.then(() => 'taken').catch((error: Error) => error.message);
    const deleted = /404 NOT_FOUND: This recording was deleted/;
    t.match(await said(device.ask('POST', '/device/streams', stream)), deleted);
    t.match(await said(device.ask('POST', '/device/chunks/intents', intent)), deleted);
    t.match(
      await said(device.ask('POST', '/device/streams/end', { source_stream_ref, end_ms: 9_000, binding_epoch })),
      deleted,
    );
    t.match(await said(device.upload(`/device/chunks/${chunk_id}/content`, bytes)), /404/);
  };
  await gone();
  await pass(60_000);
  t.notOk(liesInSegment(join(spool.folder, 'blobs'), bytes), 'its bytes are removed');
  const left = (await everyKey(redis)).filter(
    ({ key, bytes: content }) => key.includes(id) || content.includes('Marked title') || content.includes('marked'),
  );
  const at = keysOf(partitionOfId(id));
  t.same(
    left.filter(({ ttl_ms }) => ttl_ms === null).map(({ key }) => key),
    [at.entity({ kind: 'stream', id }), at.fence(id)].sort(),
  );
  await gone();
  const after = await jo.events();
  t.match(after.slice(0, after.length - before), [
    { type: 'stream.deleted', resource: { type: 'stream', id }, data: { source_id } },
  ]);

  const silent = await jo.stream();
  const of = await jo.app.ask<{ source_id: string }>('GET', `/audio/streams/${silent}`);
  t.equal(await jo.says('DELETE', `/sources/${of.source_id}`), '204');
  const known = (await jo.events()).length;
  t.equal(await jo.says('DELETE', `/audio/streams/${silent}`), '204');
  t.equal((await jo.events()).length, known, 'of a deleted source nothing is recorded');
});

t.test('I-022 I-023 an insight goes by its last change, and counts one with its revisions', async (t) => {
  const ann = await Person.of('insights');
  const { actors } = spool.server.services;
  const place = { account_id: ann.id, workspace_id: ann.workspace };
  const library = actors.library(libraryId(ann.id, ann.workspace));
  const remember = async (text: string) => {
    const made = await library.create_memory({ ...place, text, kind: 'fact', stems: text.split(' ') });
    return made.number;
  };
  const refusal = async (number: number) => {
    try {
      await library.item({ kind: 'memory', number });
      return 'there';
    } catch (error) {
      return isRefused(error) ? error.code : error;
    }
  };
  await ann.keep({ insights: { days: 30 } });
  const [old, changed] = [await remember('marked words one'), await remember('marked words two')];
  await pass(25 * DAY_MS, ann);
  await library.edit_memory({ number: changed, text: 'marked words three', stems: ['three'] });
  await library.edit_memory({ number: changed, text: 'marked words four', stems: ['four'] });
  await pass(6 * DAY_MS, ann);
  await until('the sweep is over', async () => (await ann.applied()).length > 0);
  t.match(await ann.applied(), [{ data: { changed_fields: ['insights'], buckets: { insights: { count: 1 } } } }]);
  t.same([await refusal(old), await refusal(changed)], ['CONTENT_EXPIRED', 'there']);
  await pass(25 * DAY_MS, ann);
  await until('the next one is', async () => (await ann.applied()).length > 1);
  t.match((await ann.applied())[0], { data: { buckets: { insights: { count: 1 } } } });
  t.equal(await refusal(changed), 'CONTENT_EXPIRED');
  t.notOk(
    (await everyKey(redis)).some(({ bytes }) => bytes.includes('marked words')),
    'nothing of their texts is stored',
  );
  const late = await remember('said later');
  await sweep(ann, { insights: null });
  t.equal(await refusal(late), 'CONTENT_EXPIRED', 'what is not kept at all goes with the next sweep');
});
