import t from 'tap';
import { workspaceRaces } from './workspace_races.js';

t.test(
  'I-003 I-011 D-025 D-031 whichever of two processes is asked, people and workspaces agree',
  { timeout: 90_000 },
  (t) => workspaceRaces(t, { accounts: 5, operations: 250, at_once: 6 }),
);
