import { randomUUID } from 'node:crypto';
import t from 'tap';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Related = {
  items: { stream_id: string; title: string | null; start_ms: number; words: string[] }[];
  cursor: null;
};

const KILN = [
  'The kiln needs a new thermocouple before the glaze firing.',
  'Stoneware cracked on the lower shelf of the kiln again.',
  'We order cones and a thermocouple from the potter in Leeds.',
];
const KILN_LATER = [
  'Morning, did you sleep well?',
  'The thermocouple came, so the kiln can have its glaze firing on Friday.',
  'And the stoneware on the lower shelf did not crack this time.',
];
const BOAT = ['The rudder of the dinghy is loose.', 'We sand the hull and varnish the mast in spring.'];

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);
const recorded = async (who: TestAccount, texts: readonly string[]) => {
  const recording = await TestRecording.begin(who);
  await recording.add(60_000);
  await recording.end();
  const turns = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], 'A'));
  await worker.publish(await worker.claim(recording.id), turns);
  return recording.id;
};
const read = (who: TestAccount, id: string) => who.ask<Related>('GET', `/audio/streams/${id}/related`);

const kiln = await recorded(ann, KILN);
const later = await recorded(ann, KILN_LATER);
const boat = await recorded(ann, BOAT);
await recorded(bob, KILN_LATER);
await ann.ask('PATCH', `/audio/streams/${later}`, { title: 'Second firing' });

t.test('K-278 a recording about the same is shown with its words and its moment', async (t) => {
  const { items, cursor } = await read(ann, kiln);
  t.equal(cursor, null);
  t.equal(items.length, 1, 'nothing of the boat, nothing of others');
  t.match(items, [{ stream_id: later, title: 'Second firing', start_ms: 5_000 }]);
  t.same(items[0]?.words.map((word) => word.toLowerCase()).includes('thermocouple'), true);
  t.match((await read(ann, later)).items, [{ stream_id: kiln, title: null }]);
  t.same((await read(ann, boat)).items, []);
});

t.test('K-278 who may read it, and what is gone', async (t) => {
  t.equal(await bob.says('GET', `/audio/streams/${kiln}/related`), '404 NOT_FOUND');
  t.equal(await ann.says('GET', `/audio/streams/${randomUUID()}/related`), '404 NOT_FOUND');
  const made = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'x', permissions: ['audio:read'], expires_at: null },
  });
  t.equal((await bearer(spool, made.value).send('GET', `/audio/streams/${kiln}/related`)).status, 403);
  await ann.ask('DELETE', `/audio/streams/${later}`);
  t.same((await read(ann, kiln)).items, []);
});
