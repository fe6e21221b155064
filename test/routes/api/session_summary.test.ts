import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { SessionSummary } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { makeInsights } from '../../fixtures/insights.js';
import { record } from '../../fixtures/recording.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

t.test('what came of a recorder session', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const cid = await TestAccount.open(spool, 'cid@x.test');
  const hosted = await spool.hostSession(ann.app);
  const { session } = hosted;
  const path = `/device-sessions/${session.id}/summary`;
  const read = (who = ann) => who.ask<SessionSummary>('GET', path);
  await bob.ask('POST', `/device-sessions/${session.id}/join`, { join_code: session.join_code });
  const { actors } = spool.server.services;

  await t.test('K-009 nothing was made, and nobody but the host is told', async (t) => {
    const summary = await read();
    t.match(summary, { session_id: session.id, state: 'none', started_at: /Z$/, ended_at: null, talk_ms: 0 });
    t.match(summary, { participants: [], conversations: [], memories: [], suggestions: [], updated_at: null });
    t.equal(await bob.says('GET', path), '403 FORBIDDEN');
    t.equal(await cid.says('GET', path), '404 NOT_FOUND');
    for (const id of [randomUUID(), 'x'])
      t.equal(await ann.says('GET', `/device-sessions/${id}/summary`), '404 NOT_FOUND');
  });

  const streamOf = async () => {
    const { items } = await ann.ask<{ items: { id: string; source_id: string }[] }>('GET', '/audio/streams');
    return items[0] as { id: string; source_id: string };
  };

  await t.test('K-070 it is pending while its audio, or what is made of it, waits', async (t) => {
    await record(hosted.device, { epoch: hosted.epoch });
    t.equal((await read()).state, 'pending', 'a chunk is not processed');
    const { id, source_id } = await streamOf();
    const claimed = await spool.operator.ask<{ items: { chunk_id: string; claim: string }[] }>(
      'POST',
      '/ops/chunks/claim',
      {},
    );
    const [chunk] = claimed.items;
    const failed = { claim: chunk?.claim, code: 'NO_AUDIO', message: 'It holds no audio.' };
    await spool.operator.ask('POST', `/ops/chunks/${chunk?.chunk_id}/failed`, failed);
    t.equal((await read()).state, 'none', 'it holds no audio');
    const { account_id, workspace_id } = (await actors.stream(id).view()) as {
      account_id: string;
      workspace_id: string;
    };
    const { library_id } = await makeInsights(
      ann,
      { id, source_id },
      {
        session_id: session.id,
        conversation: {
          title: 'The meeting',
          participants: [
            { stream_id: id, speaker: 1, talk_ms: 700 },
            { stream_id: id, speaker: 2, talk_ms: 900 },
          ],
        },
        suggestions: [{ text: 'Send the notes' }],
        memories: [{ text: 'Meets on Mondays' }],
      },
    );
    const ready = await read();
    t.match(ready, {
      ...{ state: 'ready', talk_ms: 1_600 },
      participants: [{ talk_ms: 900 }, { talk_ms: 700 }],
      conversations: [{ title: 'The meeting', session_id: session.id }],
      memories: [{ text: 'Meets on Mondays' }],
      suggestions: [{ text: 'Send the notes', conversation_id: ready.conversations[0]?.id }],
      updated_at: ready.conversations[0]?.updated_at,
    });
    const place = { account_id, workspace_id, stream_id: id, source_id, pipeline_id: null };
    await actors.library(library_id).request_run({ ...place, from_ms: 0, to_ms: 500 });
    t.match(await read(), { state: 'pending', suggestions: [{ text: 'Send the notes' }] });
    const { items } = await ann.ask<{ items: { text: string }[] }>('GET', `/suggestions?session_id=${session.id}`);
    t.match(items, [{ text: 'Send the notes' }]);
  });

  await t.test('K-071 a host may delete what came of its session, and not rename it', async (t) => {
    const body = { name: 'tool', permissions: ['insights:read', 'insights:write'], expires_at: null };
    const tool = bearer(spool, (await ann.ask<{ value: string }>('POST', '/me/tokens', body)).value);
    const { conversations, memories } = await read();
    const statusOf = async (method: string, at: string, body?: unknown) =>
      (await tool.send(method, at, { body })).status;
    t.equal(await statusOf('GET', path), 200);
    t.equal(await statusOf('GET', `/conversations/${conversations[0]?.id}`), 403);
    t.equal(await statusOf('PATCH', `/conversations/${conversations[0]?.id}`, { title: 'x' }), 403);
    t.equal(await bob.says('DELETE', `/memories/${memories[0]?.id}`), '404 NOT_FOUND');
    t.equal(await statusOf('DELETE', `/memories/${memories[0]?.id}`), 204);
    t.equal(await statusOf('DELETE', `/conversations/${conversations[0]?.id}`), 204);
    t.match(await read(), { conversations: [], memories: [], participants: [], talk_ms: 0 });
    const foreign = await makeInsights(ann, await streamOf(), {
      session_id: randomUUID(),
      span: [30_000, 40_000],
      memories: [{ text: 'x' }],
    });
    t.equal(
      await statusOf('DELETE', `/conversations/${foreign.conversation}`),
      403,
      'no session that the account hosted',
    );
  });

  await t.test('K-082 contacts and names of who spoke are for whoever reads turns', async (t) => {
    const { id } = await streamOf();
    const { id: contact_id } = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Zoë' });
    await makeInsights(ann, await streamOf(), {
      ...{ session_id: session.id, span: [50_000, 60_000] },
      conversation: { participants: [{ stream_id: id, speaker: 3, contact_id, talk_ms: 300 }] },
    });
    const tokenOf = async (permissions: string[]) => {
      const body = { name: 'tool', permissions, expires_at: null };
      return bearer(spool, (await ann.ask<{ value: string }>('POST', '/me/tokens', body)).value);
    };
    const named = { contact_id, speaker_name: 'Zoë' };
    t.match(await (await tokenOf(['insights:read', 'turns:read'])).ask('GET', path), { participants: [named] });
    const nameless = { contact_id: null, speaker_name: null };
    const alone = await tokenOf(['insights:read']);
    t.match(await alone.ask('GET', path), { participants: [nameless] });
    await ann.entitle('transcripts.access', false);
    const off = await read();
    await ann.entitle('transcripts.access', true);
    t.match(off, { participants: [nameless] });
  });

  await t.test('K-009 it says when the session ended', async (t) => {
    await ann.ask('POST', `/device-sessions/${session.id}/end`);
    await until('it says so', async () => (await read()).ended_at !== null);
    t.match(await read(), { ended_at: /Z$/ });
  });
});
