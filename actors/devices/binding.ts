import { isRefusal } from '../../src/domain/refusals.js';
import { type Decision, DONE, defineActor, type Effect, given, type MessageOf } from '../actor.js';
import { type Erase, erased } from '../erase.js';
import { type StreamOf, type StreamRef, streamOf, streamRefRecords, UNBOUND } from '../recordings/stream_refs.js';
import type { ClaimMessage } from './claim.js';

/**
 * A personal device's binding to an account for a time; its id is the `binding_epoch` that the device sends with every write,
 * and its home the account's. Judged by its own state, not by being the newest.
 */
export type Binding = {
  status: 'active' | 'ended';
  kind: 'personal';
  account_id: string;
  workspace_id: string;
  device_id: string;
  source_id: string;
  /** Empty for one that ended before it was opened. */
  claim_id: string;
  opened_at_ms: number;
};

export type BindingMessage = MessageOf<typeof binding>;

/** The list of an account's bindings, ended ones too. */
export const BINDINGS = 'bindings';

/** The device's own, while it lasts. */
const bound = given((state: Binding | null, _, { device_id }: { device_id: string }) =>
  state === null || state.device_id !== device_id || state.status === 'ended' ? UNBOUND : state,
);

export const binding = defineActor<Binding>()({
  kind: 'binding',
  home: 'id',
  schema: 1,
  messages: {
    open(state, opened: NewBinding, { self, now_ms }) {
      const { claim_id, device_id, source_id } = opened;
      const message: ClaimMessage = { type: 'answered', device_id, outcome: 'bound', binding_epoch: self };
      const answered: Effect = { effect: 'notify', to: { kind: 'claim', id: claim_id }, message };
      if (state !== null) {
        // By another claim of the same account; its device has another source there once the first was deleted.
        const is_new = state.status === 'active' && state.source_id !== source_id;
        return { reply: state, effects: [answered], ...(is_new ? { next: { ...state, source_id } } : {}) };
      }
      const next: Binding = { status: 'active', kind: 'personal', ...opened, opened_at_ms: now_ms };
      return { reply: next, next, effects: [answered, listed(next, self)] };
    },

    terms: { reads: true, decide: bound((state, _: { device_id: string }) => ({ reply: state })) },

    stream_of: {
      records: streamRefRecords,
      decide: bound((state, asked: StreamOf, facts): Decision<Binding, StreamRef> => {
        const found = streamOf(facts, asked);
        if (isRefusal(found)) return { reply: found };
        const { found: reply, effects } = found;
        return effects.length === 0 ? { reply } : { reply, next: { ...state }, effects };
      }),
    },

    /** `unopened`: what it would be opened with, where that may still be on its way here: it is then not opened any more. */
    end(state, { unopened }: { unopened?: Unopened }, { self, now_ms }): Decision<Binding, typeof DONE> {
      if (state?.status === 'active') return { reply: DONE, next: { ...state, status: 'ended' } };
      if (state !== null || unopened === undefined) return { reply: DONE };
      const next: Binding = { status: 'ended', kind: 'personal', ...unopened, claim_id: '', opened_at_ms: now_ms };
      return { reply: DONE, next, effects: [listed(next, self)] };
    },

    erase: (_, input: Erase, { self }) =>
      erased(input, { member: self, effects: [{ effect: 'delete_collection', collection: 'streams' }] }),
  },
});

type Unopened = Pick<Binding, 'account_id' | 'workspace_id' | 'device_id' | 'source_id'>;
type NewBinding = Unopened & Pick<Binding, 'claim_id'>;

function listed({ account_id: owner, opened_at_ms: order }: Binding, member: string): Effect {
  return { effect: 'add_to_index', owner, index: BINDINGS, member, order };
}
