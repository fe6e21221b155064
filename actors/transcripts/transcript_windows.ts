import { addInterval, type Interval, subtract } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type SpeechBefore, UNSURE_BELOW } from '../../src/domain/speech_before.js';
import { type Decision, type Effect, type Facts, messagesOf } from '../actor.js';
import { keptPipeline } from '../insights/context_state.js';
import { dueIndexEffects, GIVEN_UP, isLastTry, JOB_DONE, restAfter, workerMessages } from '../job.js';
import { type PageTurn, pageKey, pageOf, readPage } from './transcript_page.js';
import { noteRun } from './transcript_runs.js';
import {
  type FailedAudio,
  NOT_UNDERSTOOD,
  ofTranscript,
  TRANSCRIBING_INDEX,
  type Transcript,
  type WaitingAudio,
  type Window,
} from './transcript_state.js';
import { clip, inOrder, isWorthIt, spanOf } from './waiting_audio.js';

export const NOT_HELD = refuse('CONFLICT', 'The claim does not hold any more; the window may be in other hands.');
const NO_WINDOW = { window: null } as const;

/** Sent by the stream: its last change, and audio that can be transcribed. */
export type StreamAudio = {
  stream: Pick<Transcript, 'account_id' | 'workspace_id' | 'source_id' | 'captured_at_ms' | 'end_ms'>;
  /** The length of windows by the server's settings. */
  window_ms: number;
  intervals: Interval[];
};

/** The next window. `until_ms`: when it may be claimed. */
type NextWindow = Pick<Window, 'from_ms' | 'to_ms' | 'final' | 'pass'> & { until_ms: number };

type HeldWindow = { number: number; token: string };

/** The time before a window in which understood speech is counted. */
const SPEECH_BEFORE_MS = 120_000;
const WINDOW_TRIES = { tries_max: LIMITS.window_tries_max, rests_ms: LIMITS.window_retries_ms };

/** Windows are jobs; a transcript has one claimed at a time. A window that failed for good is not waited for. */
const windowJobs = workerMessages<Transcript, HeldWindow, Window>({
  given: ofTranscript,
  not_held: NOT_HELD,
  tries: WINDOW_TRIES,
  held(state, named) {
    const job = heldWindow(state, named);
    return job === null ? null : { until_ms: job.until_ms, job };
  },
  prolonged: (state, { job, until_ms }, facts) => changed(state, { ...state, window: { ...job, until_ms } }, facts),
  rested(state, { job: { from_ms, tries } }, not_before_ms, facts) {
    return changed(state, { ...state, window: null, retry: { from_ms, tries, not_before_ms } }, facts);
  },
  released: (state, _, facts) => changed(state, { ...state, window: null }, facts),
  failed(state, { job }, { code, engine }, facts) {
    const { from_ms, to_ms } = job;
    const noted = failedRun(state, { window: job, code, engine }, facts.now_ms);
    const { next, effects } = changed(state, givenUp(state, { from_ms, to_ms, code }), facts);
    return { next, effects: [noted, ...effects] };
  },
});

export const windowMessages = messagesOf<Transcript>()({
  /** From the stream: more audio has arrived. Transcribed audio is not transcribed again. */
  audio(state, { stream, window_ms, intervals }: StreamAudio, facts): Decision<Transcript, typeof JOB_DONE> {
    const before = state ?? begin(stream);
    const known = [...before.covered, ...before.waiting.map(spanOf)].sort((a, b) => a[0] - b[0]);
    const fresh = subtract(
      [...intervals].sort((a, b) => a[0] - b[0]),
      known,
    ).filter(isWorthIt);
    const added = fresh.map(([from_ms, to_ms]): WaitingAudio => ({ from_ms, to_ms, at_ms: facts.now_ms }));
    const longest_ms = Math.max(before.longest_ms, ...intervals.map(([from, to]) => to - from));
    const end_ms = before.end_ms ?? stream.end_ms;
    const waiting = inOrder([...before.waiting, ...added]);
    return { reply: JOB_DONE, ...changed(state, { ...before, end_ms, window_ms, longest_ms, waiting }, facts) };
  },

  /** From the stream: the recording ends here. */
  ended(state, { end_ms }: { end_ms: number }, facts): Decision<Transcript, typeof JOB_DONE> {
    return state === null ? { reply: JOB_DONE } : { reply: JOB_DONE, ...changed(state, { ...state, end_ms }, facts) };
  },

  /** Claims the next window if it is due and nobody has it. `token`: random, made for this message. */
  claim_window: {
    // What was said before it.
    records: (_: ClaimInput, state) => {
      const [first] = state?.waiting ?? [];
      return first === undefined ? [] : [{ collection: 'pages', id: pageKey(pageOf(first.from_ms)) }];
    },
    decide(
      state,
      { token, run_id, lease_ms, window_ms, pipeline }: ClaimInput,
      facts,
    ): Decision<Transcript, ClaimedWindow> {
      const { now_ms } = facts;
      if (state === null || (state.window !== null && now_ms < state.window.until_ms)) return { reply: NO_WINDOW };
      const found = nextWindow({ ...state, window_ms });
      const tries = found === null ? 0 : triesAt(state, found.from_ms);
      if (found !== null && isLastTry(tries, WINDOW_TRIES)) {
        const noted = state.window === null ? [] : [failedRun(state, { window: state.window, code: GIVEN_UP }, now_ms)];
        const { next, effects } = changed(null, { ...givenUp(state, { ...found, code: GIVEN_UP }), window_ms }, facts);
        return { reply: NO_WINDOW, next, effects: [...noted, ...effects] };
      }
      // Only so that its place in the index is true again.
      if (found === null || now_ms < found.until_ms)
        return { reply: NO_WINDOW, ...changed(null, { ...state, window_ms }, facts) };
      const { until_ms: _, ...cut } = found;
      const { from_ms } = cut;
      const claim = { run_id, token, until_ms: now_ms + lease_ms, tries: tries + 1, ...keptPipeline(pipeline) };
      const window: Window = { number: state.windows + 1, ...cut, ...claim };
      const next = { ...state, windows: window.number, window_ms, window };
      const page = pageOf(from_ms);
      const { turns } = readPage(page, facts.record('pages', pageKey(page)));
      const before = turns.filter(({ start_ms }) => start_ms < from_ms);
      const previous_text = before.at(-1)?.text ?? null;
      const speech_before = speechBefore(state, before, from_ms);
      return { reply: { window, transcript: next, previous_text, speech_before }, ...changed(state, next, facts) };
    },
  },

  prolong_window: windowJobs.prolong,
  window_failed: windowJobs.fail,
  release_window: windowJobs.release,

  /** Transcribes audio again, and tries again what failed. */
  reprocess: ofTranscript(
    (state, { from_ms, to_ms, only_failed }: ReprocessInput, facts): Decision<Transcript, typeof JOB_DONE> => {
      const { now_ms } = facts;
      const within: Interval = [from_ms, to_ms];
      const cut = (intervals: Interval[]) => intervals.flatMap(([from, to]) => clip([from, to], within));
      const failed = state.failed.flatMap((one) => clip(spanOf(one), within));
      const again = only_failed ? [] : cut(state.covered);
      const waiting = [
        ...state.waiting,
        ...failed.map(([from, to]): WaitingAudio => ({ from_ms: from, to_ms: to, at_ms: now_ms })),
        ...again.map(([from, to]): WaitingAudio => ({ from_ms: from, to_ms: to, at_ms: now_ms, again: 'reprocess' })),
      ];
      if (failed.length + again.length === 0) return { reply: JOB_DONE };
      const next: Transcript = {
        ...state,
        waiting: inOrder(waiting),
        covered: subtract(state.covered, again),
        failed: state.failed.flatMap((one) =>
          subtract([spanOf(one)], [within]).map(([from_ms, to_ms]) => ({ ...one, from_ms, to_ms })),
        ),
        retry: null,
      };
      return { reply: JOB_DONE, ...changed(state, next, facts) };
    },
  ),

  /** Ends all windows: the source is deleted, or the layer is off. */
  stop_transcribing(state, _: unknown, facts): Decision<Transcript, typeof JOB_DONE> {
    if (state === null || (state.waiting.length === 0 && state.window === null)) return { reply: JOB_DONE };
    return { reply: JOB_DONE, ...changed(state, { ...state, waiting: [], window: null, retry: null }, facts) };
  },
});

/** `pipeline`: the number of the pipeline. */
type ClaimInput = { token: string; run_id: string; lease_ms: number; window_ms: number; pipeline?: number };
type ClaimedWindow =
  | { window: null }
  | { window: Window; transcript: Transcript; previous_text: string | null; speech_before: SpeechBefore };
type ReprocessInput = { from_ms: number; to_ms: number; only_failed: boolean };

function speechBefore({ failed }: Transcript, turns: readonly PageTurn[], to_ms: number): SpeechBefore {
  const shortly_before: Interval = [to_ms - SPEECH_BEFORE_MS, to_ms];
  const lengthOf = (spans: Interval[]) =>
    spans.flatMap((span) => clip(span, shortly_before)).reduce((sum, [from, to]) => sum + to - from, 0);
  const spansOf = (of: readonly PageTurn[]) => of.map(({ start_ms, end_ms }): Interval => [start_ms, end_ms]);
  const isUnsure = ({ confidence }: PageTurn) => (confidence ?? 1) < UNSURE_BELOW;
  const not_understood = failed.filter(({ code }) => code === NOT_UNDERSTOOD).map(spanOf);
  return {
    said_ms: lengthOf(spansOf(turns.filter((turn) => !isUnsure(turn)))),
    not_understood_ms: lengthOf([...not_understood, ...spansOf(turns.filter(isUnsure))]),
  };
}

/** The window of a result. An expired lease counts until another worker has the window. */
export function heldWindow({ window }: Transcript, { number, token }: HeldWindow): Window | null {
  return window?.number === number && window.token === token ? window : null;
}

/** The transcript after a result that covers a window up to `to_ms`. `tail_at_ms`: when the rest was left over. */
export function consumed(
  state: Transcript,
  { from_ms, to_ms }: Window,
  until_ms: number,
  tail_at_ms: number,
): Transcript {
  const covered_audio = state.waiting.flatMap((one) => clip(spanOf(one), [from_ms, until_ms]));
  // Only what the window left is a tail: what follows it was in no window yet.
  const waiting = state.waiting.flatMap((one) => {
    const left = subtract([spanOf(one)], [[from_ms, until_ms]]);
    const later = subtract(left, [[from_ms, to_ms]]).map(([from, to]): WaitingAudio => {
      return { ...one, from_ms: from, to_ms: to };
    });
    const tail = left
      .flatMap((span) => clip(span, [until_ms, to_ms]))
      .map(([from, to]): WaitingAudio => ({ ...one, from_ms: from, to_ms: to, at_ms: tail_at_ms, tail: true }));
    return [...tail, ...later];
  });
  let { covered } = state;
  for (const span of covered_audio) covered = addInterval(covered, span, LIMITS.transcript_intervals_max);
  return { ...state, waiting, covered, window: null, retry: null };
}

/** Why the rest of a window was not heard. `rest_ms`: how long the engine asked to be left alone. */
export type StoppedHearing = { code: string; rest_ms?: number | undefined };

/** The transcript after a result that could not hear a part of its window. `before`: the transcript before it. */
export function unheard(
  state: Transcript,
  { before, failed }: { before: Transcript; failed: FailedAudio[] },
): Transcript {
  const parts = failed.flatMap((part) =>
    before.waiting.flatMap((one) =>
      clip(spanOf(one), spanOf(part)).map(([from_ms, to_ms]) => ({ from_ms, to_ms, code: part.code })),
    ),
  );
  return { ...state, covered: subtract(state.covered, parts.map(spanOf)), failed: withFailed(state.failed, parts) };
}

/** Makes the rest of a window wait for its next try. After the last try the audio behind it counts as untried. */
export function resting(
  state: Transcript,
  { window, stopped, now_ms }: { window: Window; stopped: StoppedHearing; now_ms: number },
): Transcript {
  const [first] = state.waiting;
  if (first === undefined) return state;
  const { from_ms } = first;
  const tries = isLastTry(window.tries, WINDOW_TRIES) ? 0 : 1;
  return { ...state, retry: { from_ms, tries, not_before_ms: now_ms + restAfter(tries, WINDOW_TRIES, stopped) } };
}

/** Joins neighbouring parts of one window that failed for the same reason. */
function withFailed(failed: readonly FailedAudio[], parts: readonly FailedAudio[]): FailedAudio[] {
  const added: FailedAudio[] = [];
  for (const one of parts) {
    const last = added.at(-1);
    if (last?.to_ms === one.from_ms && last.code === one.code) added[added.length - 1] = { ...last, to_ms: one.to_ms };
    else added.push(one);
  }
  return [...failed, ...added].slice(-LIMITS.transcript_failures_kept_max);
}

/** Queues the whole recording once more after its end, page by page. */
export function beginFinalPass(state: Transcript, now_ms: number): Transcript {
  const { end_ms, waiting, covered } = state;
  if (end_ms === null || waiting.length > 0) return state;
  if (state.final_pass === 'under_way') return { ...state, final_pass: 'done' };
  if (state.final_pass === 'done' || covered.length === 0) return state;
  const again = covered.map(
    ([from_ms, to_ms]): WaitingAudio => ({ from_ms, to_ms, at_ms: now_ms, again: 'final_pass' }),
  );
  return { ...state, waiting: again, covered: [], final_pass: 'under_way' };
}

/** How often a worker has claimed the audio that begins there. */
function triesAt({ window, retry }: Transcript, from_ms: number): number {
  const rested = retry?.from_ms === from_ms ? retry.tries : 0;
  return window?.from_ms === from_ms ? Math.max(window.tries, rested) : rested;
}

function failedRun(
  state: Transcript,
  { window, code, engine = null }: { window: Window; code: string; engine?: string | null | undefined },
  ended_at_ms: number,
): Effect {
  return noteRun(state, { window, status: 'failed', engine, failure: code, dropped: 0, ended_at_ms });
}

function givenUp(state: Transcript, { from_ms, to_ms, code }: FailedAudio): Transcript {
  const span: Interval = [from_ms, to_ms];
  return {
    ...state,
    window: null,
    retry: null,
    waiting: state.waiting.flatMap((one) =>
      subtract([spanOf(one)], [span]).map(([from_ms, to_ms]) => ({ ...one, from_ms, to_ms })),
    ),
    failed: withFailed(state.failed, [{ from_ms, to_ms, code }]),
  };
}

/**
 * A window is audio of one page, up to the configured length, without its gaps. It is due when it is full, when its
 * page or the recording ends there, or when nothing was added for a while.
 */
export function nextWindow({ waiting, covered, end_ms, retry, window_ms }: Transcript): NextWindow | null {
  const [first] = waiting;
  if (first === undefined) return null;
  const { from_ms } = first;
  const page_end_ms = (pageOf(from_ms) + 1) * LIMITS.transcript_page_ms;
  const longest_ms = first.again === 'final_pass' ? LIMITS.transcript_page_ms : window_ms;
  let [audio_ms, to_ms, at_ms] = [0, from_ms, 0];
  let is_full = false;
  let is_tail = true;
  for (const one of waiting) {
    const room_ms = longest_ms - audio_ms;
    const is_other = one.again !== first.again || covered.some(([from]) => from >= to_ms && from < one.from_ms);
    if (one.from_ms >= page_end_ms || is_other || room_ms <= 0) {
      is_full = true;
      break;
    }
    const take_ms = Math.min(one.to_ms, page_end_ms, one.from_ms + room_ms) - one.from_ms;
    [audio_ms, to_ms, at_ms] = [audio_ms + take_ms, one.from_ms + take_ms, Math.max(at_ms, one.at_ms)];
    if (one.tail !== true) is_tail = false;
    if (to_ms < one.to_ms) {
      is_full = true;
      break;
    }
  }
  const is_end = to_ms === page_end_ms || (end_ms !== null && to_ms >= end_ms);
  is_full ||= audio_ms >= longest_ms || first.again !== undefined;
  // What is due at once comes in the order in which it came.
  const until_ms = at_ms + (is_full || is_end ? 0 : LIMITS.window_quiet_ms);
  const rests_until_ms = retry?.from_ms === from_ms ? retry.not_before_ms : 0;
  const is_last_of_again =
    first.again !== undefined && !waiting.some((one) => one.again !== undefined && one.from_ms >= to_ms);
  return {
    from_ms,
    to_ms,
    until_ms: Math.max(until_ms, rests_until_ms),
    final: is_end || is_tail || is_last_of_again,
    pass: first.again ?? 'first',
  };
}

function changed(was: Transcript | null, next: Transcript, { self }: Facts): { next: Transcript; effects: Effect[] } {
  return { next, effects: dueEffects(was, next, self) };
}

/** Updates the partition's index: whether a window can be claimed, and from when. `was`: null to set it anew. */
export function dueEffects(was: Transcript | null, is: Transcript, member: string): Effect[] {
  const place = { ...TRANSCRIBING_INDEX, member };
  return dueIndexEffects(place, { ...(was !== null && { was_ms: dueAt(was) }), is_ms: dueAt(is) });
}

function dueAt(state: Transcript): number | null {
  const next = nextWindow(state);
  return next === null ? null : Math.max(next.until_ms, state.window?.until_ms ?? 0);
}

export function begin(stream: StreamAudio['stream']): Transcript {
  return {
    account_id: stream.account_id,
    workspace_id: stream.workspace_id,
    source_id: stream.source_id,
    captured_at_ms: stream.captured_at_ms,
    end_ms: stream.end_ms,
    revision: 0,
    turns: 0,
    waiting: [],
    covered: [],
    failed: [],
    longest_ms: 0,
    window_ms: LIMITS.window_ms_default,
    window: null,
    windows: 0,
    retry: null,
    published: null,
    final_pass: 'none',
    speakers: 0,
    labels: {},
    contacts: [],
    announcing: [],
    oldest: null,
    samples: {},
    contact_change: 0,
    pipeline_output: null,
    pipeline_outputs: [],
    vectors_claim: null,
  };
}
