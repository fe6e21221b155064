import t from 'tap';
import type { WorkspaceMessage } from '../../../actors/workspaces/workspace.js';
import { type InvitationView, TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';

const HOLD_ASKS_AFTER_MS = 30_000;

t.test('a workspace that holds still for a deletion', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const cem = await TestAccount.open(spool, 'cem@x.test');
  const { id } = await ann.workspace('Team');
  await ann.bring(id, [bob]);
  const path = `/workspaces/${id}/invitations`;
  const { id: invitation_id } = await ann.ask<InvitationView>('POST', path, { email: cem.email, role: 'member' });
  const hold = (account_id: string) => {
    // As from an account whose outcome never comes.
    const message: WorkspaceMessage = { type: 'hold', account_id, attempt: 99 };
    return spool.server.services.runtime.askDownstream({ kind: 'workspace', id }, message);
  };

  await t.test('I-003 I-011 nobody joins and nobody becomes owner: 503', async (t) => {
    await hold(bob.id);
    const [joined, given] = await Promise.all([
      cem.says('POST', `/me/invitations/${invitation_id}/accept`),
      ann.says('POST', `/workspaces/${id}/transfer`, { account_id: bob.id }),
    ]);
    t.same([joined, given], ['503 UNAVAILABLE', '503 UNAVAILABLE']);
    t.same(await ann.members(id), ['ann@x.test owner', 'bob@x.test member']);
    t.same(await cem.workspaceNames(), ['Private owner']);
    t.match(await cem.ask('GET', '/me/invitations'), { items: [{ id: invitation_id }] }, 'the invitation stands');
    t.equal(await ann.says('PATCH', `/workspaces/${id}`, { name: 'Crew' }), '200', 'all else goes on');
  });

  await t.test('I-011 what waits goes on as soon as the outcome is known', async (t) => {
    const accepted = cem.says('POST', `/me/invitations/${invitation_id}/accept`);
    // The account, asked for it after half a minute, is not to be deleted.
    await spool.operator.advanceClock(HOLD_ASKS_AFTER_MS);
    t.equal(await accepted, '204');
    t.same(await ann.members(id), ['ann@x.test owner', 'bob@x.test member', 'cem@x.test member']);
  });

  await t.test('D-016 D-025 a deletion that is decided lets go of all', async (t) => {
    t.equal(await ann.says('DELETE', '/me'), '409 WORKSPACE_OWNER_REQUIRED');
    t.equal(await ann.says('POST', `/workspaces/${id}/transfer`, { account_id: bob.id }), '204', 'it was let go');
    t.equal(await ann.says('DELETE', '/me'), '204');
    t.same(await bob.members(id), ['bob@x.test owner', 'cem@x.test member']);
    t.equal(await bob.says('POST', `/workspaces/${id}/transfer`, { account_id: cem.id }), '204');
  });
});
