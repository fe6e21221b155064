import type { Invitation } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useAction, useList } from '../../api/loading.js';
import { say, sayWith } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { useEvery } from '../../parts/clock.js';
import { Section } from '../../parts/page.js';
import { List, Problem } from '../../parts/placeholders.js';
import { Time } from '../../parts/time.js';
import { leaveRow } from '../../parts/toast_action.js';
import { showToast } from '../../parts/toast_queue.js';
import { loadAccount } from '../../shell/account.js';
import { ROLES, wordsOf } from './workspace_texts.js';

const INVITATIONS_PER_PAGE = 20;
/** No event says that one has come. */
const LOOK_MS = 30_000;

/** Invitations that are addressed to the account; nothing where there are none. */
export function MyInvitations() {
  const invitations = useList(
    (cursor) => api('GET /me/invitations', { query: { limit: INVITATIONS_PER_PAGE, cursor } }),
    [],
  );
  useEvery(invitations.items.length <= INVITATIONS_PER_PAGE ? LOOK_MS : null, invitations.reload);
  if (invitations.items.length === 0 && invitations.error === null) return null;
  return (
    <Section title={say('Invitations for you')}>
      <List of={invitations} empty={null} label={say('Invitations')}>
        {(invitation) => <Row key={invitation.id} invitation={invitation} answered={invitations.reload} />}
      </List>
    </Section>
  );
}

function Row({ invitation, answered }: { invitation: Invitation; answered: () => void }) {
  const { id, workspace, role, created_at } = invitation;
  const acceptance = useAction(async () => {
    await api('POST /me/invitations/{id}/accept', { path: { id } });
    showToast(say('You now belong to {name}.', { name: workspace.name }));
    leaveRow();
    await loadAccount();
    answered();
  });
  const refusal = useAction(async () => {
    await api('POST /me/invitations/{id}/decline', { path: { id } });
    showToast(say('Declined.'));
    leaveRow();
    answered();
  });
  const error = wordsOf(acceptance.error ?? refusal.error);
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{workspace.name}</bdi>
        </p>
        <p class="row-facts">
          <span>{say('As {role}', { role: say(ROLES[role].word) })}</span>
          <span>{sayWith('Since {time}', { time: <Time at={created_at} style="date" /> })}</span>
        </p>
      </div>
      <div class="row-end">
        <Button
          small
          kind="primary"
          busy={acceptance.busy}
          aria-label={say('Accept {name}', { name: workspace.name })}
          onClick={() => void acceptance.run()}
        >
          {say('Accept')}
        </Button>
        <Button
          small
          busy={refusal.busy}
          aria-label={say('Decline {name}', { name: workspace.name })}
          onClick={() => void refusal.run()}
        >
          {say('Decline')}
        </Button>
      </div>
      {error !== null && <Problem error={error} />}
    </li>
  );
}
