import { LIMITS } from '../src/domain/limits.js';
import { type Refusal, refuse, unreachable } from '../src/domain/refusals.js';
import { actorKind, type Decision, type Effect } from './actor.js';

/**
 * What may change of an OAuth client (the id is its client_id): secrets, use, whether it is disabled. How it was made
 * is written elsewhere: a first-party one in the operator's file, any other in its registration.
 */
export type ClientState = {
  /** `file`: a first-party client. `staff` made it by hand. `registered`: it registered itself, and ends when unused. */
  origin: 'file' | 'staff' | 'registered';
  /** Those that are good, newest first. None yet of a client of the file: then what the file says holds. */
  secrets: ClientSecret[];
  registered_at_ms: number;
  disabled_at_ms: number | null;
  /** To the day. */
  last_used_at_ms: number | null;
};

/** A secret as it is kept: its hash, and when it ends where another has taken its place. */
export type ClientSecret = { hash: string; until_ms: number | null };

export type ClientMessage =
  | { type: 'register'; origin: 'staff' | 'registered'; secret_hash: string | null }
  | { type: 'view' }
  /** `file_hashes`: those of the client's entry in the file; null for a client that has none. */
  | { type: 'rotate_secret'; hash: string; at_once: boolean; file_hashes: string[] | null }
  | { type: 'disable'; in_file: boolean }
  | { type: 'enable'; in_file: boolean }
  | { type: 'used'; in_file: boolean }
  | { type: 'unused' };

/** `state` is null for a client of the file of which nothing was changed, and for one that is not there. */
export type ClientView = { state: ClientState | null };

/** Where staff find the clients that the file does not name: one list in each partition. */
export const CLIENT_INDEX = { owner: 'staff', index: 'clients' } as const;

const UNKNOWN = refuse('NOT_FOUND', 'There is no such client.');
const UNUSED = 'unused';

export const client = actorKind<ClientState, ClientMessage, ClientView>({
  kind: 'client',
  home: 'hash',
  schema: 1,
  reads: ['view'],

  decide(state, message, facts, now_ms): Decision<ClientState, ClientView> {
    switch (message.type) {
      case 'register': {
        if (state !== null) throw new Error('a client is registered once');
        const { origin, secret_hash } = message;
        const secrets = secret_hash === null ? [] : [{ hash: secret_hash, until_ms: null }];
        const next = { origin, secrets, registered_at_ms: now_ms, disabled_at_ms: null, last_used_at_ms: null };
        const enlist: Effect = { effect: 'add_to_index', ...CLIENT_INDEX, member: facts.self, order: now_ms };
        return becomes(
          next,
          origin === 'registered' ? [enlist, remindUnused(now_ms + LIMITS.client_unused_life_ms)] : [enlist],
        );
      }

      case 'view':
        return { reply: { state } };

      case 'rotate_secret': {
        const present = state ?? ofFile(message.file_hashes !== null, now_ms);
        if (isMissing(present)) return { reply: present };
        const of_file = (message.file_hashes ?? []).map((hash) => ({ hash, until_ms: null }));
        const before = present.secrets.length > 0 ? present.secrets : of_file;
        const end_ms = now_ms + (message.at_once ? 0 : LIMITS.client_secret_overlap_ms);
        const older = before
          .map(({ hash, until_ms }) => ({ hash, until_ms: Math.min(until_ms ?? end_ms, end_ms) }))
          .filter(({ until_ms }) => until_ms > now_ms);
        const secrets = [{ hash: message.hash, until_ms: null }, ...older].slice(0, LIMITS.client_secrets_max);
        return becomes({ ...present, secrets });
      }

      case 'disable': {
        const present = state ?? ofFile(message.in_file, now_ms);
        if (isMissing(present)) return { reply: present };
        return present.disabled_at_ms === null
          ? becomes({ ...present, disabled_at_ms: now_ms })
          : { reply: { state: present } };
      }

      case 'enable': {
        if (state === null) return { reply: message.in_file ? { state } : UNKNOWN };
        return state.disabled_at_ms === null ? { reply: { state } } : becomes({ ...state, disabled_at_ms: null });
      }

      case 'used': {
        const present = state ?? ofFile(message.in_file, now_ms);
        if (isMissing(present)) return { reply: present };
        return isTouchDue(present.last_used_at_ms, now_ms)
          ? becomes({ ...present, last_used_at_ms: now_ms })
          : { reply: { state: present } };
      }

      case 'unused': {
        if (state === null) return { reply: { state } };
        const used_at_ms = state.last_used_at_ms ?? state.registered_at_ms;
        const over_at_ms = used_at_ms + LIMITS.client_unused_life_ms;
        if (facts.certain_ms < over_at_ms) {
          // Used meanwhile, or clocks disagree.
          const at_ms = now_ms < over_at_ms ? over_at_ms : now_ms + LIMITS.client_touch_every_ms;
          return { reply: { state }, effects: [remindUnused(at_ms)] };
        }
        const delist: Effect = { effect: 'remove_from_index', ...CLIENT_INDEX, member: facts.self };
        return { reply: { state: null }, next: null, effects: [delist] };
      }

      default:
        return unreachable(message);
    }
  },
});

/** Whether a use is to be noted, given when the last one was. */
export function isTouchDue(last_used_at_ms: number | null, now_ms: number): boolean {
  return last_used_at_ms === null || now_ms >= last_used_at_ms + LIMITS.client_touch_every_ms;
}

/** A client of the file begins its life here with the first thing that changes of it. */
function ofFile(in_file: boolean, now_ms: number): ClientState | Refusal {
  if (!in_file) return UNKNOWN;
  return { origin: 'file', secrets: [], registered_at_ms: now_ms, disabled_at_ms: null, last_used_at_ms: null };
}

function isMissing(present: ClientState | Refusal): present is Refusal {
  return 'refused' in present;
}

function becomes(next: ClientState, effects?: Effect[]): Decision<ClientState, ClientView> {
  return { reply: { state: next }, next, ...(effects === undefined ? {} : { effects }) };
}

function remindUnused(at_ms: number): Effect {
  const message: ClientMessage = { type: 'unused' };
  return { effect: 'schedule_reminder', name: UNUSED, at_ms, message };
}
