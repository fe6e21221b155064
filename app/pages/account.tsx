import { useState } from 'preact/hooks';
import { api } from '../api/api.js';
import { useEvents } from '../api/event_feed.js';
import { useAction } from '../api/loading.js';
import { say } from '../language/say.js';
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
import { AppearanceSetting } from './account/appearance_setting.js';
import { DeleteAccount } from './account/delete_account.js';
import { DueMailSetting } from './account/due_mail_setting.js';
import { MeaningSetting } from './account/meaning_setting.js';
import { SpokenLanguageSetting } from './account/spoken_language_setting.js';
import { TimeZoneSetting } from './account/time_zone_setting.js';
import { VocabularySetting } from './account/vocabulary_setting.js';

const NAME_CHARS_MAX = 80;

/** The account itself: its name, its time zone, its looks, how recall finds, what is spoken, and its end. */
export function AccountPage() {
  useEvents(['account.updated'], () => void loadAccount());
  const has_profile = may('profile:read') && may('profile:write');
  return (
    <Page title={say('Settings')}>
      <SettingsTabs />
      <Name />
      {has_profile && <TimeZoneSetting />}
      <AppearanceSetting />
      <MeaningSetting />
      {has_profile && <SpokenLanguageSetting />}
      {has_profile && <VocabularySetting />}
      <DueMailSetting />
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
    showToast(say('Saved.'));
  });
  return (
    <Section title={say('You')}>
      <div class="panel">
        <dl class="facts">
          <div>
            <dt>{say('Email address')}</dt>
            <dd class="cut">{account.value?.email}</dd>
          </div>
        </dl>
        <Form of={saving} submit={say('Save')} fields={['name']} onSubmit={() => void saving.run()}>
          <TextField
            label={say('Name')}
            value={name}
            onValue={setName}
            maxLength={NAME_CHARS_MAX}
            autoComplete="name"
            hint={say('Members of your workspaces see it. Leave empty for no name.')}
            error={faultOf(saving.error, 'name')}
          />
        </Form>
      </div>
    </Section>
  );
}

function SignOut() {
  const everywhere = useToastAction(say('You are still signed in.'), async () => {
    await api('POST /me/sign-out', { body: { everywhere: true } });
    await signOut();
  });
  const end = async () => {
    const text = (
      <div class="spaced">
        <p>{say('Our own apps and this browser ask for a code again.')}</p>
        <p>
          {say('Connected apps and personal access tokens stop working as well, and an export in progress is stopped.')}
        </p>
      </div>
    );
    const question = { title: say('Sign out everywhere?'), action: say('Sign out everywhere'), grave: true, text };
    if (await confirm(question)) await everywhere.run();
  };
  return (
    <Section title={say('Sign out')} lead={say('In this browser, or everywhere you are signed in.')}>
      <div class="actions">
        <Button onClick={() => void signOut()}>{say('Sign out here')}</Button>
        <Button kind="danger" busy={everywhere.busy} onClick={() => void end()}>
          {say('Sign out everywhere')}
        </Button>
      </div>
    </Section>
  );
}
