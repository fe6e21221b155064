import { z } from 'zod';
import { count, moment } from '../../src/answer_shapes.js';
import { operatorRoute, type Route } from '../route.js';

const size = z.number().min(0);

const overviewShape = z.strictObject({
  now: moment,
  clock: z.strictObject({
    ahead_ms: z.int().describe("Ahead of this machine's."),
    movable: z.boolean(),
  }),
  process: z.strictObject({
    pid: count,
    node: z.string(),
    up_s: count,
    shedding: z.enum(['nothing', 'first', 'all']).describe('What is refused for load.'),
  }),
  storage: z.strictObject({
    reachable: z.boolean(),
    since_ms: z.number(),
    round_trip_ms: z.number().nullable(),
    memory_bytes: size.nullable(),
    log_healthy: z.boolean().nullable().describe('Whether Redis could write its append-only file.'),
    set_aside: count.nullable(),
  }),
  disk: z.strictObject({ free_bytes: size, size_bytes: size }).nullable(),
  troubles: z
    .array(
      z.strictObject({ name: z.string(), severity: z.enum(['grave', 'mild']), text: z.string(), link: z.string() }),
    )
    .describe('What is wrong now, in words.'),
  history: z
    .strictObject({
      every_ms: count,
      kept_ms: count,
      at_ms: z.array(z.number()),
      series: z.record(z.string(), z.array(z.number().nullable())),
    })
    .describe('`at_ms[i]` goes with `series[name][i]`; rates are a second.'),
});

/** How this process is doing: what is wrong now, and a quarter of an hour of what was measured. */
export const OVERVIEW_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/overview',
    summary: 'How this process is doing: what is wrong now, and what was measured in the last quarter of an hour.',
    answer: overviewShape,
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
        now: new Date(clock.now()).toISOString(),
        clock: { ahead_ms: Math.round(clock_ahead_ms), movable: settings.test_clock },
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
