import { useState } from 'preact/hooks';
import { api } from '../../api/api.js';
import { ApiError } from '../../api/api_error.js';
import { useAction } from '../../api/loading.js';
import { say, sayWith } from '../../language/say.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { TextField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import { Section } from '../../parts/page.js';
import { timeText } from '../../parts/time.js';
import { go } from '../../router.js';
import { endedBy, signIn } from '../../session/session.js';
import { account } from '../../shell/account.js';

const RESTORABLE_DAYS = 7;
const DAY_MS = 24 * 3_600_000;
/** Behind the address: the dialog is open, as after a sign-in that the deletion asked for. */
const OPEN = '#delete';

/** The end of the account, which can be taken back for seven days. */
export function DeleteAccount() {
  const [open, setOpen] = useState(location.hash === OPEN);
  const close = () => {
    setOpen(false);
    if (location.hash === OPEN) go(location.pathname, { replace: true });
  };
  return (
    <Section title={say('Delete account')}>
      <div class="panel spaced danger-zone">
        <p>
          {say('Everything that is yours is deleted. You can restore it for {n} days; after that nobody can.', {
            n: RESTORABLE_DAYS,
          })}
        </p>
        <Button kind="danger" onClick={() => setOpen(true)}>
          {say('Delete my account')}
        </Button>
      </div>
      <Dialog open={open} title={say('Delete my account')} onClose={close}>
        {open && <Deletion onClose={close} />}
      </Dialog>
    </Section>
  );
}

function Deletion({ onClose }: { onClose: () => void }) {
  const email = account.value?.email ?? '';
  const [typed, setTyped] = useState('');
  const deletion = useAction(async () => {
    if (typed.trim().toLowerCase() !== email.toLowerCase()) {
      throw new ApiError(
        'BAD_REQUEST',
        say('Type the address.'),
        new Map([['typed', say('Type your own email address.')]]),
      );
    }
    await api('DELETE /me');
    const until = timeText(Date.now() + RESTORABLE_DAYS * DAY_MS, 'date');
    endedBy(
      say('Your account is deleted. You can restore it until {until}: sign in, and choose to restore it.', { until }),
    );
  });
  const again = useAction(async () => {
    go(location.pathname + OPEN, { replace: true });
    await signIn({ again: true });
  });
  if (deletion.error?.code === 'REAUTHENTICATION_REQUIRED') {
    return (
      <>
        <p role="alert">
          {say(
            'You signed in a while ago. So that nobody else deletes your account, enter a new code first: it leads back here.',
          )}
        </p>
        <div class="dialog-actions">
          <Button onClick={onClose}>{say('Cancel')}</Button>
          <Button kind="primary" busy={again.busy} onClick={() => void again.run()}>
            {say('Enter a code')}
          </Button>
        </div>
      </>
    );
  }
  return (
    <Form
      of={{ ...deletion, error: inWords(deletion.error) }}
      submit={say('Delete my account')}
      grave
      fields={['typed']}
      onSubmit={() => void deletion.run()}
      onCancel={onClose}
    >
      <ul class="points">
        <li>{say('You are signed out everywhere, and nothing answers in your name any more.')}</li>
        <li>
          {say('Your devices keep what they have not sent, and can send it only if you restore the account in time.')}
        </li>
        <li>
          {say('Connected apps and personal access tokens end for good, and so do memberships in shared workspaces.')}
        </li>
        <li>
          {sayWith(
            'For {n} days you can restore it: sign in at {link}, to which the mail that confirms the deletion leads as well. Then recordings, transcripts and all else are erased.',
            { n: RESTORABLE_DAYS, link: <a href="/restore">{say('the restore page')}</a> },
          )}
        </li>
      </ul>
      <TextField
        type="email"
        label={say('To go on, type {email}', { email })}
        value={typed}
        onValue={setTyped}
        autoComplete="off"
        spellcheck={false}
        error={faultOf(deletion.error, 'typed')}
      />
    </Form>
  );
}

function inWords(error: ApiError | null): ApiError | null {
  if (error?.code !== 'WORKSPACE_OWNER_REQUIRED') return error;
  const words = say(
    'You own a shared workspace that others belong to. Hand it over or delete it first, under Workspaces.',
  );
  return new ApiError(error.code, words);
}
