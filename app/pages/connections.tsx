import { Page } from '../parts/page.js';
import { Apps } from './connections/apps.js';
import { Tokens } from './connections/tokens.js';

/** Who may act for the account: apps of others, our own where they are signed in, and tokens for programs. */
export function Connections() {
  return (
    <Page title="Connections" lead="Who may act for you, and where you are signed in.">
      <Apps />
      <Tokens />
    </Page>
  );
}
