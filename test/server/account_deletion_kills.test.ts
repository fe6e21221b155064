import t from 'tap';
import { someKills } from '../fixtures/kills.js';
import { DELETION_STEPS, workspaceKills } from './workspace_kills.js';

t.test(
  'D-014 D-016 D-025 D-026 D-029 D-031 D-033 killed at any commit of a deletion, restore or erasure: nothing is half done',
  { timeout: 110_000 },
  (t) => workspaceKills(t, DELETION_STEPS, someKills(t)),
);
