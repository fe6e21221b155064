import type { Member, Workspace } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useEvents } from '../../api/event_feed.js';
import { useAction, useList } from '../../api/loading.js';
import { say, sayWith } from '../../language/say.js';
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
    <Section title={say('Members')}>
      <List of={members} empty={<p class="lead">{say('Nobody belongs to it.')}</p>} label={say('Members')}>
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
    showToast(say('{name} is {role} now.', { name: name ?? email, role: say(ROLES[next].word) }));
    changed();
  });
  const removal = useAction(async () => {
    await api('DELETE /workspaces/{id}/members/{account_id}', { path });
    showToast(say('{name} is removed.', { name: name ?? email }));
    leaveRow();
    changed();
  });
  const transfer = useAction(async () => {
    await api('POST /workspaces/{id}/transfer', { path: { id: path.id }, body: { account_id: path.account_id } });
    showToast(say('{name} is the owner now.', { name: name ?? email }));
    changed();
  });
  const error = wordsOf(changing.error ?? removal.error ?? transfer.error);
  const remove = async () => {
    const text = say('They lose access to what is recorded there. What they recorded in it stays in it.');
    if (
      await confirm({ title: say('Remove {name}?', { name: name ?? email }), action: say('Remove'), grave: true, text })
    )
      await removal.run();
  };
  const handOver = async () => {
    const text = say('They become the owner, and you become an admin. Only they can give it back.');
    const question = {
      title: say('Make {name} the owner?', { name: name ?? email }),
      action: say('Transfer ownership'),
      grave: true,
      text,
    };
    if (await confirm(question)) await transfer.run();
  };
  const may_change = workspace.role !== 'member' && role !== 'owner' && !is_self;
  const busy = changing.busy || removal.busy || transfer.busy;
  return (
    <li>
      <div class="row-main">
        <p class="row-title cut">
          <bdi>{name ?? email}</bdi>
          {is_self && ` ${say('(you)')}`}
        </p>
        <p class="row-facts">
          {name !== null && <bdi class="cut">{email}</bdi>}
          <span>{sayWith('Since {time}', { time: <Time at={joined_at} style="date" /> })}</span>
        </p>
      </div>
      <div class="row-end">
        {may_change ? (
          <>
            <select
              aria-label={say('Role of {name}', { name: name ?? email })}
              value={role}
              disabled={busy}
              onChange={(event) => void changing.run(event.currentTarget.value as GivenRole)}
            >
              <option value="member">{say(ROLES.member.name)}</option>
              <option value="admin">{say(ROLES.admin.name)}</option>
            </select>
            {workspace.role === 'owner' && (
              <Button
                small
                busy={busy}
                aria-label={say('Make owner: {name}', { name: name ?? email })}
                onClick={() => void handOver()}
              >
                {say('Make owner')}
              </Button>
            )}
            <Button
              small
              kind="danger"
              busy={busy}
              aria-label={say('Remove {name}', { name: name ?? email })}
              onClick={() => void remove()}
            >
              {say('Remove')}
            </Button>
          </>
        ) : (
          <Badge tone={role === 'owner' ? 'good' : 'plain'}>{say(ROLES[role].name)}</Badge>
        )}
      </div>
      {error !== null && <Problem error={error} />}
    </li>
  );
}
