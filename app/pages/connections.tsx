import { Page } from '../parts/page.js';
import { SettingsTabs } from '../shell/page_tabs.js';
import { Apps } from './connections/apps.js';
import { Tokens } from './connections/tokens.js';

/** Who may act for the account: apps of others, our own where they are signed in, and tokens for programs. */
export function Connections() {
  return (
    <Page title="Connections" lead="Who may act for you, and where you are signed in.">
      <SettingsTabs />
      <Apps />
      <Tokens />
    </Page>
  );
}
