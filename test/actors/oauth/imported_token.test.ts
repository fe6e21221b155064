import fc from 'fast-check';
import t from 'tap';
import type { NewGrant } from '../../../actors/oauth/grant.js';
import { type ImportedToken, type ImportedTokenMessage, importedToken } from '../../../actors/oauth/imported_token.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: importedToken, self: 'sha256 of a token' };
const LIFE_MS = LIMITS.imported_token_life_ms;
const grant: NewGrant = {
  account_id: 'a',
  client_id: 'app',
  name: 'App',
  scopes: ['read'],
  audience: 'api',
  issuer: 'legacy',
  seed: Buffer.from('seed'),
  key_id: 'k',
  issued_under: { account: 0, grants: 0 },
  verified_at_ms: START_MS - 9,
  code: { challenge: '', redirect_uri: null },
};
const bringIn = (grant_id: string): Extract<ImportedTokenMessage, { type: 'bring_in' }> => ({
  type: 'bring_in',
  grant_id,
  grant,
  created_at_ms: START_MS - 9,
});
const kept: ImportedToken = { grant_id: 'g' };

t.test('a token of an earlier system brings its grant in once', async (t) => {
  decideRows(t, kind, [
    {
      says: 'brought in',
      state: null,
      message: bringIn('g'),
      reply: { grant_id: 'g', is_new: true },
      next: kept,
      effects: [
        {
          effect: 'notify',
          to: { kind: 'grant', id: 'g' },
          message: { type: 'bring_in', grant, created_at_ms: START_MS - 9 },
        },
        { effect: 'schedule_reminder', name: 'run_out', at_ms: START_MS + LIFE_MS, message: { type: 'run_out' } },
      ],
    },
    {
      says: 'read from the file again',
      state: kept,
      message: bringIn('other'),
      reply: { grant_id: 'g', is_new: false },
    },
    { says: 'looked up: unknown', state: null, message: { type: 'view' }, reply: { refused: 'NOT_FOUND' } },
    { says: 'looked up', state: kept, message: { type: 'view' }, reply: kept },
    { says: 'run out', state: kept, message: { type: 'run_out' }, reply: { done: true }, next: null },
  ]);
});

t.test('in any play a token leads to one grant for 90 days', async (t) => {
  const message = fc.constantFrom<ImportedTokenMessage>(bringIn('g1'), bringIn('g2'), bringIn('g3'), { type: 'view' });
  checkPlays(t, { plays: anyPlay(message, [1, LIFE_MS / 2, LIFE_MS - 1, LIFE_MS]), runs: 200 }, (steps) => {
    const played = new Played(importedToken, kind.self);
    let brought: { grant_id: string; at_ms: number } | null = null;
    for (const step of steps) {
      if ('pass' in step) {
        played.pass(step.pass);
        if (brought !== null && played.now_ms >= brought.at_ms + LIFE_MS) brought = null;
      } else {
        const tells = played.effects.filter(({ effect }) => effect === 'notify').length;
        const { reply } = played.send(step.send);
        const is_new: boolean = step.send.type === 'bring_in' && brought === null;
        if (step.send.type === 'bring_in') brought ??= { grant_id: step.send.grant_id, at_ms: played.now_ms };
        const leads_to = isRefusal(reply) || !('grant_id' in reply) ? undefined : reply.grant_id;
        if (leads_to !== brought?.grant_id) throw new Error('it leads elsewhere');
        if (played.effects.filter(({ effect }) => effect === 'notify').length !== tells + (is_new ? 1 : 0))
          throw new Error('a grant too many, or none');
      }
      if (played.reminders.has('run_out') !== (played.state !== null)) throw new Error('its end is not planned');
    }
  });
});
