import t from 'tap';
import type { Stream } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import { TestSpool } from '../../fixtures/spool.js';
import { TestRecording } from '../../fixtures/transcribing.js';

/** Notes of recordings in their list. */

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');

await t.test('K-378 notes are shown on request, bounded, to whoever reads signals', async (t) => {
  const { id } = await TestRecording.begin(ann);
  const path = `/audio/streams/${id}`;
  t.same((await ann.ask<Stream>('GET', `${path}?include=notes`)).notes, []);
  const note = (n: number, payload: object, type = 'note') => ({ ref: `n${n}`, type, start_ms: n * 1_000, payload });
  const signals = [
    note(0, { text: 'Ask about the boat' }),
    note(1, {}),
    note(2, { text: 7 }),
    note(3, { text: 'not a note' }, 'meeting.started'),
    note(4, { text: 'ä'.repeat(300) }),
  ];
  await ann.ask('POST', `${path}/signals`, { signals });
  const expected = ['Ask about the boat', 'ä'.repeat(200)];
  t.same((await ann.ask<Stream>('GET', `${path}?include=notes`)).notes, expected);
  const list = '/audio/streams?include=tags,notes';
  t.match(await ann.ask('GET', list), { items: [{ id, tags: [], notes: expected }] });
  t.notOk('notes' in (await ann.ask<Stream>('GET', path)), 'only when asked for');
  const many = Array.from({ length: 60 }, (_, n) => note(10 + n, { text: `note ${n}` }));
  await ann.ask('POST', `${path}/signals`, { signals: many });
  t.equal((await ann.ask<Stream>('GET', `${path}?include=notes`)).notes?.length, 48, 'of the first 50');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  t.same(await bob.ask('GET', list), { items: [], cursor: null });
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'reads', permissions: ['audio:read'], expires_at: null },
  });
  t.match(await tell(bearer(spool, value), 'GET', `${path}?include=notes`), { status: 200, data: { notes: null } });
  t.equal(await ann.says('GET', `${path}?include=note`), '400 BAD_REQUEST');
});
