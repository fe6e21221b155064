import { say } from '../language/say.js';
import { Page } from '../parts/page.js';
import { SettingsTabs } from '../shell/page_tabs.js';
import { Tokens } from './connections/tokens.js';

/** Personal access tokens, for programs of one's own. */
export function TokensPage() {
  return (
    <Page title={say('Tokens')} lead={say('Tokens let your own programs act for you.')}>
      <SettingsTabs />
      <Tokens />
    </Page>
  );
}
