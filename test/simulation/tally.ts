import { actorKind, type Decision } from '../../actors/actor.js';
import { unreachable } from '../../src/domain/refusals.js';

/**
 * An actor of the simulation alone, for which nothing is the same when it happens twice or in another order: it writes
 * down which outbox messages it sent, which it got, which reminders it set and which fired.
 */
export type Tally = {
  sent: { to: string; number: number }[];
  taken: { from: string; number: number }[];
  planned: number;
  fired: number[];
};

export type TallyMessage =
  | { type: 'view' }
  | { type: 'send'; to: string[] }
  | { type: 'take'; from: string; number: number }
  | { type: 'plan'; delay_ms: number }
  | { type: 'due'; number: number };

const NEW: Tally = { sent: [], taken: [], planned: 0, fired: [] };

export const tally = actorKind<Tally, TallyMessage, Tally>({
  kind: 'tally',
  home: 'id',
  schema: 1,

  decide(state, message, facts, now_ms): Decision<Tally, Tally> {
    const known = state ?? NEW;
    switch (message.type) {
      case 'view':
        return { reply: known };
      case 'send': {
        const added = message.to.map((to, index) => ({ to, number: known.sent.length + index }));
        const next = { ...known, sent: [...known.sent, ...added] };
        const effects = added.map(({ to, number }) => ({
          effect: 'notify' as const,
          to: { kind: 'tally', id: to },
          message: { type: 'take', from: facts.self, number },
        }));
        return { reply: next, next, effects };
      }
      case 'take': {
        const { from, number } = message;
        const next = { ...known, taken: [...known.taken, { from, number }] };
        return { reply: next, next };
      }
      case 'plan': {
        const number = known.planned;
        const next = { ...known, planned: number + 1 };
        const at_ms = now_ms + message.delay_ms;
        const due: TallyMessage = { type: 'due', number };
        return {
          reply: next,
          next,
          effects: [{ effect: 'schedule_reminder', name: `n${number}`, at_ms, message: due }],
        };
      }
      case 'due': {
        const next = { ...known, fired: [...known.fired, message.number] };
        return { reply: next, next };
      }
      default:
        return unreachable(message);
    }
  },
});
