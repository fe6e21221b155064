import { z } from 'zod';
import { count, moment, serverNow } from '../../src/access/response_schemas.js';
import { HEALTH_AREAS } from '../../src/edge/operations/health_problems.js';
import { SILENT_COUNTED_MAX, SILENT_MS } from '../../src/edge/operations/health_watch.js';
import { type HistoryView, RANGES } from '../../src/edge/operations/history.js';
import { mergeHistories } from '../../src/edge/operations/merged_history.js';
import { mergeProblems } from '../../src/edge/operations/merged_problems.js';
import { processShape } from '../../src/edge/operations/process_row.js';
import { quantile, type Total } from '../../src/edge/operations/totals.js';
import { VERSION } from '../../src/engine/process/version.js';
import { mergeDevices } from '../../src/features/devices/merged_activity.js';
import { operatorRoute, type Route } from '../rows.js';

const size = z.number().min(0);

const LISTENERS = ['public', 'device', 'operator'] as const;
const quantiles = {
  p50_ms: size.nullable().describe('Half took no longer, in ms.'),
  p95_ms: size.nullable().describe('95 % took no longer.'),
  p99_ms: size.nullable().describe('99 % took no longer.'),
};

const overviewShape = z.strictObject({
  now: serverNow,
  clock: z
    .strictObject({
      ahead_ms: z.int().describe("Ahead of this machine's."),
      movable: z.boolean().describe('Whether TEST_CLOCK=1 allows to move it.'),
    })
    .describe('What time it is here, and why.'),
  process: z
    .strictObject({
      pid: count.describe('Its number on its machine.'),
      version: z.string().describe('The version of Spool.'),
      node: z.string().describe('The version of Node.'),
      up_s: count.describe('For how many seconds it has run.'),
      shedding: z.enum(['nothing', 'first', 'all']).describe('What is refused for load.'),
    })
    .describe('The process that answers.'),
  processes: z
    .array(
      z.strictObject({
        id: z.string().describe('Its name among them; another one after each start.'),
        since: moment.describe('Since when it runs.'),
        host: z.string().describe('The name of its machine.'),
        pid: count.describe('Its number on its machine.'),
        partitions: count.describe('How many partitions it looks at before others do.'),
        answers: z.boolean().describe('Whether it is the one that answers.'),
      }),
    )
    .describe('The processes that are alive on this Redis, the oldest first; none while that is not known.'),
  processes_here: z.array(processShape).describe('The processes on this machine that serve these ports.'),
  storage: z
    .strictObject({
      status: z
        .enum(['ok', 'slow', 'refusing', 'away'])
        .describe('slow: a write takes over half a second. refusing: Redis answers and takes no writes.'),
      since_ms: z.number().describe('Since when that is so, in ms since 1970.'),
      round_trip_ms: z.number().nullable().describe('How long its last answer took, in ms; null while it is away.'),
      memory_bytes: size.nullable().describe('What Redis uses; null while it is away.'),
      log_healthy: z.boolean().nullable().describe('Whether Redis could write its append-only file.'),
      dead_letters: count.nullable().describe('Dead letters; null while Redis is away.'),
    })
    .describe('Redis.'),
  disk: z
    .strictObject({ free_bytes: size.describe('What is left.'), size_bytes: size.describe('All of it.') })
    .nullable()
    .describe('The disk under DATA_DIR; null where it can not be asked.'),
  watched_since: moment.describe('Since when the processes on this machine know what devices do.'),
  health_problems: z
    .array(
      z.strictObject({
        name: z.string().describe('The kind of problem.'),
        area: z.enum(HEALTH_AREAS).describe('What it belongs to.'),
        severity: z.enum(['grave', 'mild']).describe('grave: people notice.'),
        text: z.string().describe('The same in words.'),
        advice: z.string().describe('What to do about it.'),
        link: z.string().describe('The page on which one sees why.'),
      }),
    )
    .describe('What is wrong now, in words.'),
  summary: z
    .strictObject({
      since: moment.describe('What it is of: the range, or since the processes on this machine began.'),
      listeners: z
        .array(
          z.strictObject({
            listener: z.enum(LISTENERS).describe('Who asked.'),
            requests: count.describe('How many were answered.'),
            per_s: size.describe('The same a second.'),
            errors: count.describe('Of these with 5xx.'),
            ...quantiles,
          }),
        )
        .describe('Requests of each listener.'),
      commits: z.strictObject({ count: count.describe('How many.'), ...quantiles }).describe('Commits.'),
      outbox_p99_ms: size.nullable().describe('After how many ms 99 % of outbox messages were applied.'),
      reminders_p99_ms: size.nullable().describe('By how many ms 99 % of reminders were late at most.'),
    })
    .describe('All of the range, of all processes on this machine; null where nothing was measured.'),
  history: z
    .strictObject({
      every_ms: count.describe('How far apart samples are.'),
      kept_ms: count.describe('How far back they go.'),
      at_ms: z.array(z.number()).describe('When each was taken, in ms since 1970.'),
      series: z.record(z.string(), z.array(z.number().nullable())).describe('What was measured, by name.'),
    })
    .describe('`at_ms[i]` goes with `series[name][i]`; rates are a second.'),
});

/** The health of all processes of this machine: present problems, and up to a day of measurements. */
export const OVERVIEW_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/overview',
    summary: 'How it is doing: what is wrong now, and what was measured lately.',
    notes: 'Of several processes on this machine, counts are sums, and of times the longest is shown.',
    answer: overviewShape,
    credential: 'operator',
    query: z.object({
      after_ms: z
        .string()
        .regex(/^\d{1,15}$/, 'must be milliseconds since 1970')
        .transform(Number)
        .default(0)
        .meta({
          type: 'integer',
          minimum: 0,
          description: 'Only samples later than this, in ms since 1970; all that are kept when absent.',
        }),
      range: z
        .enum(RANGES, `must be one of ${RANGES.join(', ')}`)
        .default('15m')
        .describe('How far back; the further, the further samples are apart.'),
    }),
    async handler({ services: { clock, members, processes, settings, watch }, query: { after_ms, range } }) {
      const silent = { silent_ms: SILENT_MS, recording: true, limit: SILENT_COUNTED_MAX };
      const [told, { items: silent_devices, since_ms: watched_since_ms }] = await Promise.all([
        processes.ask('standing', { after_ms, range }),
        mergeDevices(processes, silent, clock.now()),
      ]);
      const others = told.flatMap(({ pid, value }) => (pid === process.pid || value === null ? [] : [value.history]));
      const { storage, storage_ms, storage_bytes, disk, shedding, dead_letters, clock_ahead_ms } = watch.standing();
      const shares = members.shares();
      const joined = mergeHistories([watch.history(after_ms, range), ...others]);
      const { since_ms: _, tallies: __, ...history } = joined;
      return {
        now: new Date(clock.now()).toISOString(),
        clock: { ahead_ms: Math.round(clock_ahead_ms), movable: settings.test_clock },
        process: {
          pid: process.pid,
          version: VERSION,
          node: process.version,
          up_s: Math.round(process.uptime()),
          shedding,
        },
        processes: members.living.map(({ id, since_ms, host, pid }) => ({
          id,
          since: new Date(since_ms).toISOString(),
          host,
          pid,
          partitions: shares.get(id) ?? 0,
          answers: id === members.id,
        })),
        processes_here: told.map(({ number, pid, value }) => ({ number, pid, row: value?.row ?? null })),
        storage: {
          status: storage.status,
          since_ms: storage.since_ms,
          round_trip_ms: storage_ms,
          memory_bytes: storage_bytes,
          log_healthy: storage.log_healthy,
          dead_letters,
        },
        disk,
        watched_since: new Date(watched_since_ms).toISOString(),
        health_problems: mergeProblems(told, {
          silent_devices: silent_devices.length,
          now_ms: clock.unmoved(),
          troubles: processes.troubles,
        }),
        summary: summaryOf(joined, clock.unmoved()),
        history,
      };
    },
  }),
];

function summaryOf({ since_ms, tallies }: HistoryView, now_ms: number): z.infer<typeof overviewShape>['summary'] {
  const seconds = Math.max(1, (now_ms - since_ms) / 1000);
  const { commit } = tallies;
  return {
    since: new Date(since_ms).toISOString(),
    listeners: LISTENERS.map((listener) => {
      const { [`requests ${listener}` as const]: requests, [`errors ${listener}` as const]: errors } = tallies;
      const per_s = Number((requests.count / seconds).toPrecision(3));
      return { listener, requests: requests.count, per_s, errors: errors.count, ...quantilesOf(requests) };
    }),
    commits: { count: commit.count, ...quantilesOf(commit) },
    outbox_p99_ms: withinMs(tallies.outbox_lag, 0.99),
    reminders_p99_ms: withinMs(tallies.reminder_lateness, 0.99),
  };
}

function quantilesOf(total: Total) {
  return { p50_ms: withinMs(total, 0.5), p95_ms: withinMs(total, 0.95), p99_ms: withinMs(total, 0.99) };
}

function withinMs(total: Total, share: number): number | null {
  const seconds = quantile(total, share);
  return seconds === null ? null : Number((seconds * 1000).toPrecision(4));
}
