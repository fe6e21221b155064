import t from 'tap';
import { account } from '../../../actors/accounts/account.js';
import { ERASED_DEVICES_MAX } from '../../../actors/accounts/account_deletion.js';
import type { Effect } from '../../../actors/actor.js';
import { Played } from '../../fixtures/decisions.js';

const ID = '01900000-0000-7000-8000-000000000005';
const WEEK_MS = 7 * 24 * 3_600_000;
const mail = { mail_id: 'm', sealed: new Uint8Array([1]) };
const bound = (n: number) => ({
  ...{ type: 'device_bound' as const, device_id: `d${String(n).padStart(4, '0')}`, claim_id: `c${n}` },
  ...{ binding_epoch: `e${n}`, source_id: `s${n}` },
});
const told = (effects: readonly Effect[], kind: string) =>
  effects.flatMap((effect) => (effect.effect === 'notify' && effect.to.kind === kind ? [effect.message] : []));

function erasing(devices: number) {
  const play = new Played(account, ID);
  play.send({ type: 'create', email: 'ann@x.test' });
  for (let n = 0; n < devices; n++) play.send(bound(n));
  play.send({ type: 'delete', mail });
  play.pass(WEEK_MS);
  return play;
}

t.test('D-033 devices are unbound in steps of which none is too large', async (t) => {
  for (const devices of [0, 1, ERASED_DEVICES_MAX - 1, ERASED_DEVICES_MAX, ERASED_DEVICES_MAX + 1]) {
    const play = erasing(devices);
    t.match(play.state, { phase: { status: 'erasing' }, devices });
    const steps: boolean[] = [];
    let unbound = 0;
    for (let left = true; left; ) {
      const { effects = [], reply } = play.send({ type: 'erase_devices' });
      left = (reply as { left: boolean }).left;
      steps.push(left);
      unbound += told(effects, 'device').length;
      t.equal(told(effects, 'binding').length, told(effects, 'device').length);
      t.equal(
        effects.some(({ effect }) => effect === 'delete_collection'),
        !left,
        'what is known of their sources goes last',
      );
    }
    t.equal(unbound, devices);
    t.match(play.state, { devices: 0, phase: { removed: { devices } } });
    t.equal(steps.length, devices < ERASED_DEVICES_MAX ? 1 : 2);
    t.match(play.decide({ type: 'erase_devices' }).reply, { left: false }, 'and once more does no harm');
  }
});

t.test('D-033 a device that is told of when the account is erased is not bound', async (t) => {
  const play = erasing(0);
  for (const phase of ['erasing', 'erased']) {
    t.match(play.state, { phase: { status: phase } });
    const { next, effects = [] } = play.decide(bound(1));
    t.equal(next, undefined);
    t.same(
      effects.map(({ effect }) => effect),
      ['notify', 'notify'],
    );
    t.same(told(effects, 'device'), [{ type: 'unbind', binding_epoch: 'e1' }]);
    t.match(told(effects, 'claim'), [{ type: 'answered', outcome: 'bound_elsewhere' }]);
    play.send({ type: 'erased' });
  }
  play.send({ type: 'restore' });
  play.send(bound(2));
  t.match(play.state, { phase: { status: 'active' }, devices: 1 });
});

t.test('D-032 D-034 messages of another phase change nothing', async (t) => {
  const play = new Played(account, ID);
  play.send({ type: 'create', email: 'ann@x.test' });
  for (const message of [
    ...[{ type: 'restore' as const }, { type: 'erase_due' as const }, { type: 'erased' as const }],
    ...[
      { type: 'leaving_late' as const, attempt: 0 },
      { type: 'erasure_progress' as const, removed: { stream: 5 } },
    ],
    { type: 'held' as const, workspace_id: 'w', attempt: 0, owes: false, alone: true },
  ]) {
    const { next, effects = [] } = play.decide(message);
    t.same([next, effects], [undefined, []], message.type);
  }
  play.send({ type: 'delete', mail });
  t.equal(play.decide({ type: 'delete', mail }).next, undefined, 'it is deleted once');
  t.equal(play.decide({ type: 'erase_due' }).next, undefined, 'not before its time');
  t.equal(play.decide({ type: 'erased' }).next, undefined);
  play.now_ms += WEEK_MS;
  t.match(play.send({ type: 'restore' }), { reply: { refused: 'ACCOUNT_DELETION_IN_PROGRESS' } }, 'due, if not begun');
  t.match(play.state, { phase: { status: 'erasing' } });
  t.equal(play.decide({ type: 'erase_due' }).next, undefined, 'it has begun already');
});
