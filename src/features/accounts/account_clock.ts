import { orNull } from '../../domain/refusals.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { LocalClock } from '../../engine/time/time_zone.js';

/** The clock by which the days of an account begin and end: the zone of its profile, else of a recording, else UTC. */
export async function clockOf(
  { actors }: { actors: Pick<Actors, 'context' | 'stream'> },
  account_id: string,
  stream_id: string | undefined,
): Promise<LocalClock> {
  const context = await orNull(actors.context(account_id).view(), 'NOT_FOUND');
  const time_zone = context?.profile.time_zone ?? null;
  const stream =
    stream_id === undefined || time_zone !== null ? null : await orNull(actors.stream(stream_id).view(), 'NOT_FOUND');
  return { time_zone, utc_offset_min: stream?.utc_offset_min ?? 0 };
}
