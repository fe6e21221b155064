import type { ProcessQueries } from '../../engine/cluster/process_queries.js';
import { type DeviceFilter, type DeviceQueries, isRecording, type SeenDevice, silenceOf } from './activity.js';

export type MergedDevice = SeenDevice & { silent_ms: number };

/** Devices as all processes together have seen them; times are those of the process that has watched for longest. */
export type MergedDevices = { since_ms: number; seen: number; seen_max: number; items: MergedDevice[] };

/** Asks for all that any process holds to be so, then holds what all know of each against the filter. */
export async function mergeDevices(
  processes: Pick<ProcessQueries<DeviceQueries>, 'askAll'>,
  filter: DeviceFilter,
  now_ms: number,
): Promise<MergedDevices> {
  const lists = await processes.askAll('device_ids', filter);
  const ids = [...new Set(lists.flatMap((list) => list.ids))];
  const items = joinDevices(await processes.askAll('devices', ids), now_ms);
  const { silent_ms, recording, limit } = filter;
  const held = items.filter((one) => one.silent_ms >= silent_ms && (!recording || isRecording(one)));
  return {
    since_ms: Math.min(...lists.map(({ since_ms }) => since_ms)),
    seen: lists.reduce((sum, { seen }) => sum + seen, 0),
    seen_max: lists.reduce((sum, { seen_max }) => sum + seen_max, 0),
    items: held.sort((a, b) => b.silent_ms - a.silent_ms).slice(0, limit),
  };
}

/** A device as all processes together have seen it. */
export async function mergeDevice(
  processes: Pick<ProcessQueries<DeviceQueries>, 'askAll'>,
  device_id: string,
  now_ms: number,
): Promise<{ since_ms: number; seen: MergedDevice | null }> {
  const told = await processes.askAll('devices', [device_id]);
  const [seen = null] = joinDevices(told, now_ms);
  return { since_ms: Math.min(...told.map(({ since_ms }) => since_ms)), seen };
}

function joinDevices(told: { items: SeenDevice[] }[], now_ms: number): MergedDevice[] {
  const devices = new Map<string, SeenDevice>();
  for (const one of told.flatMap(({ items }) => items)) {
    const known = devices.get(one.device_id);
    devices.set(one.device_id, known === undefined ? one : joined(known, one));
  }
  return [...devices.values()].map((one) => ({ ...one, silent_ms: silenceOf(one, now_ms) }));
}

/** The process that heard of the device last knows what is open; the other may have missed its end. */
function joined(one: SeenDevice, other: SeenDevice): SeenDevice {
  const [last, before] = heardAt(one) >= heardAt(other) ? [one, other] : [other, one];
  return {
    ...last,
    kind: last.kind ?? before.kind,
    first_seen_at_ms: Math.min(one.first_seen_at_ms, other.first_seen_at_ms),
    last_upload_at_ms: latest(one.last_upload_at_ms, other.last_upload_at_ms),
    uploads: one.uploads + other.uploads,
    last_refusal:
      (one.last_refusal?.at_ms ?? 0) >= (other.last_refusal?.at_ms ?? 0) ? one.last_refusal : other.last_refusal,
  };
}

function heardAt({ last_request_at_ms, first_seen_at_ms }: SeenDevice): number {
  return last_request_at_ms ?? first_seen_at_ms;
}

function latest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.max(one, other);
}
