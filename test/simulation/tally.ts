import { defineActor, type Effect, type MessageOf } from '../../actors/actor.js';

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

export type TallyMessage = MessageOf<typeof tally>;

const NEW: Tally = { sent: [], taken: [], planned: 0, fired: [] };

export const tally = defineActor<Tally>()({
  kind: 'tally',
  home: 'id',
  schema: 1,
  messages: {
    view: (state) => ({ reply: state ?? NEW }),

    send(state, { to }: { to: string[] }, { self }) {
      const known = state ?? NEW;
      const added = to.map((id, index) => ({ to: id, number: known.sent.length + index }));
      const next = { ...known, sent: [...known.sent, ...added] };
      const effects = added.map(({ to: id, number }): Effect => {
        return { effect: 'notify', to: { kind: 'tally', id }, message: { type: 'take', from: self, number } };
      });
      return { reply: next, next, effects };
    },

    take(state, { from, number }: { from: string; number: number }) {
      const known = state ?? NEW;
      const next = { ...known, taken: [...known.taken, { from, number }] };
      return { reply: next, next };
    },

    plan(state, { delay_ms }: { delay_ms: number }, { now_ms }) {
      const known = state ?? NEW;
      const number = known.planned;
      const next = { ...known, planned: number + 1 };
      const message = { type: 'due', number };
      const due: Effect = { effect: 'schedule_reminder', name: `n${number}`, at_ms: now_ms + delay_ms, message };
      return { reply: next, next, effects: [due] };
    },

    due(state, { number }: { number: number }) {
      const known = state ?? NEW;
      const next = { ...known, fired: [...known.fired, number] };
      return { reply: next, next };
    },
  },
});
