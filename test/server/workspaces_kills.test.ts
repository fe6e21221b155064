import t from 'tap';
import { someKills } from '../fixtures/kills.js';
import { MEMBERSHIP_STEPS, workspaceKills } from './workspace_kills.js';

t.test(
  'I-002 I-003 I-005 I-009 I-011 killed at any commit of what is done with a workspace: nothing is half done',
  { timeout: 110_000 },
  (t) => workspaceKills(t, MEMBERSHIP_STEPS, someKills(t)),
);
