import type { QueryAnswers } from '../../engine/cluster/process_queries.js';
import { RecentlyUsed } from '../../engine/pools/recently_used.js';

/** The number of devices that are remembered: those that called last. */
const DEVICES_MAX = 20_000;
/** For one device; further streams are counted together, which no real device comes near. */
const STREAMS_MAX = 8;
const AWAITED_MAX = 64;

/** The activity of a device in this process. Times are the clock's; ids of streams and chunks. */
export type SeenDevice = {
  device_id: string;
  kind: 'personal' | 'shared' | null;
  first_seen_at_ms: number;
  /** Null until a request of the device was admitted. */
  last_request_at_ms: number | null;
  last_upload_at_ms: number | null;
  /** Since when the device should be uploading; null if it need not. */
  recording_since_ms: number | null;
  uploads: number;
  last_refusal: SeenRefusal | null;
  /** Streams that the device began and has not ended. */
  open_streams: string[];
  /** Chunks that the device announced and has not uploaded. */
  awaited_chunks: string[];
};

/** `reason`: why a certificate was refused, or the refusal's code. */
export type SeenRefusal = { at_ms: number; reason: string; route: string };

export type DeviceFilter = {
  /** Only devices that were silent for longer than this. */
  silent_ms: number;
  /** Only devices that should be uploading: with an open stream, or an announced chunk. */
  recording: boolean;
  limit: number;
};

/** The queries to each process about the devices that it has seen. */
export type DeviceQueries = {
  /** Ids of the devices that match the filter. */
  device_ids: { about: DeviceFilter; value: { since_ms: number; seen: number; seen_max: number; ids: string[] } };
  devices: { about: string[]; value: { since_ms: number; items: SeenDevice[] } };
};

export function deviceAnswers(activity: DeviceActivity): QueryAnswers<DeviceQueries> {
  return {
    device_ids(filter) {
      const { since_ms, size: seen, seen_max } = activity;
      return { since_ms, seen, seen_max, ids: activity.list(filter).map(({ device_id }) => device_id) };
    },
    devices: (ids) => ({ since_ms: activity.since_ms, items: ids.flatMap((id) => activity.find(id) ?? []) }),
  };
}

/**
 * The last activity of each device in this process; requests to other processes are not known here. A request costs one
 * map lookup (a microsecond of its some hundred).
 */
export class DeviceActivity {
  readonly #now: () => number;
  readonly #devices = new RecentlyUsed<SeenDevice>(DEVICES_MAX);
  /** Since when this process records activity. */
  readonly since_ms: number;
  readonly seen_max = DEVICES_MAX;

  constructor(now: () => number) {
    this.#now = now;
    this.since_ms = now();
  }

  asked({ device_id, kind }: { device_id: string; kind: 'personal' | 'shared' }): void {
    const seen = this.#of(device_id);
    seen.kind = kind;
    seen.last_request_at_ms = this.#now();
  }

  refused(device_id: string, { reason, route }: Omit<SeenRefusal, 'at_ms'>): void {
    this.#of(device_id).last_refusal = { at_ms: this.#now(), reason, route };
  }

  streamBegan(device_id: string, stream_id: string): void {
    const seen = this.#of(device_id);
    add(seen.open_streams, stream_id, STREAMS_MAX);
    seen.recording_since_ms ??= this.#now();
  }

  streamEnded(device_id: string, stream_id: string): void {
    const seen = this.#of(device_id);
    remove(seen.open_streams, stream_id);
    if (!isRecording(seen)) seen.recording_since_ms = null;
  }

  chunkAnnounced(device_id: string, chunk_id: string): void {
    const seen = this.#of(device_id);
    add(seen.awaited_chunks, chunk_id, AWAITED_MAX);
    seen.recording_since_ms ??= this.#now();
  }

  chunkUploaded(device_id: string, chunk_id: string): void {
    const seen = this.#of(device_id);
    remove(seen.awaited_chunks, chunk_id);
    seen.last_upload_at_ms = this.#now();
    seen.uploads += 1;
    if (!isRecording(seen)) seen.recording_since_ms = null;
  }

  /** Null for a device that was not seen here, or too long ago. */
  find(device_id: string): (SeenDevice & { silent_ms: number }) | null {
    const seen = this.#devices.peek(device_id);
    return seen === undefined ? null : { ...seen, silent_ms: silenceOf(seen, this.#now()) };
  }

  /** The most silent devices first. Silence counts from the last upload, or from the first thing to upload since. */
  list({ silent_ms, recording, limit }: DeviceFilter): (SeenDevice & { silent_ms: number })[] {
    const found: (SeenDevice & { silent_ms: number })[] = [];
    const now_ms = this.#now();
    for (const seen of this.#devices.values()) {
      const silence = silenceOf(seen, now_ms);
      if (silence >= silent_ms && (!recording || isRecording(seen))) found.push({ ...seen, silent_ms: silence });
    }
    return found.sort((a, b) => b.silent_ms - a.silent_ms).slice(0, limit);
  }

  get size(): number {
    return this.#devices.size;
  }

  #of(device_id: string): SeenDevice {
    let seen = this.#devices.get(device_id);
    if (seen === undefined) {
      seen = {
        device_id,
        kind: null,
        first_seen_at_ms: this.#now(),
        last_request_at_ms: null,
        last_upload_at_ms: null,
        recording_since_ms: null,
        uploads: 0,
        last_refusal: null,
        open_streams: [],
        awaited_chunks: [],
      };
      this.#devices.set(device_id, seen);
    }
    return seen;
  }
}

/** For how long the device has not uploaded what it should have. */
export function silenceOf(
  { last_upload_at_ms, recording_since_ms, first_seen_at_ms }: SeenDevice,
  now_ms: number,
): number {
  return Math.max(0, now_ms - Math.max(last_upload_at_ms ?? first_seen_at_ms, recording_since_ms ?? 0));
}

export function isRecording({ open_streams, awaited_chunks }: SeenDevice): boolean {
  return open_streams.length > 0 || awaited_chunks.length > 0;
}

function add(ids: string[], id: string, max: number): void {
  if (!ids.includes(id) && ids.length < max) ids.push(id);
}

function remove(ids: string[], id: string): void {
  const at = ids.indexOf(id);
  if (at >= 0) ids.splice(at, 1);
}
