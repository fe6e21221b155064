import { z } from 'zod';
import { pipelineOf } from '../../../../actors/insights/context_state.js';
import type { InsightJob, InsightRun } from '../../../../actors/insights/library_state.js';
import type { TranscriptRun } from '../../../../actors/transcripts/transcript_runs.js';
import type { Transcript } from '../../../../actors/transcripts/transcript_state.js';
import { type Page, type PageQuery, pageOfAll } from '../../../access/cursors.js';
import type { Principal } from '../../../access/principal.js';
import { count, id, moment, momentOrNull } from '../../../access/response_schemas.js';
import { libraryId, pipelineId, pipelineOutputId } from '../../../domain/ids.js';
import { type Interval, subtract } from '../../../domain/intervals.js';
import { orNull } from '../../../domain/refusals.js';
import type { FeatureServices } from '../../services.js';
import { defaultNumberOf } from '../../transcripts/pipeline_access.js';
import type { ReadableTranscript } from '../../transcripts/transcript_pages.js';
import { readableTranscript } from '../../transcripts/transcript_reading.js';
import { leftOutShape } from '../library/insight_shapes.js';

/** The runs of a recording, for debugging: no text is in them. Rule K-017. */

export const RUN_KINDS = ['transcribe', 'insights'] as const;

export const debugRunShape = z
  .strictObject({
    run_id: id.nullable().describe('What events call it; null while nobody has it.'),
    kind: z
      .enum(RUN_KINDS)
      .describe('transcribe: audio becomes turns; insights: turns become conversations and what is in them.'),
    pipeline_id: id.describe('Whose work it is.'),
    from_ms: count.describe("Where its part of the recording begins, in ms of the stream's timeline."),
    to_ms: count.describe('Where that ends.'),
    status: z
      .enum(['waiting', 'claimed', 'published', 'failed'])
      .describe('claimed: a worker has it; failed: it is not tried any more.'),
    tries: count.describe('How often a worker has had it.'),
    engine: z.string().nullable().describe('What did it, where that was said.'),
    queued_at: moment.describe('Since when it waits, or had waited.'),
    published_at: moment.nullable().describe('When its result was published; null where there is none.'),
    failure: z
      .string()
      .nullable()
      .describe('The code of why it failed; of a published one, why the built-in engine had to do it.'),
    dropped: z
      .strictObject({
        unsupported: count.describe('No turn bears it; of a transcription: the engine itself doubted it.'),
        duplicate: count.describe('It was there already, or a person did not want it.'),
        protected: count.describe('A person had said otherwise.'),
        ...leftOutShape,
      })
      .describe('How much of its result was left out, and why.'),
  })
  .meta({ id: 'DebugRun' });

type DebugRunView = z.infer<typeof debugRunShape>;

/** `key`: the place at which the page before ended. */
type DebugRun = Omit<DebugRunView, 'queued_at' | 'published_at'> & {
  key: string;
  queued_at_ms: number;
  published_at_ms: number | null;
};

const NOTHING = { unsupported: 0, duplicate: 0, protected: 0, malformed: 0, unwanted: 0, address: 0, too_many: 0 };
const NOT_YET = { engine: null, published_at_ms: null, failure: null, dropped: NOTHING };

/** A page of the runs of a stream and its waiting jobs, the newest first. */
export async function listDebugRuns(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'runtime'>,
  who: Principal,
  { stream_id, limit, cursor }: PageQuery & { stream_id: string },
): Promise<Page<DebugRunView>> {
  const readable = await readableTranscript(services, who, stream_id);
  const runs = await debugRuns(services, who, readable);
  const page = pageOfAll(runs, { idOf: ({ key }) => key, limit, cursor });
  return { items: page.rows.map(debugRunView), cursor: page.cursor };
}

async function debugRuns(
  { actors, clock }: Pick<FeatureServices, 'actors' | 'clock'>,
  who: Principal,
  { stream, transcript }: ReadableTranscript,
): Promise<DebugRun[]> {
  const { id: stream_id, account_id, workspace_id } = stream;
  const number = await defaultNumberOf({ actors }, account_id);
  const default_id = pipelineId(account_id, number);
  const now_ms = clock.now();
  const heard: DebugRun[] = [];
  for (const { id, pipeline } of transcriptsOf(stream_id, transcript, account_id === who.account_id)) {
    const of = id === stream_id ? transcript : await orNull(actors.transcript(id).view(), 'NOT_FOUND');
    // Of a pipeline output that was not begun there is nothing.
    if (of === null) continue;
    const ended = await actors.transcript(id).runs();
    if (id !== stream_id && of.pipeline_output?.stream_id !== stream_id) continue;
    const wanted_by = pipeline === null ? default_id : pipelineId(account_id, pipeline);
    heard.push(...stillToTranscribe(of, { default_id: wanted_by, now_ms }));
    heard.push(...ended.runs.map((run) => transcribed(run, pipelineOf({ ...run, pipeline_id: null }, stream))));
  }
  const made = await actors.library(libraryId(account_id, workspace_id)).runs({ stream_id });
  // What other pipelines make is their account's.
  const isSeen = ({ pipeline_id }: { pipeline_id: string | null }) =>
    pipeline_id === null || account_id === who.account_id;
  const rows: DebugRun[] = [
    ...heard,
    ...made.jobs.filter(isSeen).map((job) => stillToThinkOf(job, { account_id, stream_id, default_id, now_ms })),
    ...made.runs.filter(isSeen).map((run) => thoughtOf(run, pipelineOf(run, stream))),
  ];
  return rows.sort((a, b) => b.queued_at_ms - a.queued_at_ms || b.from_ms - a.from_ms);
}

/** The runs of the stream's own transcript, and for its owner those of other pipelines. */
function transcriptsOf(stream_id: string, transcript: Transcript | null, is_owner: boolean) {
  const outputs = is_owner ? (transcript?.pipeline_outputs ?? []) : [];
  const own: { id: string; pipeline: number | null } = { id: stream_id, pipeline: null };
  return [own, ...outputs.map((pipeline) => ({ id: pipelineOutputId(stream_id, pipeline), pipeline }))];
}

type Now = { default_id: string; now_ms: number };

function stillToTranscribe(
  { account_id, waiting, window, retry }: Transcript,
  { default_id, now_ms }: Now,
): DebugRun[] {
  const held = window !== null && window.until_ms > now_ms ? window : null;
  const kind = 'transcribe' as const;
  const begun = { ...NOT_YET, kind, pipeline_id: default_id };
  const row = (span: { from_ms: number; to_ms: number }, queued_at_ms: number) => {
    const { from_ms, to_ms } = span;
    return {
      ...begun,
      key: `${kind} ${from_ms} ${default_id}`,
      run_id: null,
      from_ms,
      to_ms,
      status: 'waiting' as const,
      queued_at_ms,
    };
  };
  const triesAt = (from_ms: number) => {
    const rested = retry?.from_ms === from_ms ? retry.tries : 0;
    return held === null && window?.from_ms === from_ms ? Math.max(rested, window.tries) : rested;
  };
  const cut: Interval[] = held === null ? [] : [[held.from_ms, held.to_ms]];
  const rows = waiting.flatMap(({ from_ms, to_ms, at_ms }): DebugRun[] =>
    subtract([[from_ms, to_ms]], cut).map(([from, to]) => ({
      ...row({ from_ms: from, to_ms: to }, at_ms),
      tries: triesAt(from),
    })),
  );
  if (held === null) return rows;
  const { run_id, from_ms, to_ms, tries } = held;
  const pipeline_id = pipelineOf({ ...held, pipeline_id: null }, { account_id });
  const came_ms = waiting.find((one) => one.from_ms < to_ms && one.to_ms > from_ms)?.at_ms ?? now_ms;
  return [{ ...row({ from_ms, to_ms }, came_ms), key: run_id, pipeline_id, run_id, status: 'claimed', tries }, ...rows];
}

/** Segments that the engine doubted count as unsupported. */
function transcribed(run: TranscriptRun, pipeline_id: string): DebugRun {
  const { run_id, from_ms, to_ms, status, tries, engine, queued_at_ms, ended_at_ms, failure, dropped } = run;
  return {
    key: run_id,
    run_id,
    kind: 'transcribe',
    pipeline_id,
    from_ms,
    to_ms,
    status,
    tries,
    engine,
    queued_at_ms,
    published_at_ms: status === 'published' ? ended_at_ms : null,
    failure,
    dropped: { ...NOTHING, unsupported: dropped },
  };
}

function stillToThinkOf(
  job: InsightJob,
  { stream_id, default_id, now_ms, ...owner }: Now & { stream_id: string; account_id: string },
): DebugRun {
  const { number, pipeline_id, claim, tries, queued_at_ms } = job;
  const here = job.parts.filter((part) => part.stream_id === stream_id);
  const is_held = claim !== undefined && claim.until_ms > now_ms;
  return {
    ...NOT_YET,
    key: `insights ${number}`,
    kind: 'insights',
    pipeline_id: pipeline_id ?? (is_held ? pipelineOf({ ...claim, pipeline_id }, owner) : default_id),
    from_ms: Math.min(...here.map(({ start_ms }) => start_ms)),
    to_ms: Math.max(...here.map(({ end_ms }) => end_ms)),
    run_id: is_held ? claim.run_id : null,
    status: is_held ? 'claimed' : 'waiting',
    tries,
    queued_at_ms,
  };
}

function thoughtOf(run: InsightRun, pipeline_id: string): DebugRun {
  const { ended_at_ms, pipeline: _, conversation, ...rest } = run;
  return {
    ...rest,
    dropped: { ...NOTHING, ...run.dropped },
    key: `${run.run_id} ${conversation}`,
    kind: 'insights',
    pipeline_id,
    published_at_ms: run.status === 'published' ? ended_at_ms : null,
  };
}

function debugRunView({ key: _, queued_at_ms, published_at_ms, ...run }: DebugRun): DebugRunView {
  return { ...run, queued_at: new Date(queued_at_ms).toISOString(), published_at: momentOrNull(published_at_ms) };
}
