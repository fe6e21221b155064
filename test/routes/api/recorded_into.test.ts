import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Import, Stream } from '../../../kits/typescript/src/api.js';
import { pcm16Format, writeWav } from '../../../src/engine/audio/wav.js';
import { TestAccount } from '../../fixtures/account.js';
import { announceFile, sendFile } from '../../fixtures/importing.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

/** The workspace that an app, or a file, records into. */

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const cy = await TestAccount.open(spool, 'cy@x.test');
const team = await ann.workspace('Team');
const { id: invitation_id } = await ann.ask<{ id: string }>('POST', `/workspaces/${team.id}/invitations`, {
  email: 'bob@x.test',
  role: 'member',
});
await bob.ask('POST', `/me/invitations/${invitation_id}/accept`);
const source = await bob.ask<{ id: string }>('POST', '/sources', { name: 'Desk' });
const body = { source_id: source.id, captured_at: '2026-11-01T10:00:00.000Z', workspace_id: team.id };
const privateOf = async (who: TestAccount) =>
  (await who.ask<{ workspaces: { id: string; private: boolean }[] }>('GET', '/me')).workspaces.find(
    (one) => one.private,
  )?.id;
const wav = (value: number) =>
  writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 8_000 }) }, Buffer.alloc(16_000, value));
const imported = async (value: number, workspace_id: string, before_end = async () => {}) => {
  const bytes = wav(value);
  const importer = { app: bob.app, base_url: spool.base_url };
  const found = await announceFile(importer, bytes, { name: 'a.wav', workspace_id });
  await before_end();
  await sendFile(importer, found, bytes);
  const read = () => bob.ask<Import>('GET', `/audio/imports/${found.id}`);
  await until('it is a recording', async () => {
    await spool.operator.advanceClock(1);
    return (await read()).status === 'done';
  });
  const { stream_id } = await read();
  return bob.ask<Stream>('GET', `/audio/streams/${stream_id}`);
};

t.test('K-308 an app records into a workspace of its account, where members read it', async (t) => {
  const stream = await bob.ask<Stream>('POST', '/audio/streams', body);
  t.equal(stream.workspace_id, team.id);
  const listed = await ann.ask<{ items: Stream[] }>('GET', `/audio/streams?workspace_id=${team.id}`);
  t.same(
    listed.items.map(({ id }) => id),
    [stream.id],
  );
  t.equal(await ann.says('GET', `/audio/streams/${stream.id}`), '200');
  t.equal(await cy.says('GET', `/audio/streams/${stream.id}`), '404 NOT_FOUND');
  const own = await bob.ask<Stream>('POST', '/audio/streams', { ...body, workspace_id: undefined });
  t.equal(own.workspace_id, await privateOf(bob));
  t.equal(await ann.says('GET', `/audio/streams/${own.id}`), '404 NOT_FOUND');
});

t.test('K-309 nobody records into a workspace of others, or into a shared one without sharing', async (t) => {
  const own = await cy.ask<{ id: string }>('POST', '/sources', { name: 'Desk' });
  for (const workspace_id of [team.id, await privateOf(bob), randomUUID()])
    t.equal(await cy.says('POST', '/audio/streams', { ...body, source_id: own.id, workspace_id }), '404 NOT_FOUND');
  t.equal(await bob.says('POST', '/audio/streams', { ...body, workspace_id: 'x' }), '400 BAD_REQUEST');
  await bob.entitle('workspace.sharing', false);
  t.equal(await bob.says('POST', '/audio/streams', body), '403 WORKSPACE_SHARING_REQUIRED');
  t.equal(
    (await bob.ask<Stream>('POST', '/audio/streams', { ...body, workspace_id: await privateOf(bob) })).workspace_id,
    await privateOf(bob),
  );
  await bob.entitle('workspace.sharing', true);
});

t.test(
  'K-308 a file is imported into a workspace, and into the private one if its account left meanwhile',
  async (t) => {
    t.equal((await imported(1, team.id)).workspace_id, team.id);
    const left = await imported(2, team.id, async () => {
      await bob.ask('POST', `/workspaces/${team.id}/leave`);
    });
    t.equal(left.workspace_id, await privateOf(bob));
  },
);
