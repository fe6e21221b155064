import t from 'tap';
import type { Contact, Spoken } from '../../../kits/typescript/src/api.js';
import { ownPrincipal } from '../../../src/access/principal.js';
import { permissionsOf } from '../../../src/domain/permissions.js';
import { readSpoken } from '../../../src/features/transcripts/spoken.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const worker = new TestTranscriber(spool);
const ines = await ann.ask<Contact>('POST', '/contacts', { name: 'Ines' });
const spokenBy = (id: string) => ann.ask<Spoken>('GET', `/contacts/${id}/spoken`);
const NOTHING = { turns: 0, talk_ms: 0, recordings: 0, last_heard_at: null, is_complete: true };

async function recorded(captured_at: string): Promise<TestRecording> {
  const recording = await TestRecording.begin(ann, { captured_at });
  await recording.add(9_000);
  await recording.end();
  const spoken = [
    said('The fence is broken.', [500, 2_000], 'A'),
    said('Which one?', [2_500, 3_000], 'B'),
    said('The one by the road.', [4_000, 6_000], 'A'),
  ];
  await worker.publish(await worker.claim(recording.id), spoken);
  return recording;
}

await t.test('K-340 a contact that said nothing', async (t) => {
  t.same(await spokenBy(ines.id), NOTHING);
});

await t.test('K-340 what a contact said in all of its recordings', async (t) => {
  for (const captured_at of ['2026-11-01T10:00:00.000Z', '2026-11-03T10:00:00.000Z']) {
    const recording = await recorded(captured_at);
    await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id: ines.id });
  }
  await recorded('2026-11-05T10:00:00.000Z'); // of which nobody is named
  t.same(await spokenBy(ines.id), {
    ...{ turns: 4, talk_ms: 7_000, recordings: 2 },
    ...{ last_heard_at: '2026-11-03T10:00:04.000Z', is_complete: true },
  });
});

await t.test('K-341 it stops at its bounds, and says so', async (t) => {
  const { services } = spool.server;
  const account = await services.actors.account(ann.id).view();
  const who = ownPrincipal(account, permissionsOf(account.entitlements));
  const newest = { turns: 2, recordings: 1, last_heard_at: '2026-11-03T10:00:04.000Z', is_complete: false };
  for (const bounds of [
    { streams: 1, pages: 64 },
    { streams: 100, pages: 1 },
  ])
    t.match(await readSpoken(services, who, ines.id, bounds), newest);
});

await t.test('K-340 of a merged contact it is what the remaining one said, and of a deleted one nothing', async (t) => {
  const { id: into } = await ann.ask<Contact>('POST', '/contacts', { name: 'Ines Berg' });
  await ann.ask('POST', `/contacts/${ines.id}/merge`, { into });
  t.equal((await spokenBy(ines.id)).turns, 4);
  t.same(await spokenBy(into), await spokenBy(ines.id));
  await ann.ask('DELETE', `/contacts/${into}`);
  t.equal(await ann.says('GET', `/contacts/${into}/spoken`), '404 NOT_FOUND');
});

await t.test('K-340 others do not read it', async (t) => {
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const { id } = await ann.ask<Contact>('POST', '/contacts', { name: 'Tom' });
  t.equal(await bob.says('GET', `/contacts/${id}/spoken`), '404 NOT_FOUND');
});
