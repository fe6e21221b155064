import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Contact, Conversation } from '../../../kits/typescript/src/api.js';
import { insightId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import { makeInsights, privateWorkspaceOf, spoke } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Page = { items: Conversation[]; cursor: string | null };

const UNKNOWN = randomUUID();

t.test('conversations', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const worker = new TestTranscriber(spool);
  for (const who of [ann, bob]) await who.entitle('developer.tools', true);
  const listed = async (query = '', who = ann) => {
    const found: Conversation[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await who.ask('GET', `/conversations?limit=2${query}${cursor && `&cursor=${cursor}`}`);
      found.push(...page.items);
      cursor = page.cursor;
    }
    return found;
  };
  const titlesOf = async (query = '', who = ann) => (await listed(query, who)).map(({ title }) => title);
  const spoken = async (recording: TestRecording) => {
    await recording.add(20_000);
    await recording.end();
    await worker.publish(await worker.claim(recording.id), [
      said('Shall we begin?', [0, 3_000], 'A'),
      said('Let us begin.', [4_000, 9_000], 'B'),
    ]);
    return recording;
  };
  const titled = (who: TestAccount, recording: TestRecording, title: string, more: object = {}) =>
    makeInsights(who, recording, {
      ...more,
      conversation: { title, participants: [spoke(recording, 1, 3_000), spoke(recording, 2, 5_000)] },
    });

  const recording = await spoken(await TestRecording.begin(ann));
  const first = await titled(ann, recording, 'Beginningmark');

  await t.test('K-061 a conversation says where it lies and who spoke, as it is known now', async (t) => {
    const [item] = await listed();
    t.match(item, {
      ...{ id: first.conversation, title: 'Beginningmark', session_id: null, language: 'en', topics: [] },
      parts: [{ stream_id: recording.id, source_id: recording.source_id, start_ms: 0, end_ms: 20_000 }],
      ...{ started_at: '2026-11-01T10:00:00.000Z', ended_at: '2026-11-01T10:00:20.000Z', revision: 1 },
      participants: [
        { contact_id: null, speaker_name: null, talk_ms: 5_000 },
        { contact_id: null, speaker_name: null, talk_ms: 3_000 },
      ],
    });
    t.strictSame(await ann.ask('GET', `/conversations/${first.conversation}`), item);
    const zoe = await ann.ask<Contact>('POST', '/contacts', { name: 'Zoë' });
    await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id: zoe.id });
    const named = await ann.ask<Conversation>('GET', `/conversations/${first.conversation}`);
    t.same(named.participants[1], { contact_id: zoe.id, speaker_name: 'Zoë', talk_ms: 3_000 });
    await ann.ask('POST', `/audio/streams/${recording.id}/speakers/S2/merge`, { into: 'S1' });
    const merged = await ann.ask<Conversation>('GET', `/conversations/${first.conversation}`);
    t.same(merged.participants, [{ contact_id: zoe.id, speaker_name: 'Zoë', talk_ms: 8_000 }]);
    await ann.newEvents();
  });

  await t.test('K-008 K-063 a person gives it a title, which is protected', async (t) => {
    const path = `/conversations/${first.conversation}`;
    const edited = await ann.ask<Conversation>('PATCH', path, { title: ' A titlemark ' });
    t.match(edited, { title: 'A titlemark', revision: 2, protected_fields: ['title'] });
    t.strictSame(await ann.ask('PATCH', path, { title: 'A titlemark' }), edited, 'nothing to change');
    t.equal(await ann.says('PATCH', path, { title: '' }), '400 BAD_REQUEST');
    t.match(await ann.ask('GET', `${path}/revisions`), {
      items: [{ revision: 1, changed_fields: ['title'], replaced_by: 'person', item: { title: 'Beginningmark' } }],
    });
    const events = await ann.newEvents();
    t.equal(events.length, 1);
    t.match(events[0], new RegExp(`^conversation.updated ${first.conversation} .*title`));
    const all = (await ann.app.send('GET', '/events?limit=100')).body.toString();
    for (const text of ['titlemark', 'Beginningmark', 'Zoë']) t.notOk(all.includes(text), text);
  });

  await t.test('K-060 K-062 K-069 lists show what was asked for, of many libraries in one order', async (t) => {
    const team = await ann.workspace('Team');
    await ann.bring(team.id, [bob]);
    const source_id = recording.source_id;
    const shared = await spoken(
      await TestRecording.inWorkspace(ann, {
        workspace_id: team.id,
        source_id,
        captured_at: '2026-11-02T10:00:00.000Z',
      }),
    );
    await spool.operator.advanceClock(1_000);
    await titled(ann, shared, 'Team', { workspace_id: team.id, session_id: UNKNOWN });
    await spool.operator.advanceClock(1_000);
    const later = await spoken(await TestRecording.begin(ann, { captured_at: '2026-11-03T10:00:00.000Z' }));
    await titled(ann, later, 'Later');
    t.same(await titlesOf(), ['Later', 'Team', 'A titlemark'], 'the newest change first');
    t.same(await titlesOf(`&workspace_id=${team.id}`), ['Team']);
    t.same(await titlesOf(`&workspace_id=${await privateWorkspaceOf(ann)}`), ['Later', 'A titlemark']);
    t.same(await titlesOf(`&session_id=${UNKNOWN}`), ['Team']);
    t.same(await titlesOf(`&source_id=${source_id}`), ['Team', 'A titlemark']);
    t.same(await titlesOf('&from=2026-11-02T10:00:21Z'), ['Later']);
    t.same(await titlesOf('&to=2026-11-02T09:59:59Z'), ['A titlemark']);
    t.equal(await ann.says('GET', `/conversations?source_id=${UNKNOWN}`), '404 NOT_FOUND');
    t.equal(await ann.says('GET', `/conversations?pipeline_id=${UNKNOWN}`), '404 NOT_FOUND');

    t.same(await titlesOf('', bob), [], "a member's own list");
    const [seen] = await listed(`&workspace_id=${team.id}`, bob);
    t.match(seen, { title: 'Team', participants: [{ contact_id: null }, { contact_id: null }] });
    const path = `/conversations/${seen?.id}`;
    t.equal(await bob.says('GET', path), '200', 'members read');
    t.equal(await bob.says('PATCH', path, { title: 'x' }), '403 FORBIDDEN');
    t.equal(await bob.says('DELETE', path), '403 FORBIDDEN');
    t.equal(await bob.says('GET', `/conversations/${first.conversation}`), '404 NOT_FOUND');
    await ann.ask('DELETE', `/audio/streams/${later.id}`);
    t.same(await titlesOf(), ['Team', 'A titlemark'], 'all that it was made of is deleted');
    await ann.ask('DELETE', `/sources/${source_id}`);
    t.same(await titlesOf(), []);
    t.equal(await ann.says('GET', path), '404 NOT_FOUND');
    t.equal(await ann.says('GET', `/conversations?source_id=${source_id}`), '404 NOT_FOUND');
  });

  await t.test('K-062 a list of a workspace in which many accounts record', async (t) => {
    const crowd = await ann.workspace('Crowd');
    const recording = await TestRecording.inWorkspace(ann, {
      workspace_id: crowd.id,
      source_id: (await TestRecording.begin(ann)).source_id,
      captured_at: '2026-11-04T10:00:00.000Z',
    });
    await titled(ann, await spoken(recording), 'One of many', { workspace_id: crowd.id });
    const sweep = spool.server.services.actors.sweep(crowd.id);
    const recorders = async () => {
      const found = await sweep.recorders({ limit: 1_000 });
      return 'accounts' in found ? found.accounts.length : 0;
    };
    while ((await recorders()) < LIMITS.workspace_libraries_max) await sweep.recorder({ account_id: randomUUID() });
    t.same(await titlesOf(`&workspace_id=${crowd.id}`), ['One of many']);
    await sweep.recorder({ account_id: randomUUID() });
    const { status, error } = await tell(ann.app, 'GET', `/conversations?workspace_id=${crowd.id}`);
    t.same([status, error.details?.[0]?.path], [400, 'workspace_id']);
  });

  await t.test('K-060 C-112 whoever may delete a conversation, and what is none', async (t) => {
    const more = await spoken(await TestRecording.begin(bob));
    const { conversation, library_id } = await titled(bob, more, 'Another');
    const path = `/conversations/${conversation}`;
    const body = { name: 'tool', permissions: ['insights:read', 'insights:write'], expires_at: null };
    const tool = bearer(spool, (await bob.ask<{ value: string }>('POST', '/me/tokens', body)).value);
    for (const [method, at] of [
      ['GET', '/conversations'],
      ['GET', path],
      ['GET', `${path}/revisions`],
      ['PATCH', path],
      ['DELETE', path],
    ] as const)
      t.equal(
        (await tool.send(method, at, { body: method === 'PATCH' ? { title: 'x' } : undefined })).status,
        403,
        `${method} ${at}`,
      );
    for (const id of [UNKNOWN, insightId(library_id, 'suggestion', 1), insightId(library_id, 'conversation', 9), 'x'])
      for (const method of ['GET', 'DELETE']) t.equal(await bob.says(method, `/conversations/${id}`), '404 NOT_FOUND');
    await bob.newEvents();
    t.equal(await bob.says('DELETE', path), '204');
    t.equal(await bob.says('GET', path), '404 NOT_FOUND');
    t.match(await bob.newEvents(), [new RegExp(`^conversation.deleted ${conversation}`)]);
  });
});
