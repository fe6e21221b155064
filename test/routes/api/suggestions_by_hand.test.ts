import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Contact, Suggestion } from '../../../kits/typescript/src/api.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import { makeInsights, privateWorkspaceOf } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Page = { items: Suggestion[] };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);
const anna = await ann.ask<Contact>('POST', '/contacts', { name: 'Anna' });
const add = (body: object, who = ann) => who.ask<Suggestion>('POST', '/suggestions', body);
const textsOf = async (query = '', who = ann) =>
  (await who.ask<Page>('GET', `/suggestions?limit=100${query}`)).items.map(({ text }) => text);

await t.test('K-320 a suggestion is added by hand, is listed as others are, and is told of', async (t) => {
  await ann.newEvents();
  const made = await add({
    ...{ text: '  Buy oak boards ', kind: 'reminder', due_date: '2026-12-07' },
    roles: { owner_contact_id: anna.id },
  });
  t.match(made, {
    ...{ text: 'Buy oak boards', kind: 'reminder', status: 'open', conversation_id: null, session_id: null },
    ...{ due_date: '2026-12-07', due_at: '2026-12-07T12:00:00.000Z', evidence: [], made_by: 'person' },
    roles: { owner_contact_id: anna.id, requester_contact_id: null },
    ...{ state_version: 1, revision: 1, workspace_id: await privateWorkspaceOf(ann) },
  });
  t.same([...made.protected_fields].sort(), ['due_at', 'due_date', 'kind', 'roles', 'text']);
  t.strictSame(await ann.ask('GET', `/suggestions/${made.id}`), made);
  t.same(await ann.newEvents(), [`suggestion.created ${made.id} 1 ${made.pipeline_id}`]);
  t.same(await textsOf('&kind=reminder&due_before=2026-12-08T00:00:00Z'), ['Buy oak boards']);
  const day = await ann.ask<{ tasks_due: Suggestion[] }>('GET', '/days/2026-12-07');
  t.same(
    day.tasks_due.map(({ id }) => id),
    [made.id],
  );
  const plain = await add({ text: 'Only a text' });
  t.match(plain, { kind: 'task', due_at: null, due_date: null, roles: { owner_contact_id: null } });
  const edited = await ann.ask<Suggestion>('PATCH', `/suggestions/${plain.id}`, {
    ...{ state_version: 1, kind: 'question', status: 'completed' },
  });
  t.match(edited, { kind: 'question', status: 'completed', state_version: 2 });
  await ann.ask('DELETE', `/suggestions/${plain.id}`);
  t.equal(await ann.says('GET', `/suggestions/${plain.id}`), '404 NOT_FOUND');
});

await t.test('K-320 one is found by search', async (t) => {
  const { items } = await ann.ask<{ items: object[] }>('GET', '/search?q=oak+boards');
  t.ok(items.some((item) => JSON.stringify(item).includes('Buy oak boards')));
});

await t.test('K-321 a request that is sent again adds nothing', async (t) => {
  const ref = randomUUID();
  const first = await add({ ref, text: 'Ring the bell' });
  const again = await ann.app.send('POST', '/suggestions', { body: { ref: ref.toUpperCase(), text: 'Ring the bell' } });
  t.equal(again.status, 201);
  t.strictSame(JSON.parse(again.body.toString()).data, first);
  const other = await tell(ann.app, 'POST', '/suggestions', { ref, text: 'Ring it twice' });
  t.match(other, { status: 409, error: { code: 'CONFLICT', details: [{ path: 'ref' }] } });
  t.equal((await textsOf()).filter((text) => text.startsWith('Ring')).length, 1);
  t.equal((await add({ ref, text: 'Ring the bell' }, bob)).text, 'Ring the bell', 'a ref is of its account alone');
  await ann.ask('DELETE', `/suggestions/${first.id}`);
  t.not((await add({ ref, text: 'Ring it twice' })).id, first.id);
});

await t.test('K-322 what is wrong is named', async (t) => {
  for (const [body, field] of [
    [{}, 'text'],
    [{ text: ' ' }, 'text'],
    [{ text: 'x'.repeat(LIMITS.insight_text_chars_max + 1) }, 'text'],
    [{ text: 'x', kind: 'wish' }, 'kind'],
    [{ text: 'x', due_date: '2026-02-30' }, 'due_date'],
    [{ text: 'x', due_date: '2026-02-20', due_at: '2026-02-20T10:00:00Z' }, 'due_date'],
    [{ text: 'x', due_at: 'soon' }, 'due_at'],
    [{ text: 'x', ref: 'mine' }, 'ref'],
    [{ text: 'x', at_ms: 5 }, 'at_ms'],
    [{ text: 'x', stream_id: randomUUID(), at_ms: -1 }, 'at_ms'],
  ] as const) {
    const told = await tell(ann.app, 'POST', '/suggestions', body);
    t.match(told, { status: 400, error: { details: [{ path: field }] } }, JSON.stringify(body));
  }
  t.equal(await ann.says('POST', '/suggestions', { text: 'x', stream_id: randomUUID() }), '404 NOT_FOUND');
  const roles = { owner_contact_id: anna.id };
  t.equal(await bob.says('POST', '/suggestions', { text: 'x', roles }), '404 NOT_FOUND');
  const { value } = await ann.ask<{ value: string }>('POST', '/me/tokens', {
    ...{ name: 'reads', permissions: ['insights:read'], expires_at: null },
  });
  t.equal((await bearer(spool, value).send('POST', '/suggestions', { body: { text: 'x' } })).status, 403);
});

await t.test('K-320 one rests on a recording, and no run touches it', async (t) => {
  const recording = await TestRecording.begin(ann);
  await recording.add(20_000);
  await recording.end();
  await worker.publish(await worker.claim(recording.id), [said('I will sand the floor.', [5_000, 9_000], 'A')]);
  const body = { text: 'Sand the floor', stream_id: recording.id };
  t.equal(await bob.says('POST', '/suggestions', body), '404 NOT_FOUND');
  const made = await add({ ...body, at_ms: 6_000 });
  t.match(made.evidence, [
    { stream_id: recording.id, start_ms: 6_000, state: 'available', quote: 'I will sand the floor.' },
  ]);
  const silent = await add({ text: 'Listen to the silence', stream_id: recording.id, at_ms: 15_000 });
  t.match(silent.evidence, [{ start_ms: 15_000, state: 'available', quote: null }]);
  await makeInsights(ann, recording, { suggestions: [{ text: 'Hire a sander', at: [[5_000, 9_000]] }] });
  await makeInsights(ann, recording, { suggestions: [] });
  t.same((await textsOf(`&stream_id=${recording.id}`)).sort(), [
    ...['Hire a sander', 'Listen to the silence', 'Sand the floor'],
  ]);
  await ann.ask('DELETE', `/audio/streams/${recording.id}`);
  const left = await ann.ask<Suggestion>('GET', `/suggestions/${made.id}`);
  t.match(left, { text: 'Sand the floor', status: 'open', evidence: [{ state: 'deleted', quote: null }] });
});

await t.test('K-320 one is of its account alone', async (t) => {
  const made = await add({ text: 'Nobody else sees this' });
  t.equal(await bob.says('GET', `/suggestions/${made.id}`), '404 NOT_FOUND');
  t.equal(await bob.says('PATCH', `/suggestions/${made.id}`, { state_version: 1, text: 'x' }), '404 NOT_FOUND');
  t.same(await textsOf('', bob), ['Ring the bell']);
});
