import t from 'tap';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { LiveReader } from '../../fixtures/live_text.js';
import { OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

const SETTINGS = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' };
const spool = await TestSpool.start(SETTINGS);
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);

/** A recording that goes on, with one published turn. */
async function begun(): Promise<TestRecording> {
  const recording = await TestRecording.begin(ann);
  await recording.add(60_000);
  await worker.publish(await worker.claim(recording.id), [said('Good morning.', [500, 2_000])]);
  return recording;
}

await t.test('K-170 turns come as they are published and changed, then the end', async (t) => {
  const recording = await begun();
  const reader = await LiveReader.open(ann, recording.id);
  await until('what was said before is there', () => reader.turns.length === 1);
  await recording.add(30_000);
  await recording.end();
  const work = await worker.claim(recording.id);
  await worker.publish(work, [said('Let us begin.', [61_000, 62_000]), said('Yes.', [63_000, 64_000])]);
  await until('the new turns are there', () => reader.turns.length === 3);
  await reader.hasEnded();
  t.equal(reader.events.at(-1)?.event, 'end');
  t.same(reader.turns, await recording.turns(), 'as they are read elsewhere');

  const late = await LiveReader.open(ann, recording.id);
  await late.hasEnded();
  t.same(late.texts, ['Good morning.', 'Let us begin.', 'Yes.'], 'who comes later hears all of it');
});

await t.test('K-170 what people change takes the place of what was said', async () => {
  const recording = await begun();
  const reader = await LiveReader.open(ann, recording.id);
  await until('the turn is there', () => reader.turns.length === 1);
  const [turn] = reader.turns;
  await ann.ask('PATCH', `/turns/${turn?.id}`, { text: 'Good morning, Mira.' });
  await until('the correction is there', () => reader.texts[0] === 'Good morning, Mira.');
  await ann.ask('DELETE', `/turns/${turn?.id}`);
  await until('it is gone', () => reader.turns.length === 0);
  reader.close();
});

await t.test('K-171 who comes again gets what was published since', async (t) => {
  const recording = await begun();
  const first = await LiveReader.open(ann, recording.id);
  await until('the turn is there', () => first.turns.length === 1);
  first.close();
  const last_id = first.last_id as string;
  const same = await LiveReader.open(ann, recording.id, { last_id });
  await recording.add(30_000);
  await recording.end();
  await worker.publish(await worker.claim(recording.id), [said('Let us begin.', [61_000, 62_000])]);
  await same.hasEnded();
  t.same(same.texts, ['Let us begin.'], 'nothing that was there already');
  const later = await LiveReader.open(ann, recording.id, { last_id });
  await later.hasEnded();
  t.same(later.texts, ['Good morning.', 'Let us begin.']);
  t.equal((await LiveReader.open(ann, recording.id, { last_id: 'x' })).status, 400);
});

await t.test('K-172 only who may read the stream reads it, and only so many at once', async (t) => {
  const recording = await begun();
  t.equal((await LiveReader.open(bob, recording.id)).status, 404);
  t.equal(await ann.says('GET', '/audio/streams/0198f3a2-5c1e-7b60-8d3f-2a4b6c8d0e1f/live'), '404 NOT_FOUND');
  const readers: LiveReader[] = [];
  for (let count = 0; count < LIMITS.live_watchers_per_account_max; count++)
    readers.push(await LiveReader.open(ann, recording.id));
  t.ok(readers.every(({ status }) => status === 200));
  t.equal((await LiveReader.open(ann, recording.id)).status, 429);
  t.equal(await ann.says('GET', '/me'), '200', 'they take no place among the requests of the account');
  for (const reader of readers) reader.close();
  await until('there is room again', async () => {
    const reader = await LiveReader.open(ann, recording.id);
    reader.close();
    return reader.status === 200;
  });
});

await t.test('K-172 who may not read a stream hears what is said of one that does not exist', async (t) => {
  const { id } = await begun();
  const refusalOf = async (app: AppClient, stream_id: string) => {
    const { status, error } = await tell(app, 'GET', `/audio/streams/${stream_id}/live`);
    return { status, code: error.code, message: error.message };
  };
  const absent = await refusalOf(ann.app, '0198f3a2-5c1e-7b60-8d3f-2a4b6c8d0e1f');
  t.match(absent, { status: 404, code: 'NOT_FOUND' });
  t.same(await refusalOf(bob.app, id), absent);
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'Player', permissions: ['audio:read'] },
  });
  t.match(await refusalOf(bearer(spool, value), id), { status: 403 }, 'it needs turns:read');
});

await t.test('K-172 it ends with the recording, and with the credential', async (t) => {
  const [gone, kept] = [await begun(), await begun()];
  const of_gone = await LiveReader.open(ann, gone.id);
  await ann.ask('DELETE', `/audio/streams/${gone.id}`);
  await of_gone.hasEnded();
  t.notOk(of_gone.events.some(({ event }) => event === 'end'));

  const { app } = await spool.signIn('ann@x.test');
  const made = await ann.ask<{ token: { id: string }; value: string }>('POST', '/me/tokens', {
    ...{ name: 'Subtitles', permissions: ['turns:read'] },
  });
  const ios = OauthApp.first(spool, 'svc-ios');
  const granted = await ios.signInNatively('ann@x.test');
  const by_grant = bearer(spool, granted.access_token);
  const of_session = await LiveReader.open({ spool, app }, kept.id);
  const of_token = await LiveReader.open({ spool, app: { access_token: made.value } }, kept.id);
  const of_grant = await LiveReader.open({ spool, app: by_grant }, kept.id);
  const of_other_session = await LiveReader.open(ann, kept.id);
  for (const { status } of [of_session, of_token, of_grant, of_other_session]) t.equal(status, 200);
  await app.send('POST', '/auth/logout');
  await ann.ask('DELETE', `/me/tokens/${made.token.id}`);
  await ios.token({ token: granted.refresh_token });
  for (const reader of [of_session, of_token, of_grant]) {
    await reader.hasEnded();
    t.notOk(reader.events.some(({ event }) => event === 'end'));
  }
  t.notOk(of_other_session.is_closed, 'other credentials go on');
  of_other_session.close();
});

await t.test('K-172 it ends for members who leave, and with the account', async (t) => {
  const [dora, eve] = [await TestAccount.open(spool, 'dora@x.test'), await TestAccount.open(spool, 'eve@x.test')];
  const { id: workspace_id } = await dora.workspace('Team');
  await dora.bring(workspace_id, [eve]);
  const { id: source_id } = await dora.ask<{ id: string }>('POST', '/sources', { name: 'Desk' });
  const place = { workspace_id, source_id, captured_at: '2026-11-01T10:00:00.000Z' };
  const shared = await TestRecording.inWorkspace(dora, place);
  const own = await TestRecording.begin(dora, { source_id });
  const readers = [await LiveReader.open(eve, shared.id), await LiveReader.open(dora, own.id)];
  for (const { status } of readers) t.equal(status, 200);
  const [of_member, of_owner] = readers as [LiveReader, LiveReader];
  await dora.ask('DELETE', `/workspaces/${workspace_id}/members/${eve.id}`);
  await of_member.hasEnded();
  t.notOk(of_owner.is_closed);
  await dora.ask('DELETE', '/me');
  await of_owner.hasEnded();
  t.notOk(of_owner.events.some(({ event }) => event === 'end'));
});

await t.test('K-172 it ends with the server', async (t) => {
  const other = await TestSpool.start(SETTINGS);
  const cy = await TestAccount.open(other, 'cy@x.test');
  const recording = await TestRecording.begin(cy);
  const reader = await LiveReader.open(cy, recording.id);
  const [ended] = await Promise.all([reader.hasEnded().then(() => true), other.end()]);
  t.ok(ended);
});
