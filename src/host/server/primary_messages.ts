import type { ConnectionCount } from '../../edge/admission/peer_connections.js';
import type { ProcessTrouble } from '../../engine/cluster/process_queries.js';

/** Messages between the primary and the server processes that it starts. */

/** Ports by listener. */
export type Ports = Record<'public' | 'device' | 'operator', number>;

/** How a server process is to start. */
export type StartOrder = {
  /** Which of the processes it is, from 1 on. */
  number: number;
  /** How many there are. */
  processes: number;
  /** Of the primary's own Redis; null where REDIS_URL is set. */
  redis_socket: string | null;
  /** The ports to listen on; null for those of the settings. */
  ports: Ports | null;
};

/** Every so many milliseconds a server process says that its event loop runs. */
export const BEAT_EVERY_MS = 2_000;

/** From the primary to a server process. */
export type Order =
  | ({ do: 'start' } & StartOrder)
  /** Another process takes its place: it accepts nothing more, answers what is in progress, and ends. */
  | { do: 'leave' }
  /** It serves on for `drain_ms` while readiness says no, then ends. */
  | { do: 'stop'; drain_ms: number }
  /** A question of another process. */
  | { do: 'tell'; question: number; name: string; about: unknown }
  /** The answers to a question of its own. */
  | { do: 'hear'; question: number; answers: ProcessAnswer[] }
  /** Which processes are in trouble. */
  | { do: 'note'; troubles: ProcessTrouble[] }
  /** Connections that all other processes have together. */
  | { do: 'count'; counts: ConnectionCount[] };

/** The answer of one process; `value` is undefined where none came in time. */
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
  /** Connections that it has, where that changed. */
  | { says: 'count'; counts: ConnectionCount[] };
