import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Contact, Memory, Pipeline } from '../../../kits/typescript/src/api.js';
import { insightId } from '../../../src/domain/ids.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { makeInsights, privateWorkspaceOf } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Page = { items: Memory[]; cursor: string | null };

const UNKNOWN = randomUUID();

t.test('memories', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const worker = new TestTranscriber(spool);
  await ann.entitle('developer.tools', true);
  const listed = async (query = '') => {
    const found: Memory[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await ann.ask('GET', `/memories?limit=2${query}${cursor && `&cursor=${cursor}`}`);
      found.push(...page.items);
      cursor = page.cursor;
    }
    return found;
  };
  const textsOf = async (query = '') => (await listed(query)).map(({ text }) => text);
  const recording = await TestRecording.begin(ann);
  await recording.add(20_000);
  await recording.end();
  await worker.publish(await worker.claim(recording.id), [said('Anna likes rye.', [0, 4_000], 'A')]);
  const anna = await ann.ask<Contact>('POST', '/contacts', { name: 'Anna' });
  await ann.newEvents();

  await t.test('K-007 K-084 a person makes a memory, and changes it', async (t) => {
    const made = await ann.ask<Memory>('POST', '/memories', { text: 'Likes teamark', kind: 'preference' });
    t.match(made, {
      ...{ text: 'Likes teamark', kind: 'preference', contact_id: null, state: 'active', superseded_by: null },
      ...{ origin: 'manual', protected: true, evidence: [], revision: 1, session_id: null },
      workspace_id: await privateWorkspaceOf(ann),
    });
    const path = `/memories/${made.id}`;
    t.strictSame(await ann.ask('GET', path), made);
    const edited = await ann.ask<Memory>('PATCH', path, { text: 'Likes coffeemark', kind: 'fact' });
    t.match(edited, { text: 'Likes coffeemark', kind: 'fact', revision: 2 });
    t.strictSame(await ann.ask('PATCH', path, { kind: 'fact' }), edited);
    t.match(await ann.ask('GET', `${path}/revisions`), {
      items: [{ revision: 1, changed_fields: ['kind', 'text'], item: { text: 'Likes teamark' } }],
      cursor: null,
    });
    for (const wrong of [
      {},
      { text: 'x' },
      { text: '', kind: 'fact' },
      { text: 'x', kind: 'rumour' },
      { text: 'x'.repeat(501), kind: 'fact' },
    ])
      t.equal(await ann.says('POST', '/memories', wrong), '400 BAD_REQUEST');
    t.same(await ann.newEvents(), [`memory.created ${made.id} 1`, `memory.updated ${made.id} 2 kind text`]);
    t.equal(await ann.says('DELETE', path), '204');
    for (const method of ['GET', 'DELETE']) t.equal(await ann.says(method, path), '404 NOT_FOUND');
    t.equal(await ann.says('GET', `${path}/revisions`), '404 NOT_FOUND');
    t.equal((await ann.newEvents()).length, 1);
    const all = (await ann.app.send('GET', '/events?limit=100')).body.toString();
    for (const text of ['teamark', 'coffeemark', 'Anna']) t.notOk(all.includes(text), text);
  });

  await t.test('K-085 what a run found rests on what was said, and goes with its source', async (t) => {
    const memories = [
      { text: 'Anna likes rye', kind: 'preference', at: [[0, 4_000] as [number, number]], contact_id: anna.id },
      { text: 'There is an oven', at: [[0, 4_000] as [number, number]] },
      { text: 'Moves in May', kind: 'plan', at: [[0, 4_000] as [number, number]] },
    ];
    const { library_id } = await makeInsights(ann, recording, { memories });
    t.equal((await listed()).length, 3);
    t.same(await textsOf('&kind=plan'), ['Moves in May']);
    t.same(await textsOf(`&contact_id=${anna.id}`), ['Anna likes rye']);
    t.equal((await textsOf('&state=active')).length, 3);
    t.same(await textsOf('&state=superseded'), []);
    t.equal(await ann.says('GET', `/memories?contact_id=${UNKNOWN}`), '404 NOT_FOUND');
    for (const id of [UNKNOWN, 'x', insightId(library_id, 'suggestion', 1), insightId(library_id, 'memory', 77)])
      t.equal(await ann.says('GET', `/memories/${id}`), '404 NOT_FOUND');
    const [item] = await listed(`&contact_id=${anna.id}`);
    t.match(item, {
      origin: 'pipeline',
      protected: false,
      contact_id: anna.id,
      evidence: [{ quote: 'Anna likes rye.' }],
    });
    await bob.entitle('developer.tools', true);
    t.equal(await bob.says('GET', `/memories/${item?.id}`), '404 NOT_FOUND');
    await ann.ask('DELETE', `/sources/${recording.source_id}`);
    t.same(await listed(`&contact_id=${anna.id}`), []);
  });

  await t.test('K-115 C-114 what another pipeline made is read by its name, by whoever may select it', async (t) => {
    const own = await TestRecording.begin(ann);
    await own.add(20_000);
    await own.end();
    await worker.publish(await worker.claim(own.id), [said('I sold the boat.', [0, 4_000], 'A')]);
    const pipeline = await ann.ask<Pipeline>('POST', '/pipelines', { name: 'Trial' });
    const path = `/pipelines/${pipeline.id}/runs`;
    t.same(await ann.ask('POST', path, { stream_id: own.id }), { accepted: true });
    t.equal(await ann.says('POST', path, { stream_id: own.id, from_ms: 5, to_ms: 5 }), '400 BAD_REQUEST');
    t.equal(await ann.says('POST', path, { stream_id: UNKNOWN }), '404 NOT_FOUND');
    t.equal(await ann.says('POST', path, { stream_id: recording.id }), '404 NOT_FOUND', 'its source is deleted');
    t.equal(await ann.says('POST', `/pipelines/${UNKNOWN}/runs`, { stream_id: own.id }), '404 NOT_FOUND');
    t.equal(await bob.says('POST', path, { stream_id: own.id }), '404 NOT_FOUND');
    await ann.newEvents();
    await makeInsights(ann, own, {
      pipeline_id: pipeline.id,
      memories: [{ text: 'Sold the boat' }],
      suggestions: [{ text: 'Buy a boat' }],
    });
    t.equal((await textsOf()).includes('Sold the boat'), false);
    const [memory] = await listed(`&pipeline_id=${pipeline.id}`);
    t.match(memory, { text: 'Sold the boat', pipeline_id: pipeline.id });
    const { items } = await ann.ask<{ items: { text: string }[] }>('GET', `/suggestions?pipeline_id=${pipeline.id}`);
    t.match(items, [{ text: 'Buy a boat', pipeline_id: pipeline.id }]);
    t.match((await ann.ask<Page>('GET', '/suggestions')).items, []);
    t.match(
      await ann.newEvents(),
      [new RegExp(`^suggestion.created .*${pipeline.id}`)],
      'of the output only suggestions',
    );
    t.equal((await listed(`&pipeline_id=${memory?.pipeline_id}`)).length, 1);
    const tokenOf = async (permissions: string[]) => {
      const body = { name: 'tool', permissions, expires_at: null };
      return bearer(spool, (await ann.ask<{ value: string }>('POST', '/me/tokens', body)).value);
    };
    const query = `/suggestions?pipeline_id=${pipeline.id}`;
    const [narrow, recall] = [await tokenOf(['insights:read']), await tokenOf(['insights:read', 'turns:read'])];
    const statuses = async () => [(await narrow.send('GET', query)).status, (await recall.send('GET', query)).status];
    t.same(await statuses(), [403, 200]);
    t.equal((await recall.send('POST', path, { body: { stream_id: own.id } })).status, 403);
    await ann.ask('PATCH', `/pipelines/${pipeline.id}`, { insights: null });
    t.equal(await ann.says('POST', path, { stream_id: own.id }), '409 CONFLICT');
    await ann.ask('PATCH', `/pipelines/${pipeline.id}`, { insights: {}, archived: true });
    t.equal(await ann.says('POST', path, { stream_id: own.id }), '409 CONFLICT');
    await ann.entitle('developer.tools', false);
    t.same(await statuses(), [403, 403]);
    t.equal(await ann.says('GET', `/suggestions/${(items[0] as unknown as { id: string }).id}`), '404 NOT_FOUND');
  });

  await t.test('K-007 C-112 memories are for developers', async (t) => {
    const asked: [string, string, unknown?][] = [
      ['GET', '/memories'],
      ['GET', `/memories/${UNKNOWN}`],
      ['GET', `/memories/${UNKNOWN}/revisions`],
      ['POST', '/memories', { text: 'x', kind: 'fact' }],
      ['PATCH', `/memories/${UNKNOWN}`, { text: 'x' }],
    ];
    for (const [method, path, body] of asked)
      t.equal(await ann.says(method, path, body), '403 FORBIDDEN', `${method} ${path}`);
    await ann.entitle('developer.tools', true);
    for (const [method, path, body] of asked)
      t.not(await ann.says(method, path, body), '403 FORBIDDEN', `${method} ${path}`);
    await ann.entitle('insights.access', false);
    for (const [method, path, body] of asked)
      t.equal(await ann.says(method, path, body), '403 FORBIDDEN', `${method} ${path}`);
  });
});
