import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type Claim, type ClaimMessage, claim } from '../../../actors/devices/claim.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const create = { type: 'create', account_id: 'a', secret_hash: 'h', binding_epoch: 'e', source_id: 's' } as const;
const expires_at_ms = START_MS + LIMITS.claim_owner_life_ms;
const gone_at_ms = expires_at_ms + LIMITS.claim_redeemed_keep_ms;
const { type: _, ...made } = create;
const open: Claim = { ...made, kind: 'owner', expires_at_ms, redemption: { status: 'open' } };
const asked: Claim = { ...open, redemption: { status: 'asked', device_id: 'd' } };
const bound: Claim = { ...open, redemption: { status: 'bound', device_id: 'd' } };
const refused: Claim = {
  ...open,
  redemption: { status: 'open', refused: { device_id: 'd', outcome: 'bound_elsewhere' } },
};
const wrong_kind: Claim = {
  ...open,
  redemption: { status: 'open', refused: { device_id: 'd', outcome: 'wrong_kind' } },
};
const DONE = { done: true } as const;

const bind = (device_id: string): Effect => ({
  effect: 'notify',
  to: { kind: 'device', id: device_id },
  message: { type: 'bind', claim_id: 'c', account_id: 'a', binding_epoch: 'e', source_id: 's' },
});
const runOut = (at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'run_out',
  at_ms,
  message: { type: 'run_out' },
});
const redeem = (device_id: string): ClaimMessage => ({ type: 'redeem', device_id });
const kind = { kind: claim, self: 'c' };

t.test('H-031 what a device hears that redeems a claim, in order', async (t) => {
  decideRows(t, kind, [
    { says: 'unknown', state: null, message: redeem('d'), reply: { refused: 'NOT_FOUND' } },
    {
      says: "another device's, though expired",
      state: bound,
      now_ms: expires_at_ms,
      message: redeem('x'),
      reply: { refused: 'CONFLICT' },
    },
    { says: 'reserved for another', state: asked, message: redeem('x'), reply: { refused: 'CONFLICT' } },
    {
      says: 'expired',
      state: open,
      now_ms: expires_at_ms,
      message: redeem('x'),
      reply: { refused: 'NOT_FOUND' },
    },
    {
      says: 'expired after a refusal',
      state: refused,
      now_ms: expires_at_ms,
      message: redeem('d'),
      reply: { refused: 'NOT_FOUND' },
    },
    {
      says: 'a millisecond before it expires',
      state: open,
      now_ms: expires_at_ms - 1,
      message: redeem('d'),
      reply: asked,
      next: asked,
      effects: [bind('d')],
    },
    { says: 'the same again is told once', state: asked, message: redeem('d'), reply: asked },
    { says: 'the same again, late', state: asked, now_ms: expires_at_ms, message: redeem('d'), reply: asked },
    { says: 'bound, the same again', state: bound, now_ms: gone_at_ms - 1, message: redeem('d'), reply: bound },
    {
      says: 'refused, the same again',
      state: refused,
      message: redeem('d'),
      reply: asked,
      next: asked,
      effects: [bind('d')],
    },
    {
      says: 'refused one device, another may',
      state: refused,
      message: redeem('x'),
      reply: { ...open, redemption: { status: 'asked', device_id: 'x' } },
      next: { ...open, redemption: { status: 'asked', device_id: 'x' } },
      effects: [bind('x')],
    },
  ]);
});

t.test('H-031 how a redemption ends', async (t) => {
  const answered = (outcome: 'bound' | 'bound_elsewhere' | 'wrong_kind', device_id = 'd'): ClaimMessage => ({
    type: 'answered',
    device_id,
    outcome,
  });
  const outcome = (device_id: string): ClaimMessage => ({ type: 'outcome', device_id });
  const waits = { refused: 'UNAVAILABLE', retry_after_s: 1 } as const;
  decideRows(t, kind, [
    { says: 'bound', state: asked, message: answered('bound'), reply: DONE, next: bound },
    {
      says: 'bound, by what there was already',
      state: asked,
      message: { type: 'answered', device_id: 'd', outcome: 'bound', binding_epoch: 'e0' },
      reply: DONE,
      next: { ...bound, binding_epoch: 'e0' },
    },
    { says: 'bound, twice', state: bound, message: answered('bound'), reply: DONE },
    { says: 'bound, a late no', state: bound, message: answered('wrong_kind'), reply: DONE },
    { says: 'bound elsewhere', state: asked, message: answered('bound_elsewhere'), reply: DONE, next: refused },
    { says: 'wrong kind', state: asked, message: answered('wrong_kind'), reply: DONE, next: wrong_kind },
    { says: 'a device that was not asked', state: asked, message: answered('bound', 'x'), reply: DONE },
    { says: 'nobody was asked', state: open, message: answered('bound'), reply: DONE },
    { says: 'no claim', state: null, message: answered('bound'), reply: { refused: 'NOT_FOUND' } },
    { says: 'outcome: no claim', state: null, message: outcome('d'), reply: { refused: 'NOT_FOUND' } },
    { says: 'outcome: waits', state: asked, message: outcome('d'), reply: waits },
    { says: 'outcome: bound', state: bound, message: outcome('d'), reply: bound },
    { says: "outcome: another's", state: bound, message: outcome('x'), reply: waits },
    {
      says: 'outcome: elsewhere',
      state: refused,
      message: outcome('d'),
      reply: { refused: 'CONFLICT', message: /another account/ },
    },
    {
      says: 'outcome: kind',
      state: wrong_kind,
      message: outcome('d'),
      reply: { refused: 'CONFLICT', message: /shared/ },
    },
    { says: "outcome: another's refusal", state: refused, message: outcome('x'), reply: waits },
  ]);
});

t.test('H-031 a claim is made once, and kept for as long as its answer may be asked for', async (t) => {
  const run_out: ClaimMessage = { type: 'run_out' };
  decideRows(t, kind, [
    { says: 'made', state: null, message: create, reply: open, next: open, effects: [runOut(expires_at_ms)] },
    { says: 'made again', state: asked, message: { ...create, account_id: 'z' }, reply: asked },
    { says: 'view: none', state: null, message: { type: 'view' }, reply: { refused: 'NOT_FOUND' } },
    { says: 'view', state: open, message: { type: 'view' }, reply: open },
    { says: 'none runs out', state: null, message: run_out, reply: DONE, next: null },
    { says: 'open', state: open, now_ms: expires_at_ms, message: run_out, reply: DONE, next: null },
    { says: 'refused', state: refused, now_ms: expires_at_ms, message: run_out, reply: DONE, next: null },
    {
      says: 'asked: stays',
      state: asked,
      now_ms: expires_at_ms,
      message: run_out,
      reply: DONE,
      effects: [runOut(gone_at_ms)],
    },
    {
      says: 'bound: stays a day',
      state: bound,
      now_ms: gone_at_ms - 1,
      message: run_out,
      reply: DONE,
      effects: [runOut(gone_at_ms)],
    },
    { says: 'bound: and no longer', state: bound, now_ms: gone_at_ms, message: run_out, reply: DONE, next: null },
  ]);
});

t.test('H-031 in any play a claim binds at most one device, and asks one at a time', async (t) => {
  const device_id = fc.constantFrom('d1', 'd2', 'd3');
  const message: fc.Arbitrary<ClaimMessage> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ type: fc.constant('redeem' as const), device_id }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('answered' as const),
        device_id,
        outcome: fc.constantFrom('bound' as const, 'bound_elsewhere' as const, 'wrong_kind' as const),
      }),
    },
    fc.record({ type: fc.constant('outcome' as const), device_id }),
    fc.constantFrom<ClaimMessage>({ type: 'view' }, create),
  );
  const passes_ms = [1, LIMITS.claim_owner_life_ms / 4, LIMITS.claim_owner_life_ms, LIMITS.claim_redeemed_keep_ms];
  checkPlays(t, { plays: anyPlay(message, passes_ms), runs: 500 }, (steps) => {
    const played = new Played(claim, 'c');
    played.send(create);
    let asked_device: string | null = null;
    let bound_device: string | null = null;
    for (const step of steps) {
      if ('pass' in step) played.pass(step.pass);
      else if (step.send.type !== 'create') {
        const told = played.effects.length;
        const { reply } = played.send(step.send);
        for (const effect of played.effects.slice(told)) {
          if (effect.effect !== 'notify') continue;
          if (asked_device !== null || bound_device !== null) throw new Error('a second device was asked');
          asked_device = effect.to.id;
        }
        if (step.send.type === 'answered' && step.send.device_id === asked_device) {
          if (step.send.outcome === 'bound') bound_device = asked_device;
          asked_device = null;
        }
        if (step.send.type === 'outcome' && !isRefusal(reply) && step.send.device_id !== bound_device) {
          throw new Error('bound, says the outcome');
        }
      }
      if (played.state === null) return;
      const { redemption } = played.state;
      const expected = bound_device ?? asked_device;
      const found = redemption.status === 'open' ? null : redemption.device_id;
      if (found !== expected) throw new Error(`held for ${found}, not ${expected}`);
      if ((redemption.status === 'bound') !== (bound_device !== null)) throw new Error('not bound');
    }
    played.pass(LIMITS.claim_owner_life_ms + LIMITS.claim_redeemed_keep_ms);
    if (played.state !== null) throw new Error('kept for ever');
  });
});
