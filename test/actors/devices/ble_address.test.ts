import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { type AddressMessage, type BleAddress, bleAddress } from '../../../actors/devices/ble_address.js';
import type { Asker } from '../../../actors/devices/device.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { told } from '../../fixtures/account_state.js';
import { anyPlay, checkPlays, decideRows, Played } from '../../fixtures/decisions.js';

const DONE = { done: true } as const;
const kind = { kind: bleAddress, self: 'B' };
const asker = (name: string, device_id = `d${name}`): Asker => ({
  ...{ session_id: `s${name}`, account_id: `a${name}`, device_id, claim_id: `c${name}`, source_id: `o${name}` },
});
const hold = (of: Asker): AddressMessage => ({ type: 'hold', ...of });
const held = (of: Asker, asking: Asker[] = []): BleAddress => ({
  holder: { session_id: of.session_id, device_id: of.device_id },
  asking,
});
const ready = (of: Asker): Effect => told('account', of.account_id, { type: 'session_ready', ble_address: 'B', ...of });
const taken = ({ device_id, claim_id }: Asker): Effect =>
  told('device', device_id, { type: 'not_bound', claim_id, outcome: 'address_taken' });
const [one, two, three] = [asker('1'), asker('2'), asker('3')];
const asks = told('device_session', 's1', { type: 'ask_hold', ble_address: 'B' });

t.test('H-030 who gets an address', async (t) => {
  const full = held(
    one,
    Array.from({ length: LIMITS.address_askers_max }, (_, index) => asker(`x${index}`)),
  );
  const again = asker('9', 'd1');
  decideRows(t, kind, [
    { says: 'a free one', state: null, message: hold(one), reply: DONE, next: held(one), effects: [ready(one)] },
    {
      says: 'one that is held: the holder is asked',
      state: held(one),
      message: hold(two),
      reply: DONE,
      next: held(one, [two]),
      effects: [asks],
    },
    {
      says: 'never against the same device',
      state: held(one, [two]),
      message: hold(again),
      reply: DONE,
      next: held(again),
      effects: [ready(again), taken(two)],
    },
    { says: 'too many ask', state: full, message: hold(two), reply: DONE, effects: [taken(two)] },
    {
      says: 'the holder holds on',
      state: held(one, [two, three]),
      message: { type: 'hold_answered', session_id: 's1', holds: true },
      reply: DONE,
      next: held(one),
      effects: [taken(two), taken(three)],
    },
    {
      says: 'the holder has gone: the first who asked',
      state: held(one, [two, three]),
      message: { type: 'hold_answered', session_id: 's1', holds: false },
      reply: DONE,
      next: held(two),
      effects: [ready(two), taken(three)],
    },
    {
      says: 'released meanwhile, with somebody asking',
      state: held(one, [two]),
      message: { type: 'release', session_id: 's1' },
      reply: DONE,
      next: held(two),
      effects: [ready(two)],
    },
    {
      says: 'released: nobody',
      state: held(one),
      message: { type: 'release', session_id: 's1' },
      reply: DONE,
      next: null,
    },
    { says: 'by somebody else', state: held(one), message: { type: 'release', session_id: 's2' }, reply: DONE },
    {
      says: 'an answer of an earlier holder',
      state: held(two, [three]),
      message: { type: 'hold_answered', session_id: 's1', holds: true },
      reply: DONE,
    },
  ]);
});

t.test('H-030 in any play each asker hears once, and only one holds', async (t) => {
  const session = fc.constantFrom('1', '2', '3', '4');
  const message: fc.Arbitrary<AddressMessage> = fc.oneof(
    fc.tuple(session, fc.constantFrom('dA', 'dB')).map(([name, device_id]) => hold(asker(name, device_id))),
    fc.record({
      type: fc.constant('hold_answered' as const),
      session_id: session.map((name) => `s${name}`),
      holds: fc.boolean(),
    }),
    session.map((name): AddressMessage => ({ type: 'release', session_id: `s${name}` })),
  );
  checkPlays(t, { plays: anyPlay(message, [1_000]), runs: 300 }, (steps) => {
    const played = new Played(bleAddress, 'B');
    let holds = 0;
    for (const step of steps) {
      if ('pass' in step) continue;
      played.send(step.send);
      if (step.send.type === 'hold') holds += 1;
      const heard = played.effects.filter(
        ({ effect, ...of }) => effect === 'notify' && 'to' in of && of.to.kind !== 'device_session',
      );
      const waiting = played.state?.asking.length ?? 0;
      if (heard.length + waiting !== holds) throw new Error(`${holds} asked, ${heard.length} heard, ${waiting} wait`);
    }
  });
});
