import type { ProcessTrouble } from '../../engine/cluster/process_queries.js';

/** A port of the server, by its listener. */
export type PortName = 'public' | 'device' | 'operator';

/** Connections that were refused, by listener and cause, since the last time. */
export type RefusalCount = {
  listener: PortName;
  cause: 'connections' | 'network_connections' | 'stall';
  count: number;
};

/**
 * The order with which a server process is started. `redis_socket`: of the supervisor's own Redis; null where REDIS_URL
 * is set.
 */
export type StartOrder = {
  number: number;
  /** Its id among all processes on the Redis: its supervisor knows which partitions it owns. */
  member_id: string;
  processes: number;
  redis_socket: string | null;
  ports: Record<PortName, number>;
};

export const BEAT_EVERY_MS = 2_000;

/** Milliseconds of a clock that all processes of a machine share and nobody sets. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** From the supervisor to a server process. */
export type Order =
  | ({ do: 'start' } & StartOrder)
  /** Comes with the lock of DATA_DIR, which holds as long as somebody has it. */
  | { do: 'hold' }
  /** Comes with a connection. `head`: what was read from it, in base64. */
  /** Not taken before `until_ms` of `monotonicMs`, it goes to another process. */
  | { do: 'serve'; port: PortName; connection: number; head: string; until_ms: number }
  | { do: 'count'; refusals: RefusalCount[] }
  /** The server is about to stop. */
  | { do: 'drain' }
  /** Another takes its place: it gives back what is idle, answers the rest, and says so. */
  | { do: 'leave' }
  | { do: 'stop' }
  | { do: 'tell'; question: number; name: string; about: unknown }
  | { do: 'hear'; question: number; answers: ProcessAnswer[] }
  | { do: 'note'; troubles: ProcessTrouble[] };

/** The answer of one process; `value` is undefined where none came in time. */
export type ProcessAnswer = { number: number; pid: number; value?: unknown };

/** From a server process to the supervisor. */
export type Report =
  | { says: 'ready' }
  /** Its event loop runs: every `BEAT_EVERY_MS` from `ready` on. */
  | { says: 'alive' }
  | { says: 'failed'; text: string }
  | { says: 'took'; connection: number }
  | { says: 'closed'; connections: number[] }
  /** Comes with a connection on which no request is under way. */
  | { says: 'back'; connection: number }
  /** It has nothing left, and everything that it gave back was sent. */
  | { says: 'left' }
  | { says: 'ask'; question: number; name: string; about: unknown }
  | { says: 'told'; question: number; value: unknown };
