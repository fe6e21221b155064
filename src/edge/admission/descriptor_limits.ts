/**
 * A process may have so many files open, and each connection is one. Without a bound below that, whoever opens connections
 * takes the descriptors that Redis, audio and deliveries need: so the bounds are held against the limit at start.
 */

/** Ours, each for a process: the program, Redis, logs and what libraries keep. */
const OWN = 64;
/** Of the rest. What is left over is for uploads, downloads and deliveries in progress. */
const CONNECTIONS_SHARE = 3 / 4;
const OPERATOR_SHARE = 1 / 16;
const OPERATOR_CONNECTIONS_MAX = 256;
const CONNECTIONS_MAX_DEFAULT = 10_000;
const DEVICE_CONNECTIONS_MAX_DEFAULT = 20_000;
/** Of what connections would be under a higher limit. */
const LOW_SHARE = 1 / 4;
/** Below this the server could not do its work beside a handful of connections. */
const DESCRIPTORS_MIN = 128;

/** The number of descriptors that each part of the server may use. */
export type DescriptorPlan = {
  public_connections: number;
  device_connections: number;
  operator_connections: number;
  /** Whether a higher limit would allow many more connections. */
  is_low: boolean;
};

/** The number of files that this process may have open; infinite if the system does not say. */
export function descriptorLimit(): number {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  report.excludeNetwork = true; // it would look up the names of all peers
  // Node raises the soft limit to the hard one as it starts.
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : Number.POSITIVE_INFINITY;
}

/**
 * Divides what the process may have open. Of several processes on the same ports one may get all connections. `asked`: what
 * settings say, null where they say nothing. Gives a text that says what to change where settings ask for more than there
 * is: what an operator set is not silently made smaller.
 */
export function planDescriptors(
  limit: number,
  asked: { public_connections: number | null; device_connections: number | null },
): DescriptorPlan | string {
  if (limit < DESCRIPTORS_MIN)
    return `This process may have ${limit} files open (ulimit -n), which is too few; it needs at least ${DESCRIPTORS_MIN}.`;
  const operator_connections = operatorConnections(limit);
  const room = connectionRoom(limit);
  const set = (asked.public_connections ?? 0) + (asked.device_connections ?? 0);
  const unset = [asked.public_connections, asked.device_connections].filter((one) => one === null).length;
  if (set + unset > room)
    return `CONNECTIONS_MAX and DEVICE_CONNECTIONS_MAX ask for ${set} connections, but this process may have ${limit} files open (ulimit -n), which is enough for ${room}. Raise that limit, or set them lower.`;
  const left = room - set;
  const wanted =
    (asked.public_connections === null ? CONNECTIONS_MAX_DEFAULT : 0) +
    (asked.device_connections === null ? DEVICE_CONNECTIONS_MAX_DEFAULT : 0);
  const share = wanted <= left ? 1 : left / wanted;
  const part = (given: number | null, otherwise: number) => given ?? Math.max(1, Math.floor(otherwise * share));
  return {
    public_connections: part(asked.public_connections, CONNECTIONS_MAX_DEFAULT),
    device_connections: part(asked.device_connections, DEVICE_CONNECTIONS_MAX_DEFAULT),
    operator_connections,
    is_low: share < LOW_SHARE,
  };
}

/** The number of connections of apps and devices that a process has room for. */
function connectionRoom(limit: number): number {
  return Math.floor((limit - OWN) * CONNECTIONS_SHARE) - operatorConnections(limit);
}

function operatorConnections(limit: number): number {
  return Math.min(OPERATOR_CONNECTIONS_MAX, Math.floor((limit - OWN) * OPERATOR_SHARE));
}
