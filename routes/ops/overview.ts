import { z } from 'zod';
import { operatorRoute, type Route } from '../route.js';

/** How this process is doing: what is wrong now, and a quarter of an hour of what was measured. */
export const OVERVIEW_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/overview',
    credential: 'operator',
    query: z.object({
      /** Samples later than this; all that are kept when absent. */
      after_ms: z
        .string()
        .regex(/^\d{1,15}$/, 'must be milliseconds since 1970')
        .transform(Number)
        .default(0),
    }),
    async handler({ services: { clock, settings, watch }, query: { after_ms } }) {
      const { storage, storage_ms, storage_bytes, disk, shedding, set_aside, clock_ahead_ms } = watch.standing();
      return {
        now_ms: clock.unmoved(),
        clock: {
          now: new Date(clock.now()).toISOString(),
          ahead_ms: Math.round(clock_ahead_ms),
          movable: settings.test_clock,
        },
        process: { pid: process.pid, node: process.version, up_s: Math.round(process.uptime()), shedding },
        storage: {
          ...{ reachable: storage.reachable, since_ms: storage.since_ms, round_trip_ms: storage_ms },
          ...{ memory_bytes: storage_bytes, log_healthy: storage.log_healthy, set_aside },
        },
        disk,
        troubles: watch.troubles(),
        history: watch.history(after_ms),
      };
    },
  }),
];
