import { type Refusal, refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect, type OutboxMessage } from './actor.js';
import { type EraseMessage, erased } from './erase.js';

/** Where recordings of an account come from: one for each recorder that it used, and those that apps registered. */
export type Source = KeptSource | DeletedSource;

export type KeptSource = {
  status: 'kept';
  account_id: string;
  /** The recorder, or null for one that an app registered. */
  device_id: string | null;
  name: string | null;
  created_at_ms: number;
};

/** What stays of it: its streams are kept, and nothing is told of them any more. */
type DeletedSource = { status: 'deleted'; account_id: string };

export type SourceMessage =
  /**
   * `name` is absent when a recorder's source comes with its first binding; `goes_on` is told once the source is there, so
   * that nothing that names it is recorded before `source.created`.
   */
  | { type: 'create'; account_id: string; device_id: string | null; name?: string | null; goes_on?: OutboxMessage }
  | { type: 'view' }
  /** `account_id`: who asks; to anybody but the owner there is no such source. */
  | { type: 'rename'; account_id: string; name: string | null }
  | { type: 'delete'; account_id: string }
  | EraseMessage;

/** What it tells its account: the recorder gets another source when it records there next. */
export type SourceNews = { type: 'source_deleted'; source_id: string; device_id: string };

export type SourceReply = Source | { done: true };

type SourceBefore2 = { account_id: string; device_id: string; created_at_ms: number };

const DONE = { done: true } as const;
export const NO_SOURCE: Refusal = refuse('NOT_FOUND', 'There is no such source.');
/** Lists of an account. */
export const SOURCES = 'sources';
export const DELETED_SOURCES = 'deleted_sources';

export const source = actorKind<Source, SourceMessage, SourceReply>({
  kind: 'source',
  home: 'id',
  schema: 2,
  upcast: { 1: (old: SourceBefore2): Source => ({ status: 'kept', name: null, ...old }) },
  reads: ['view'],

  decide(state, message, facts, now_ms): Decision<Source, SourceReply> {
    const id = facts.self;
    switch (message.type) {
      case 'create': {
        const { account_id, device_id, name = null, goes_on } = message;
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
      }
      case 'erase':
        return erased(message, { member: id, effects: [{ effect: 'delete_fence', id }] });

      case 'view':
        return { reply: state ?? NO_SOURCE };

      case 'rename':
      case 'delete': {
        if (state?.status !== 'kept' || state.account_id !== message.account_id) return { reply: NO_SOURCE };
        return message.type === 'rename' ? rename(state, message.name) : remove(state);
      }
      default:
        return unreachable(message);
    }

    function rename(kept: KeptSource, name: string | null): Decision<Source, SourceReply> {
      if (name === kept.name) return { reply: kept };
      const { account_id } = kept;
      const next = { ...kept, name };
      const data = { changed_fields: ['name'] };
      return {
        reply: next,
        next,
        effects: [{ effect: 'append_event', account_id, type: 'source.updated', resource_id: id, data }],
      };
    }

    function remove({ account_id, device_id }: KeptSource): Decision<Source, SourceReply> {
      const effects: Effect[] = [
        // Whatever is under way for a stream of it and was to tell of that commits no more: this is the last word.
        { effect: 'close_fence', id },
        { effect: 'append_event', account_id, type: 'source.deleted', resource_id: id },
        { effect: 'remove_from_index', owner: account_id, index: SOURCES, member: id },
        { effect: 'add_to_index', owner: account_id, index: DELETED_SOURCES, member: id, order: now_ms },
      ];
      if (device_id !== null) {
        const forget: SourceNews = { type: 'source_deleted', source_id: id, device_id };
        effects.push({ effect: 'notify', to: { kind: 'account', id: account_id }, message: forget });
      }
      return { reply: DONE, next: { status: 'deleted', account_id }, effects };
    }
  },
});
