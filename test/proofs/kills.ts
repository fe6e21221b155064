/**
 * `npm run prove -- kills`: the server killed (-9) after every single commit of every step of signing in, of workspaces
 * and memberships, and of deletion, restoration and erasure.
 */
import t from 'tap';
import { ALL_KILLS } from '../fixtures/kills.js';
import { oauthKills } from '../server/oauth_kills.js';
import { DELETION_STEPS, MEMBERSHIP_STEPS, workspaceKills } from '../server/workspace_kills.js';

const timeout = 10 * 60_000;
t.setTimeout(3 * timeout);
t.test('signing in', { timeout }, (t) => oauthKills(t, ALL_KILLS));
t.test('workspaces', { timeout }, (t) => workspaceKills(t, MEMBERSHIP_STEPS, ALL_KILLS));
t.test('deletion', { timeout }, (t) => workspaceKills(t, DELETION_STEPS, ALL_KILLS));
