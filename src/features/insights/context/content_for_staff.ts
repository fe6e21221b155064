import { z } from 'zod';
import { INSIGHTS_INDEX } from '../../../../actors/insights/library_state.js';
import { TRANSCRIBING_INDEX } from '../../../../actors/transcripts/transcript_state.js';
import { count, moment, serverNow } from '../../../access/response_schemas.js';
import type { Failing, RecentFailure } from '../../../engine/jobs/job_activity.js';
import type { FeatureServices } from '../../services.js';
import { dueCounts } from '../../transcripts/due_counts.js';
import type { TranscriberShown } from '../../transcripts/engines/choose_engine.js';
import { engineLanguages, engineModel } from '../../transcripts/transcript_summary.js';
import { recentTranscription } from '../../transcripts/transcription_activity.js';
import type { TranscriptionJobs } from '../../transcripts/transcription_jobs.js';
import type { RetentionSweep } from '../../workspaces/retention_sweep.js';
import { recentInsights } from '../library/insight_activity.js';
import type { InsightServices } from '../library/insight_services.js';

/**
 * The engines and workers of transcripts and insights, their recent outcomes, and the removals of retention; without
 * any text.
 */

const seconds = z.number().min(0);
const code = z.string().describe('Why, as the engine or the worker that failed is told apart.');

const oldest_due_s = seconds.nullable().describe('For how long the first of those that are due has been.');
const beyond = z.boolean().describe('Whether there are more than were counted.');
const failing = z
  .strictObject({
    since: moment.describe('When the first of them failed.'),
    tries: count.describe('How many.'),
    code,
  })
  .nullable()
  .describe('Tries that failed here since one succeeded last.');
const failures = z
  .array(
    z.strictObject({
      code,
      tries: count.describe('How many failed so.'),
      last_at: moment.describe('When the last one did.'),
    }),
  )
  .describe('The most frequent first.');

const insightsShape = z
  .strictObject({
    by: z
      .enum(['server', 'built_in', 'workers', 'nobody'])
      .describe('Who; built_in: without a model; workers: those on this port.'),
    hosts: z.array(z.string()).describe('Other machines that text may go to.'),
    in_hand: count.describe('Conversations that this process has handed out and that are not done.'),
    waiting: z
      .strictObject({
        due: count.describe('Accounts in a workspace with something that a worker may have.'),
        later: count.describe(
          'Those in which people may still speak, or whose conversations rest after a failure or are in a worker’s hands.',
        ),
        oldest_due_s,
        beyond,
      })
      .describe('What all processes have to do.'),
    failing,
    last_hour: z
      .strictObject({
        conversations: count.describe('Looked into.'),
        suggestions: count.describe('Made or changed.'),
        memories: count.describe('Made or changed.'),
        dropped: z
          .array(
            z.strictObject({
              reason: z
                .string()
                .describe(
                  'unsupported: no turn bears it; duplicate: it was there; protected: people set it otherwise; malformed, unwanted, address, too_many: left out. Else why all that waited of an account went.',
                ),
              count: count.describe('How many.'),
            }),
          )
          .describe('What came to nothing.'),
        failures,
      })
      .describe('As this process has seen it, among its last thousand conversations.'),
  })
  .describe('Who looks into conversations, and how that goes.');

export const contentShape = z.strictObject({
  now: serverNow,
  transcriber: z
    .strictObject({
      by: z.enum(['server', 'program', 'built_in', 'workers', 'nobody']).describe('workers: those on this port.'),
      host: z.string().nullable().describe('Where audio goes to by itself; null where it stays here.'),
      hosts: z.array(z.string()).describe('All other machines that audio may go to.'),
      languages: engineLanguages,
      model: engineModel,
      tells_speakers: z.boolean().describe('Whether it tells speakers apart by their number.'),
    })
    .describe('Who makes text of audio.'),
  speech_memory_bytes: count
    .nullable()
    .describe('Memory of the process of the built-in engine, beside this one; null while it does not run.'),
  voices_memory_bytes: count
    .nullable()
    .describe('Memory of the process that tells speakers apart by their number; null while it does not run.'),
  in_hand: count.describe('Windows that this process has handed out and that are not done.'),
  waiting: z
    .strictObject({
      due: count.describe('Streams with a window that a worker may have.'),
      later: count.describe('Streams whose audio is still gathered, rests after a failure, or is in a worker’s hands.'),
      oldest_due_s,
      beyond,
    })
    .describe('What all processes have to do.'),
  failing,
  last_hour: z
    .strictObject({
      windows: count.describe('Windows transcribed.'),
      turns: count.describe('Turns that they made.'),
      lag_s: z
        .strictObject({ p50: seconds.describe('Half of them within.'), p99: seconds.describe('99 of 100 within.') })
        .nullable()
        .describe('From the arrival of audio to its turns; null where there were none.'),
      failures,
    })
    .describe('As this process has seen it, among its last thousand windows.'),
  insights: insightsShape,
  retention: z
    .strictObject({
      failing_s: seconds
        .nullable()
        .describe('For how long some part of a sweep has failed here; null while none does.'),
      parts: count.describe('Parts of sweeps, of one account in one workspace, that ended here.'),
      removed: z
        .array(
          z.strictObject({
            list: z.string().describe('On which it stood.'),
            records: count.describe('How many.'),
          }),
        )
        .describe('Since this process started.'),
    })
    .describe('What removes what workspaces do not keep.'),
});

export async function readContentForStaff(
  services: Pick<FeatureServices, 'clock' | 'metrics' | 'speech' | 'store' | 'voices'> & {
    insights: InsightServices;
    retention: RetentionSweep;
    transcriber: TranscriberShown;
    transcription: TranscriptionJobs;
  },
): Promise<z.infer<typeof contentShape>> {
  const { clock, insights, metrics, retention, speech, store, transcriber, transcription, voices } = services;
  const now_ms = clock.now();
  const [waiting, conversations, removed, speech_memory_bytes, voices_memory_bytes] = await Promise.all([
    dueCounts(store, TRANSCRIBING_INDEX, now_ms),
    dueCounts(store, INSIGHTS_INDEX, now_ms),
    metrics.retention_removed.get(),
    speech.memory(),
    voices.memory(),
  ]);
  const { activity, in_flight } = transcription;
  const { lag_ms, ...last_hour } = recentTranscription(activity);
  const { by, hosts, jobs } = insights;
  const thought = recentInsights(jobs.activity);
  return {
    now: momentOf(now_ms),
    transcriber,
    speech_memory_bytes,
    voices_memory_bytes,
    in_hand: in_flight,
    waiting: waitingView(waiting, now_ms),
    failing: failingView(activity.failing),
    last_hour: {
      ...last_hour,
      lag_s: lag_ms === null ? null : { p50: lag_ms.p50 / 1_000, p99: lag_ms.p99 / 1_000 },
      failures: last_hour.failures.map(failedView),
    },
    insights: {
      by,
      hosts,
      in_hand: jobs.in_flight,
      waiting: waitingView(conversations, now_ms),
      failing: failingView(jobs.activity.failing),
      last_hour: { ...thought, failures: thought.failures.map(failedView) },
    },
    retention: {
      failing_s: retention.failing_ms === 0 ? null : Math.round(retention.failing_ms / 1_000),
      parts: retention.worker.counts.done,
      removed: removed.values.map(({ labels, value }) => ({ list: String(labels.list), records: value })),
    },
  };
}

function momentOf(ms: number): string {
  return new Date(ms).toISOString();
}

function waitingView<Counted extends { oldest_due_ms: number | null }>(
  { oldest_due_ms, ...counted }: Counted,
  now_ms: number,
) {
  return { ...counted, oldest_due_s: oldest_due_ms === null ? null : Math.round((now_ms - oldest_due_ms) / 1_000) };
}

function failingView(failed: Failing | null) {
  return failed === null ? null : { since: momentOf(failed.since_ms), tries: failed.tries, code: failed.code };
}

function failedView({ last_at_ms, ...failed }: RecentFailure) {
  return { ...failed, last_at: momentOf(last_at_ms) };
}
