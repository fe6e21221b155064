import { LIMITS } from '../../src/domain/limits.js';
import { type Effect, messagesOf } from '../actor.js';
import { keptPipeline } from '../insights/context_state.js';
import type { Transcript, Window } from './transcript_state.js';

/** The outcome of a window, for debugging. Collection `runs`: the newest, each in the place of the oldest. */
export type TranscriptRun = {
  run_id: string;
  from_ms: number;
  to_ms: number;
  pass: Window['pass'];
  status: 'published' | 'failed';
  tries: number;
  /** Null if unknown. */
  engine: string | null;
  /** When its audio arrived, and when this outcome was stored. */
  queued_at_ms: number;
  ended_at_ms: number;
  /** The code of a failure. */
  failure: string | null;
  /** The number of segments that the engine itself doubted. */
  dropped: number;
  /** The number of its pipeline; absent for the first. */
  pipeline?: number;
};

type Ended = Pick<TranscriptRun, 'status' | 'engine' | 'failure' | 'dropped' | 'ended_at_ms'> & { window: Window };

export const runMessages = messagesOf<Transcript>()({
  /** The newest first. */
  runs: {
    reads: true,
    records: () => [{ collection: 'runs', range: { descending: true, limit: LIMITS.runs_kept_per_stream } }],
    decide: (_state, _: unknown, facts) => ({
      reply: { runs: facts.range<TranscriptRun>('runs').map(({ value }) => value) },
    }),
  },
});

/** Stores the outcome of a window. A try that is followed by another is none. */
export function noteRun(
  state: Transcript,
  { window: { number, run_id, from_ms, to_ms, pass, tries, pipeline }, ended_at_ms, ...ended }: Ended,
): Effect {
  const audio = state.waiting.find((one) => one.from_ms < to_ms && one.to_ms > from_ms);
  const queued_at_ms = audio?.at_ms ?? ended_at_ms;
  const value: TranscriptRun = {
    run_id,
    from_ms,
    to_ms,
    pass,
    tries,
    queued_at_ms,
    ended_at_ms,
    ...ended,
    ...keptPipeline(pipeline),
  };
  return {
    effect: 'put_record',
    collection: 'runs',
    id: String(number % LIMITS.runs_kept_per_stream),
    value,
    order: number,
  };
}
