import t from 'tap';
import { type PairingCode, pairingCode } from '../../../actors/devices/pairing_code.js';
import { scheduleExpiry } from '../../../actors/expiry.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { decideRows, START_MS } from '../../fixtures/decisions.js';

const DONE = { done: true } as const;
const expires_at_ms = START_MS + LIMITS.pairing_code_life_ms;
const opened: PairingCode = { claim_id: 'c', expires_at_ms };
const over_ms = expires_at_ms;

t.test('H-052 a pairing code leads to one claim, for ten minutes', async (t) => {
  decideRows(t, { kind: pairingCode, self: 'p' }, [
    {
      says: 'opened',
      state: null,
      message: { type: 'open', claim_id: 'c' },
      reply: opened,
      next: opened,
      effects: [scheduleExpiry(expires_at_ms)],
    },
    { says: 'the same again', state: opened, message: { type: 'open', claim_id: 'c' }, reply: opened },
    {
      says: 'drawn for another claim while it counts',
      state: opened,
      message: { type: 'open', claim_id: 'x' },
      reply: { refused: 'CONFLICT' },
    },
    {
      says: 'drawn for another claim once it is over',
      state: opened,
      now_ms: over_ms,
      message: { type: 'open', claim_id: 'x' },
      reply: { claim_id: 'x', expires_at_ms: over_ms + LIMITS.pairing_code_life_ms },
      next: { claim_id: 'x', expires_at_ms: over_ms + LIMITS.pairing_code_life_ms },
      effects: [scheduleExpiry(over_ms + LIMITS.pairing_code_life_ms)],
    },
    { says: 'viewed', state: opened, now_ms: over_ms - 1, message: { type: 'view' }, reply: opened },
    { says: 'over', state: opened, now_ms: over_ms, message: { type: 'view' }, reply: { refused: 'NOT_FOUND' } },
    { says: 'unknown', state: null, message: { type: 'view' }, reply: { refused: 'NOT_FOUND' } },
    { says: 'it goes', state: opened, now_ms: over_ms, message: { type: 'run_out' }, reply: DONE, next: null },
    { says: 'not before its time', state: opened, message: { type: 'run_out' }, reply: DONE },
  ]);
});
