import type { Interval } from '../../src/domain/intervals.js';
import { subtract } from '../../src/domain/intervals.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, messagesOf } from '../actor.js';
import type { PipelineOutputKey, Transcript, WaitingAudio } from './transcript_state.js';
import { begin, dueEffects, type StreamAudio } from './transcript_windows.js';
import { clip, inOrder, isWorthIt, spanOf } from './waiting_audio.js';

/**
 * The transcript of a recording by another pipeline than the default one, under `pipelineOutputId`. It shares only the
 * audio with the stream's transcript: it records no events, and is on no list but that of retention.
 */
export const pipelineMessages = messagesOf<Transcript>()({
  /** To the stream's own transcript: notes this pipeline output, and tells it of the audio. */
  open_pipeline_output(
    state,
    { number, from_ms, to_ms }: OpenPipelineOutput,
  ): Decision<Transcript, OpenedPipelineOutput> {
    if (state === null || state.pipeline_output !== null) return { reply: NO_AUDIO };
    const { waiting, failed, covered, window_ms, longest_ms, end_ms } = state;
    const all = [...covered, ...waiting.map(spanOf), ...failed.map(spanOf)].sort((a, b) => a[0] - b[0]);
    const intervals = disjoint(all).flatMap((span) => clip(span, [from_ms, to_ms]));
    if (intervals.length === 0) return { reply: NO_AUDIO };
    const { account_id, workspace_id, source_id, captured_at_ms, pipeline_outputs } = state;
    const stream = { account_id, workspace_id, source_id, captured_at_ms, end_ms };
    const reply = { stream, window_ms, longest_ms, intervals };
    return pipeline_outputs.includes(number)
      ? { reply }
      : { reply, next: { ...state, pipeline_outputs: [...pipeline_outputs, number] } };
  },

  /** To a pipeline output: transcribes this audio, also if it was transcribed before. */
  run_pipeline(
    state,
    { pipeline_output, stream, window_ms, longest_ms, intervals }: RunPipeline,
    facts,
  ): Decision<Transcript, StartedPipelineRun> {
    if (state !== null && !isSameOutput(state.pipeline_output, pipeline_output)) return { reply: OTHER_OUTPUT };
    const before = state ?? { ...begin(stream), pipeline_output };
    const again = before.covered.flatMap((span) => intervals.flatMap((within) => clip(span, within)));
    const known = [...before.covered, ...before.waiting.map(spanOf)].sort((a, b) => a[0] - b[0]);
    const fresh = subtract(intervals, disjoint(known)).filter(isWorthIt);
    const wait = ([from_ms, to_ms]: Interval): WaitingAudio => ({ from_ms, to_ms, at_ms: facts.now_ms });
    const waiting = [
      ...before.waiting,
      ...fresh.map(wait),
      ...again.map((span): WaitingAudio => ({ ...wait(span), again: 'reprocess' })),
    ];
    const next: Transcript = {
      ...before,
      end_ms: stream.end_ms,
      window_ms,
      longest_ms: Math.max(before.longest_ms, longest_ms),
      retry: null,
      waiting: inOrder(waiting),
      covered: subtract(before.covered, again),
      failed: before.failed.filter((one) => intervals.every((span) => clip(spanOf(one), span).length === 0)),
    };
    return { reply: { turns: before.turns }, next, effects: dueEffects(state, next, facts.self) };
  },
});

const NO_AUDIO = refuse('CONFLICT', 'There is no audio of the stream there that could be transcribed.');
const OTHER_OUTPUT = refuse('CONFLICT', 'The transcript of another recording stands there.');

type Share = Pick<StreamAudio, 'stream' | 'window_ms' | 'intervals'> & { longest_ms: number };
type OpenPipelineOutput = { number: number; from_ms: number; to_ms: number };
type OpenedPipelineOutput = Share;
type RunPipeline = Share & { pipeline_output: PipelineOutputKey };
/** `turns`: the number of existing turns. */
type StartedPipelineRun = { turns: number };

function isSameOutput(one: PipelineOutputKey | null, other: PipelineOutputKey): boolean {
  return one?.stream_id === other.stream_id && one.pipeline_id === other.pipeline_id;
}

/** Joins sorted intervals that overlap. */
function disjoint(sorted: readonly Interval[]): Interval[] {
  const joined: Interval[] = [];
  for (const [from, to] of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && last[1] >= from) joined[joined.length - 1] = [last[0], Math.max(last[1], to)];
    else joined.push([from, to]);
  }
  return joined;
}
