import type { Member, Workspace } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useAction, useList } from '../../api/loading.js';
import { Button } from '../../parts/button.js';
import { useEvery } from '../../parts/clock.js';
import { confirm } from '../../parts/dialog.js';
import { Section } from '../../parts/page.js';
import { Badge, List, Problem } from '../../parts/placeholders.js';
import { Time } from '../../parts/time.js';
import { leaveRow } from '../../parts/toast_action.js';
import { showToast } from '../../parts/toast_queue.js';
import { account } from '../../shell/account.js';
import { type GivenRole, ROLES, wordsOf } from './workspace_texts.js';

const MEMBERS_PER_PAGE = 50;
/** No event says that somebody has joined. */
const LOOK_MS = 10_000;

/** Who belongs to it; admins change roles and remove, its owner hands it over as well. */
export function Members({ workspace, changed }: { workspace: Workspace; changed: () => void }) {
  const { id } = workspace;
  const members = useList(
    (cursor) => api('GET /workspaces/{id}/members', { path: { id }, query: { limit: MEMBERS_PER_PAGE, cursor } }),
    [id],
  );
  useEvents(['account.updated'], () => members.reload());
  useEvery(members.items.length <= MEMBERS_PER_PAGE ? LOOK_MS : null, members.reload);
  const reload = () => {
    members.reload();
    changed();
  };
  return (
    <Section title="Members">
      <List of={members} empty={<p class="lead">Nobody belongs to it.</p>} label="Members">
        {(member) => <Row key={member.account_id} workspace={workspace} member={member} changed={reload} />}
      </List>
    </Section>
  );
}

function Row({ workspace, member, changed }: { workspace: Workspace; member: Member; changed: () => void }) {
  const { email, name, role, joined_at } = member;
  const is_self = member.account_id === account.value?.id;
  const path = { id: workspace.id, account_id: member.account_id };
  const changing = useAction(async (next: GivenRole) => {
    await api('PATCH /workspaces/{id}/members/{account_id}', { path, body: { role: next } });
    showToast(`${name ?? email} is ${ROLES[next].name.toLowerCase()} now.`);
    changed();
  });
  const removal = useAction(async () => {
    await api('DELETE /workspaces/{id}/members/{account_id}', { path });
    showToast(`${name ?? email} is removed.`);
    leaveRow();
    changed();
  });
  const transfer = useAction(async () => {
    await api('POST /workspaces/{id}/transfer', { path: { id: path.id }, body: { account_id: path.account_id } });
    showToast(`${name ?? email} is the owner now.`);
    changed();
  });
  const error = wordsOf(changing.error ?? removal.error ?? transfer.error);
  const remove = async () => {
    const text = 'They lose access to what is recorded there. What they recorded in it stays in it.';
    if (await confirm({ title: `Remove ${name ?? email}?`, action: 'Remove', grave: true, text })) await removal.run();
  };
  const handOver = async () => {
    const text = 'They become the owner, and you become an admin. Only they can give it back.';
    const question = { title: `Make ${name ?? email} the owner?`, action: 'Transfer ownership', grave: true, text };
    if (await confirm(question)) await transfer.run();
  };
  const may_change = workspace.role !== 'member' && role !== 'owner' && !is_self;
  const busy = changing.busy || removal.busy || transfer.busy;
  return (
    <li>
      <div class="row-main">
        <p class="row-title cut">
          <bdi>{name ?? email}</bdi>
          {is_self && ' (you)'}
        </p>
        <p class="row-facts">
          {name !== null && <bdi class="cut">{email}</bdi>}
          <span>
            Since <Time at={joined_at} style="date" />
          </span>
        </p>
      </div>
      <div class="row-end">
        {may_change ? (
          <>
            <select
              aria-label={`Role of ${name ?? email}`}
              value={role}
              disabled={busy}
              onChange={(event) => void changing.run(event.currentTarget.value as GivenRole)}
            >
              <option value="member">{ROLES.member.name}</option>
              <option value="admin">{ROLES.admin.name}</option>
            </select>
            {workspace.role === 'owner' && (
              <Button small busy={busy} aria-label={`Make owner: ${name ?? email}`} onClick={() => void handOver()}>
                Make owner
              </Button>
            )}
            <Button
              small
              kind="danger"
              busy={busy}
              aria-label={`Remove ${name ?? email}`}
              onClick={() => void remove()}
            >
              Remove
            </Button>
          </>
        ) : (
          <Badge tone={role === 'owner' ? 'good' : 'plain'}>{ROLES[role].name}</Badge>
        )}
      </div>
      {error !== null && <Problem error={error} />}
    </li>
  );
}
