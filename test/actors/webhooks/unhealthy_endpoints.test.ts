import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { TROUBLES, type Trouble } from '../../../actors/webhooks/endpoint_state.js';
import { unhealthyIndex } from '../../../actors/webhooks/unhealthy_endpoints.js';
import type { AttemptVerdict } from '../../../src/domain/webhooks.js';
import { entry, PlayedEndpoint, resultOf } from '../../fixtures/endpoint_state.js';

const MINUTE_MS = 60_000;

/** The lists of staff on which it stands, by what its effects left, and in which order. */
function listsOf(played: PlayedEndpoint): Partial<Record<Trouble, number>> {
  const lists: Partial<Record<Trouble, number>> = {};
  for (const effect of played.effects) {
    const trouble = TROUBLES.find((one) => isOn(effect, one));
    if (trouble === undefined) continue;
    if (effect.effect === 'add_to_index') lists[trouble] = effect.order;
    else delete lists[trouble];
  }
  return lists;
}

function isOn(effect: Effect, trouble: Trouble): boolean {
  return 'index' in effect && effect.owner === 'staff' && effect.index === unhealthyIndex(trouble).index;
}

/** One request after the other, a minute apart. */
class Walk {
  readonly played = new PlayedEndpoint();
  #sequence = 0;

  deliver(...verdicts: AttemptVerdict[]): void {
    for (const verdict of verdicts) {
      this.played.now_ms += MINUTE_MS;
      this.#sequence += 1;
      this.played.inbox = [entry(this.#sequence, { at_ms: this.played.now_ms })];
      const [claim] = this.played.work({ tokens: 1 }).claims;
      if (claim !== undefined) this.played.work({ results: [resultOf(claim, verdict)], tokens: 0 });
    }
  }
}

t.test('F-016 an endpoint that gets nothing stands on one list of staff, since it is so', async (t) => {
  const walk = new Walk();
  const { played } = walk;
  walk.deliver('accepted');
  t.same(listsOf(played), {});
  walk.deliver('retryable');
  const failing_since_ms = played.now_ms;
  t.same(listsOf(played), { failing: failing_since_ms });
  t.same(played.endpoint.trouble, { is: 'failing', since_ms: failing_since_ms });
  walk.deliver('retryable', 'retryable', 'retryable', 'retryable');
  t.same(listsOf(played), { circuit_open: failing_since_ms }, 'its failures began before the circuit opened');
  played.send({ type: 'set_status', status: 'paused' });
  t.same(listsOf(played), { stopped: played.now_ms });
  played.send({ type: 'set_status', status: 'active' });
  t.same(listsOf(played), {}, 'the owner begins anew');
  t.equal(played.endpoint.trouble, null);
  walk.deliver(...Array.from({ length: 9 }, (): AttemptVerdict => 'refused'));
  t.same(Object.keys(listsOf(played)), ['failing']);
  walk.deliver('refused');
  t.same(listsOf(played), { disabled: played.now_ms });
  played.send({ type: 'remove' });
  t.same(listsOf(played), {});
});

t.test(
  'F-016 what the first request after failures accepts takes it off the list; nothing else is written for it',
  async (t) => {
    const walk = new Walk();
    walk.deliver('refused', 'refused', 'accepted');
    const { played } = walk;
    t.same(listsOf(played), {});
    const before = played.effects.length;
    walk.deliver('accepted', 'accepted');
    const later = played.effects.slice(before);
    t.notOk(later.some((effect) => TROUBLES.some((trouble) => isOn(effect, trouble))));
  },
);
