import type { Invitation, Workspace } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useAction, useList } from '../../api/loading.js';
import { say, sayWith } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { useEvery } from '../../parts/clock.js';
import { Dialog, useDialogOpen } from '../../parts/dialog.js';
import { useDraft } from '../../parts/drafts.js';
import { SelectField, TextField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import { Section } from '../../parts/page.js';
import { List, Problem } from '../../parts/placeholders.js';
import { Time } from '../../parts/time.js';
import { leaveRow } from '../../parts/toast_action.js';
import { showToast } from '../../parts/toast_queue.js';
import { account } from '../../shell/account.js';
import { type GivenRole, givenRoles, ROLES, wordsOf } from './workspace_texts.js';

const TITLE = 'Invite somebody' as const;

const INVITATIONS_PER_PAGE = 50;
/** No event says that one was answered. */
const LOOK_MS = 10_000;

/** Who is invited and has not answered. */
export function Invitations({ workspace: { id } }: { workspace: Workspace }) {
  const invitations = useList(
    (cursor) =>
      api('GET /workspaces/{id}/invitations', { path: { id }, query: { limit: INVITATIONS_PER_PAGE, cursor } }),
    [id],
  );
  const [inviting, setInviting] = useDialogOpen(say(TITLE));
  useEvery(invitations.items.length > 0 ? LOOK_MS : null, invitations.reload);
  const may_invite = account.value?.sharing_enabled === true;
  const invite = may_invite && <Button onClick={() => setInviting(true)}>{say('Invite somebody')}</Button>;
  return (
    <Section title={say('Invitations')} actions={invite}>
      <List
        of={invitations}
        empty={
          <p class="lead">
            {may_invite ? say('Nobody is invited at the moment.') : say('Your account may not invite.')}
          </p>
        }
        label={say('Invitations')}
      >
        {(invitation) => <Row key={invitation.id} invitation={invitation} changed={invitations.reload} />}
      </List>
      <Dialog open={inviting} title={say(TITLE)} onClose={() => setInviting(false)}>
        {inviting && <Invite id={id} invited={invitations.reload} onClose={() => setInviting(false)} />}
      </Dialog>
    </Section>
  );
}

function Invite({ id, invited, onClose }: { id: string; invited: () => void; onClose: () => void }) {
  const [email, setEmail] = useDraft('email', '');
  const [role, setRole] = useDraft<GivenRole>('role', 'member');
  const inviting = useAction(async () => {
    const { email: address } = await api('POST /workspaces/{id}/invitations', { path: { id }, body: { email, role } });
    showToast(say('{address} is invited.', { address }));
    invited();
    onClose();
  });
  return (
    <Form
      of={{ ...inviting, error: wordsOf(inviting.error) }}
      submit={say('Invite')}
      fields={['email', 'role']}
      onSubmit={() => void inviting.run()}
      onCancel={onClose}
    >
      <TextField
        type="email"
        label={say('Email address')}
        value={email}
        onValue={setEmail}
        autoComplete="off"
        hint={say('They get a mail, and need no account yet.')}
        error={faultOf(inviting.error, 'email')}
      />
      <SelectField
        label={say('Role')}
        value={role}
        onValue={(value) => setRole(value as GivenRole)}
        options={givenRoles()}
        hint={say(ROLES[role].does)}
        error={faultOf(inviting.error, 'role')}
      />
    </Form>
  );
}

function Row({ invitation, changed }: { invitation: Invitation; changed: () => void }) {
  const { id: invitation_id, workspace, email, role, created_at } = invitation;
  const withdrawal = useAction(async () => {
    await api('DELETE /workspaces/{id}/invitations/{invitation_id}', { path: { id: workspace.id, invitation_id } });
    showToast(say('The invitation of {email} is revoked.', { email }));
    leaveRow();
    changed();
  });
  const error = wordsOf(withdrawal.error);
  return (
    <li>
      <div class="row-main">
        <p class="row-title cut">
          <bdi>{email}</bdi>
        </p>
        <p class="row-facts">
          <span>{say('As {role}', { role: say(ROLES[role].word) })}</span>
          <span>{sayWith('Since {time}', { time: <Time at={created_at} style="date" /> })}</span>
        </p>
      </div>
      <div class="row-end">
        <Button
          small
          kind="danger"
          busy={withdrawal.busy}
          aria-label={say('Revoke the invitation of {email}', { email })}
          onClick={() => void withdrawal.run()}
        >
          {say('Revoke')}
        </Button>
      </div>
      {error !== null && <Problem error={error} />}
    </li>
  );
}
