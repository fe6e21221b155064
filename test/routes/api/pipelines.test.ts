import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Pipeline } from '../../../kits/typescript/src/api.js';
import { defaultPipelineId, pipelineId } from '../../../src/domain/ids.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { TestSpool } from '../../fixtures/spool.js';

type Page = { items: Pipeline[]; cursor: string | null };

const KINDS = [
  ...['task', 'follow_up', 'reminder', 'question', 'decision'],
  ...['fact', 'preference', 'relationship', 'plan', 'other'],
];

t.test('pipelines', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const tokenOf = async (permissions: string[]) => {
    const body = { name: 'tool', permissions, expires_at: null };
    return bearer(spool, (await ann.ask<{ value: string }>('POST', '/me/tokens', body)).value);
  };
  const first = defaultPipelineId(ann.id);
  const statusOf = async (app: AppClient, method: string, path: string, body?: unknown) =>
    (await app.send(method, path, { body })).status;

  await t.test('K-111 an account has one pipeline from the start, which no event tells', async (t) => {
    const { items, cursor } = await ann.ask<Page>('GET', '/pipelines');
    t.same([items.length, cursor], [1, null]);
    t.match(items[0], {
      ...{ id: first, name: 'Default', default: true, archived: false, revision: 1 },
      transcription: { engine: 'default', language: null, diarize: false, final_pass: false },
      insights: { engine: 'default', kinds: KINDS, instructions: '' },
    });
    t.strictSame(await ann.ask('GET', `/pipelines/${first}`), items[0]);
    for (const id of [pipelineId(ann.id, 2), defaultPipelineId(bob.id), randomUUID(), 'x'])
      t.equal(await ann.says('GET', `/pipelines/${id}`), '404 NOT_FOUND');
    t.same(await ann.newEvents(), []);
  });

  await t.test('K-111 C-112 C-114 without developer access there is the default pipeline alone', async (t) => {
    t.equal(await ann.says('POST', '/pipelines', { name: 'Notes' }), '403 FORBIDDEN');
    const renamed = await ann.ask<Pipeline>('PATCH', `/pipelines/${first}`, { name: 'All of it' });
    t.match(renamed, { name: 'All of it', revision: 2 });
    t.strictSame(await ann.ask('PATCH', `/pipelines/${first}`, { name: 'All of it' }), renamed, 'nothing to change');
    t.same(await ann.newEvents(), [], 'events tell which one is the default, and no more');
  });

  await t.test('K-112 a pipeline is made, and becomes the default', async (t) => {
    await ann.entitle('developer.tools', true);
    await ann.newEvents();
    const made = await ann.ask<Pipeline>('POST', '/pipelines', {
      name: 'Notes',
      transcription: { language: 'de', final_pass: true },
      insights: { kinds: ['plan', 'task'], instructions: 'Be shortmark.' },
    });
    t.match(made, {
      ...{ id: pipelineId(ann.id, 2), name: 'Notes', default: false, revision: 1 },
      transcription: { engine: 'default', language: 'de', diarize: false, final_pass: true },
      insights: { engine: 'default', kinds: ['task', 'plan'], instructions: 'Be shortmark.' },
    });
    const path = `/pipelines/${made.id}`;
    t.same(await ann.newEvents(), [`pipeline.created ${made.id}`]);
    t.equal(await ann.says('PATCH', `/pipelines/${first}`, { archived: true }), '409 CONFLICT');
    t.equal(await ann.says('PATCH', path, { default: false }), '400 BAD_REQUEST');
    t.match(await ann.ask('PATCH', path, { default: true }), { default: true, revision: 2 });
    t.same(await ann.newEvents(), [`pipeline.updated ${first} default`, `pipeline.updated ${made.id} default`]);
    t.match(await ann.ask('PATCH', path, { insights: null, transcription: { language: null } }), {
      insights: null,
      transcription: { language: null, final_pass: true },
    });
    await ann.ask('PATCH', `/pipelines/${first}`, { default: true });
    t.match(await ann.ask('PATCH', path, { archived: true, insights: {} }), {
      archived: true,
      insights: { kinds: KINDS },
    });
    t.equal(await ann.says('PATCH', path, { default: true }), '409 CONFLICT', 'it is archived');
    const pages = [await ann.ask<Page>('GET', '/pipelines?limit=1')];
    pages.push(await ann.ask<Page>('GET', `/pipelines?limit=1&cursor=${pages[0]?.cursor}`));
    t.same([pages.map(({ items }) => items[0]?.id), pages[1]?.cursor], [[first, made.id], null]);
    t.notOk((await ann.app.send('GET', '/events?limit=100')).body.toString().includes('shortmark'));
  });

  await t.test('K-113 what is no pipeline', async (t) => {
    for (const [wrong, path] of [
      [{}, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x', transcription: { language: 'not a tag' } }, 'transcription.language'],
      [{ name: 'x', transcription: { engine: 'http://x' } }, 'transcription.engine'],
      [{ name: 'x', insights: { kinds: ['rumour'] } }, 'insights.kinds.0'],
      [{ name: 'x', insights: { instructions: 'x'.repeat(2_001) } }, 'insights.instructions'],
    ] as const) {
      const { status, error } = await tell(ann.app, 'POST', '/pipelines', wrong);
      t.same([status, error.details?.[0]?.path], [400, path]);
    }
    const context = spool.server.services.actors.context(bob.id);
    await bob.entitle('developer.tools', true);
    for (let count = 1; count < 20; count++) await context.create_pipeline({ name: 'x' });
    t.equal(await bob.says('POST', '/pipelines', { name: 'x' }), '409 CONFLICT');
  });

  await t.test('K-012 C-112 C-114 what tokens list, select and change with and without developer access', async (t) => {
    const path = `/pipelines/${pipelineId(ann.id, 2)}`;
    const tokens = {
      reads: await tokenOf(['pipelines:read']),
      writes: await tokenOf(['pipelines:write']),
      experiments: await tokenOf(['pipelines:experimental']),
      recalls: await tokenOf(['turns:read', 'insights:read']),
      other: await tokenOf(['turns:read', 'profile:read']),
    };
    const asked = async (app: AppClient) => {
      const page = await tell<Page>(app, 'GET', '/pipelines');
      return [
        page.status === 200 ? page.data.items.length : page.status,
        await statusOf(app, 'GET', `/pipelines/${first}`),
        await statusOf(app, 'GET', path),
        await statusOf(app, 'PATCH', `/pipelines/${first}`, {}),
        await statusOf(app, 'PATCH', path, {}),
        await statusOf(app, 'POST', '/pipelines', { name: ' ' }),
      ].join(' ');
    };
    const all = async () =>
      Object.fromEntries(
        await Promise.all(Object.entries(tokens).map(async ([name, app]) => [name, await asked(app)])),
      );
    t.same(await all(), {
      reads: '2 200 200 403 403 403',
      writes: '2 200 200 200 200 400', // pipelines:write includes pipelines:experimental
      experiments: '2 200 200 403 200 400',
      recalls: '2 200 200 403 403 403',
      other: '403 403 403 403 403 403',
    });
    t.equal(await statusOf(tokens.experiments, 'POST', '/pipelines', { name: 'Trial' }), 201);
    t.equal(await statusOf(tokens.experiments, 'PATCH', path, { default: true }), 403, 'that changes the default one');
    await ann.entitle('developer.tools', false);
    t.same(await all(), {
      reads: '1 200 404 403 403 403',
      writes: '403 403 403 200 403 403',
      experiments: '403 403 403 403 403 403',
      recalls: '403 403 403 403 403 403',
      other: '403 403 403 403 403 403',
    });
    await ann.entitle('developer.tools', true);
    await ann.entitle('insights.access', false);
    t.equal(await asked(tokens.recalls), '403 403 403 403 403 403', 'both layers are needed');
    await ann.entitle('insights.access', true);
  });
});
