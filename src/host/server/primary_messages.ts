import type { ConnectionCount } from '../../edge/admission/peer_connections.js';
import type { ProcessTrouble } from '../../engine/cluster/process_queries.js';

/** Messages between the primary and the server processes that it starts. */

/** Ports by listener. */
export type Ports = Record<'public' | 'device' | 'operator', number>;

/** The order to start a server process. */
export type StartOrder = {
  /** The number of the process, from 1 on. */
  number: number;
  /** The number of processes. */
  processes: number;
  /** The socket of the primary's own Redis; null if REDIS_URL is set. */
  redis_socket: string | null;
  /** The ports to listen on; null for those of the settings. */
  ports: Ports | null;
};

/** The interval at which a server process reports that its event loop runs. */
export const BEAT_EVERY_MS = 2_000;

/** From the primary to a server process. */
export type Order =
  | ({ do: 'start' } & StartOrder)
  /** Another process takes its place: it accepts no more connections, answers what is in progress, and ends. */
  | { do: 'leave' }
  /** It continues to serve for `drain_ms` while readiness says no, then ends. */
  | { do: 'stop'; drain_ms: number }
  /** A question of another process. */
  | { do: 'tell'; question: number; name: string; about: unknown }
  /** The answers to a question of its own. */
  | { do: 'hear'; question: number; answers: ProcessAnswer[] }
  /** The processes in trouble. */
  | { do: 'note'; troubles: ProcessTrouble[] }
  /** The connections of all other processes together. */
  | { do: 'count'; counts: ConnectionCount[] };

/** The answer of one process; `value` is undefined if none came in time. */
export type ProcessAnswer = { number: number; pid: number; value?: unknown };

/** From a server process to the primary. */
export type Report =
  /** It listens. */
  | { says: 'begun' }
  | { says: 'ready'; ports: Ports }
  | { says: 'alive' }
  | { says: 'failed'; text: string }
  | { says: 'ask'; question: number; name: string; about: unknown }
  | { says: 'told'; question: number; value: unknown }
  /** The process' own connections, if their count changed. */
  | { says: 'count'; counts: ConnectionCount[] };
