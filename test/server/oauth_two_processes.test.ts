import t from 'tap';
import { oauthRaces } from './oauth_races.js';

t.test('what may happen once happens once, whichever of two processes is asked', (t) =>
  oauthRaces(t, { rounds: 8, callers: 10 }),
);
