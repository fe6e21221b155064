import { useState } from 'preact/hooks';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useAction } from '../api/loading.js';
import { Button } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Page, Section } from '../parts/page.js';
import { useToastAction } from '../parts/toast_action.js';
import { showToast } from '../parts/toast_queue.js';
import { signOut } from '../session/session.js';
import { account, loadAccount, may } from '../shell/account.js';
import { SettingsTabs } from '../shell/page_tabs.js';
import { DeleteAccount } from './account/delete_account.js';
import { MeaningSetting } from './account/meaning_setting.js';
import { TimeZoneSetting } from './account/time_zone_setting.js';

const NAME_CHARS_MAX = 80;

/** The account itself: its name, its time zone, how recall finds, and its end. */
export function AccountPage() {
  useEvents(['account.updated'], () => void loadAccount());
  return (
    <Page title="Account">
      <SettingsTabs />
      <Name />
      {may('profile:read') && may('profile:write') && <TimeZoneSetting />}
      <MeaningSetting />
      <SignOut />
      <DeleteAccount />
    </Page>
  );
}

function Name() {
  const [name, setName] = useState(account.value?.name ?? '');
  const saving = useAction(async () => {
    const text = name.trim();
    account.value = await api('PATCH /me', { body: { name: text === '' ? null : text } });
    showToast('Saved.');
  });
  return (
    <Section title="You">
      <div class="panel">
        <dl class="facts">
          <div>
            <dt>Email address</dt>
            <dd class="cut">{account.value?.email}</dd>
          </div>
        </dl>
        <Form of={saving} submit="Save" fields={['name']} onSubmit={() => void saving.run()}>
          <TextField
            label="Name"
            value={name}
            onValue={setName}
            maxLength={NAME_CHARS_MAX}
            autoComplete="name"
            hint="Members of your workspaces see it. Leave empty for no name."
            error={faultOf(saving.error, 'name')}
          />
        </Form>
      </div>
    </Section>
  );
}

function SignOut() {
  const everywhere = useToastAction('You are still signed in.', async () => {
    await api('POST /me/sign-out', { body: { everywhere: true } });
    await signOut();
  });
  const end = async () => {
    const text = (
      <div class="spaced">
        <p>Our own apps and this browser ask for a code again.</p>
        <p>Connected apps and personal access tokens stop working as well, and an export in progress is stopped.</p>
      </div>
    );
    const question = { title: 'Sign out everywhere?', action: 'Sign out everywhere', grave: true, text };
    if (await confirm(question)) await everywhere.run();
  };
  return (
    <Section title="Sign out" lead="In this browser, or everywhere you are signed in.">
      <div class="actions">
        <Button onClick={() => void signOut()}>Sign out here</Button>
        <Button kind="danger" busy={everywhere.busy} onClick={() => void end()}>
          Sign out everywhere
        </Button>
      </div>
    </Section>
  );
}
