import { say } from '../language/say.js';
import { Page } from '../parts/page.js';
import { may } from '../shell/account.js';
import { SettingsTabs } from '../shell/page_tabs.js';
import { Apps } from './connections/apps.js';
import { Omi } from './connections/omi.js';

/** Who may act for the account: apps of others, and our own where they are signed in. */
export function Connections() {
  return (
    <Page title={say('Connections')} lead={say('Apps that can act for you, and where you are signed in.')}>
      <SettingsTabs />
      <Apps />
      {may('audio:write') && <Omi />}
    </Page>
  );
}
