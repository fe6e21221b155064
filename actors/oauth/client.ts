import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import { type Decision, defineActor, type Effect, given, type MessageOf } from '../actor.js';

/**
 * The mutable state of an OAuth client (the id is its client_id): secrets, last use, whether it is disabled. Its fixed
 * fields are in the operator's file (first-party) or in its registration.
 */
export type ClientState = {
  /** `file`: a first-party client. `staff`: made by staff. `registered`: it registered itself, and ends when unused. */
  origin: 'file' | 'staff' | 'registered';
  /** Valid secrets, newest first. Until the first change, a client of the file has those of the file. */
  secrets: ClientSecret[];
  registered_at_ms: number;
  disabled_at_ms: number | null;
  /** To the day. */
  last_used_at_ms: number | null;
};

/** A secret's hash, and when the secret ends once another has replaced it. */
export type ClientSecret = { hash: string; until_ms: number | null };

export type ClientMessage = MessageOf<typeof client>;

/** `state` is null for an unchanged client of the file and for an unknown client. */
export type ClientView = { state: ClientState | null };

/** The list of clients that the file does not name, for staff; one in each partition. */
export const CLIENT_INDEX = { owner: 'staff', index: 'clients' } as const;

const UNKNOWN = refuse('NOT_FOUND', 'There is no such client.');
const UNUSED = 'unused';

const known = given((state: ClientState | null, { now_ms }, { in_file }: InFile) => presentOf(state, in_file, now_ms));

export const client = defineActor<ClientState>()({
  kind: 'client',
  home: 'hash',
  schema: 1,
  messages: {
    register(
      state,
      { origin, secret_hash }: { origin: 'staff' | 'registered'; secret_hash: string | null },
      { self, now_ms },
    ) {
      if (state !== null) throw new Error('a client is registered once');
      const secrets = secret_hash === null ? [] : [{ hash: secret_hash, until_ms: null }];
      const next = { origin, secrets, registered_at_ms: now_ms, disabled_at_ms: null, last_used_at_ms: null };
      const listed: Effect = { effect: 'add_to_index', ...CLIENT_INDEX, member: self, order: now_ms };
      const ends = origin === 'registered' ? [endUnusedAt(now_ms + LIMITS.client_unused_life_ms)] : [];
      return becomes(next, [listed, ...ends]);
    },

    view: { reads: true, decide: (state): ClientDecision => ({ reply: { state } }) },

    /** `file_hashes`: the hashes of the client's entry in the file; null without an entry. */
    rotate_secret(
      state,
      { hash, at_once, file_hashes }: { hash: string; at_once: boolean; file_hashes: string[] | null },
      { now_ms },
    ) {
      const present = presentOf(state, file_hashes !== null, now_ms);
      if (isRefusal(present)) return { reply: present };
      const of_file = (file_hashes ?? []).map((hash) => ({ hash, until_ms: null }));
      const before = present.secrets.length > 0 ? present.secrets : of_file;
      const end_ms = now_ms + (at_once ? 0 : LIMITS.client_secret_overlap_ms);
      const older = before
        .map(({ hash, until_ms }) => ({ hash, until_ms: Math.min(until_ms ?? end_ms, end_ms) }))
        .filter(({ until_ms }) => until_ms > now_ms);
      const secrets = [{ hash, until_ms: null }, ...older].slice(0, LIMITS.client_secrets_max);
      return becomes({ ...present, secrets });
    },

    disable: known((present, _: InFile, { now_ms }) =>
      present.disabled_at_ms === null ? becomes({ ...present, disabled_at_ms: now_ms }) : stays(present),
    ),

    enable(state, { in_file }: InFile) {
      if (state === null) return in_file ? stays(state) : { reply: UNKNOWN };
      return state.disabled_at_ms === null ? stays(state) : becomes({ ...state, disabled_at_ms: null });
    },

    used: known((present, _: InFile, { now_ms }) =>
      isTouchDue(present.last_used_at_ms, now_ms) ? becomes({ ...present, last_used_at_ms: now_ms }) : stays(present),
    ),

    unused(state, _: unknown, { self, now_ms, certain_ms }): ClientDecision {
      if (state === null) return stays(state);
      const over_at_ms = (state.last_used_at_ms ?? state.registered_at_ms) + LIMITS.client_unused_life_ms;
      if (certain_ms < over_at_ms) {
        // Used meanwhile, or clocks disagree.
        const at_ms = now_ms < over_at_ms ? over_at_ms : now_ms + LIMITS.client_touch_every_ms;
        return { ...stays(state), effects: [endUnusedAt(at_ms)] };
      }
      const unlisted: Effect = { effect: 'remove_from_index', ...CLIENT_INDEX, member: self };
      return { reply: { state: null }, next: null, effects: [unlisted] };
    },
  },
});

type InFile = { in_file: boolean };
type ClientDecision = Decision<ClientState, ClientView>;

/** Whether to record a use, given the time of the last one. */
export function isTouchDue(last_used_at_ms: number | null, now_ms: number): boolean {
  return last_used_at_ms === null || now_ms >= last_used_at_ms + LIMITS.client_touch_every_ms;
}

/** A client of the file gets an entity with its first change. */
function presentOf(state: ClientState | null, in_file: boolean, now_ms: number): ClientState | Refusal {
  if (state !== null || !in_file) return state ?? UNKNOWN;
  return { origin: 'file', secrets: [], registered_at_ms: now_ms, disabled_at_ms: null, last_used_at_ms: null };
}

function stays(state: ClientState | null): ClientDecision {
  return { reply: { state } };
}

function becomes(next: ClientState, effects?: Effect[]): ClientDecision {
  return { reply: { state: next }, next, ...(effects === undefined ? {} : { effects }) };
}

function endUnusedAt(at_ms: number): Effect {
  return { effect: 'schedule_reminder', name: UNUSED, at_ms, message: { type: 'unused' } };
}
