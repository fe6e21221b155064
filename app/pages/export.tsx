import { say } from '../language/say.js';
import { Page } from '../parts/page.js';
import { SettingsTabs } from '../shell/page_tabs.js';
import { Exports } from './account/exports.js';

/** The account's data, to take along. */
export function ExportPage() {
  return (
    <Page title={say('Export')}>
      <SettingsTabs />
      <Exports />
    </Page>
  );
}
