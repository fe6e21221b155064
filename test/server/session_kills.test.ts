import t from 'tap';
import { someKills } from '../fixtures/kills.js';
import { sessionKills } from './session_kills.js';

/** `npm run prove -- session_kills` has all steps and every commit. */
t.test(
  'H-026 H-027 H-030 killed at any commit of how a session begins and ends: nothing is half done',
  { timeout: 110_000 },
  (t) => sessionKills(t, ['redeem a session claim', 'end by recorder'], someKills(t)),
);
