import { type Refusal, refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, defineActor, type Effect, given, type MessageOf, type OutboxMessage } from '../actor.js';
import { type Erase, erased } from '../erase.js';
import { SOURCE_MEMBER, WITHDRAWAL_INDEX } from '../insights/withdrawal_index.js';

/**
 * The origin of recordings of an account: one for each recorder that it has used, and those that apps have registered.
 */
export type Source = KeptSource | DeletedSource;

export type KeptSource = {
  status: 'kept';
  account_id: string;
  /** The recorder; null for a source that an app registered. */
  device_id: string | null;
  name: string | null;
  created_at_ms: number;
};

/** A deleted source: its streams are kept, without further events. */
type DeletedSource = { status: 'deleted'; account_id: string };

export type SourceMessage = MessageOf<typeof source>;

/** Sent to its account: the recorder gets another source when it records there again. */
export type SourceNews = { type: 'source_deleted'; source_id: string; device_id: string };

export const NO_SOURCE: Refusal = refuse('NOT_FOUND', 'There is no such source.');
/** The lists of an account's sources. */
export const SOURCES = 'sources';
export const DELETED_SOURCES = 'deleted_sources';

/** The source, for its owner only. */
const own = given((state: Source | null, _, { account_id }: { account_id: string }) =>
  state?.status === 'kept' && state.account_id === account_id ? state : NO_SOURCE,
);

export const source = defineActor<Source>()({
  kind: 'source',
  home: 'id',
  schema: 1,
  messages: {
    create(state, { account_id, device_id, name = null, goes_on }: NewSource, { self: id, now_ms }): SourceDecision {
      const onward = goes_on === undefined ? [] : [goes_on];
      if (state !== null) return { reply: state, effects: onward };
      const next: KeptSource = { status: 'kept', account_id, device_id, name, created_at_ms: now_ms };
      return {
        reply: next,
        next,
        effects: [
          { effect: 'append_event', account_id, type: 'source.created', resource_id: id },
          { effect: 'add_to_index', owner: account_id, index: SOURCES, member: id, order: now_ms },
          ...onward,
        ],
      };
    },

    view: { reads: true, decide: (state) => ({ reply: state ?? NO_SOURCE }) },

    rename: own(
      (kept, { name }: Owned & { name: string | null }, { self: resource_id }): Decision<Source, KeptSource> => {
        if (name === kept.name) return { reply: kept };
        const next = { ...kept, name };
        const { account_id } = kept;
        const data = { changed_fields: ['name'] };
        return {
          reply: next,
          next,
          effects: [{ effect: 'append_event', account_id, type: 'source.updated', resource_id, data }],
        };
      },
    ),

    delete: own(({ account_id, device_id }, _: Owned, { self: id, now_ms }): Decision<Source, typeof DONE> => {
      const effects: Effect[] = [
        // Whatever is in progress for a stream of it and was to record an event can no longer commit: this is the last event.
        { effect: 'close_fence', id },
        { effect: 'append_event', account_id, type: 'source.deleted', resource_id: id },
        { effect: 'remove_from_index', owner: account_id, index: SOURCES, member: id },
        { effect: 'add_to_index', owner: account_id, index: DELETED_SOURCES, member: id, order: now_ms },
        { effect: 'add_to_index', ...WITHDRAWAL_INDEX, member: SOURCE_MEMBER + id, order: now_ms },
      ];
      if (device_id !== null) {
        const message: SourceNews = { type: 'source_deleted', source_id: id, device_id };
        effects.push({ effect: 'notify', to: { kind: 'account', id: account_id }, message });
      }
      return { reply: DONE, next: { status: 'deleted', account_id }, effects };
    }),

    /** All libraries of the account know of the deletion. */
    libraries_told: (_state, _: unknown, { self: id }): Decision<Source, typeof DONE> => ({
      reply: DONE,
      effects: [{ effect: 'remove_from_index', ...WITHDRAWAL_INDEX, member: SOURCE_MEMBER + id }],
    }),

    erase: (_, input: Erase, { self: id }) =>
      erased(input, {
        member: id,
        effects: [
          { effect: 'delete_fence', id },
          { effect: 'remove_from_index', ...WITHDRAWAL_INDEX, member: SOURCE_MEMBER + id },
        ],
      }),
  },
});

type Owned = { account_id: string };
type SourceDecision = Decision<Source, Source>;

type NewSource = {
  account_id: string;
  device_id: string | null;
  /** Absent if the source comes with a recorder's first binding. */
  name?: string | null;
  /** Sent once the source exists, so that nothing that names it is recorded before `source.created`. */
  goes_on?: OutboxMessage;
};
