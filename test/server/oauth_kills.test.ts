import t from 'tap';
import { someKills } from '../fixtures/kills.js';
import { oauthKills } from './oauth_kills.js';

t.test(
  'killed at any commit of any step of a sign-in: nothing is half done, and whoever asks again goes on',
  { timeout: 120_000 },
  (t) => oauthKills(t, someKills(t)),
);
