import type { Logger } from 'pino';
import { pageKey } from '../../../actors/transcripts/transcript_page.js';
import { TELLING_INDEX } from '../../../actors/transcripts/transcript_state.js';
import type { ToldSpan } from '../../../actors/transcripts/transcript_telling.js';
import type { Interval } from '../../domain/intervals.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, nullIfPermanent, orNull } from '../../domain/refusals.js';
import { newClaimToken } from '../../engine/jobs/claim_token.js';
import type { DueMembersDeps } from '../../engine/jobs/due_members.js';
import { DueWorker } from '../../engine/jobs/due_worker.js';
import { LEASE_MS, prolonging } from '../../engine/jobs/leases.js';
import { NoPlace } from '../../engine/pools/shared_pool.js';
import { ProcessFailed } from '../../engine/process/framed_process.js';
import type { Actors, EntityOf } from '../../engine/runtime/actors.js';
import type { SpeechProcess } from '../../engine/speech/speech_process.js';
import type { Fence } from '../../engine/store/store.js';
import { type JoinedAudioServices, joinedStream } from '../recordings/joined_audio.js';

/** Other processes' jobs are found after this time at the latest. */
const EVERY_MS = 10_000;
/** The process that listens takes one at a time: the second is prepared meanwhile. */
const AT_ONCE = 2;
/** A file may be longer than its device announced. */
const LONGER_S = 5;

type TellingDeps = DueMembersDeps &
  JoinedAudioServices & {
    actors: Actors;
    /** Listens to whole recordings; others than that for windows, which would wait for it. */
    voices: SpeechProcess;
    log: Pick<Logger, 'error' | 'warn'>;
  };
type Job = { account_id: string; source_id: string; is_undoing: boolean; count: number };
type FailedTelling = { code: string; retry: boolean };

/** A recording whose speakers cannot be told apart. */
class NotTold extends Error {
  override name = 'NotTold';
  readonly failure: FailedTelling;

  constructor(failure: FailedTelling) {
    super(failure.code);
    this.failure = failure;
  }
}

/** Has work offered to it, at once or by when the answer waits for it. */
export type TellingWorker = Pick<DueWorker, 'offer' | 'offerAndWait'>;

/** Tells speakers apart where a person has asked for it, and takes them away where that was undone. */
export function tellingWorker(deps: TellingDeps): DueWorker {
  const work = {
    queue: TELLING_INDEX,
    every_ms: EVERY_MS,
    at_once: AT_ONCE,
    complaint: 'speakers could not be told apart; that is tried again',
  };
  return DueWorker.of(deps, work, ({ name }, signal) => workOn(deps, name, signal));
}

/** False if the job could not be claimed, or not be done. */
async function workOn(deps: TellingDeps, stream_id: string, signal: AbortSignal): Promise<boolean> {
  const transcript = deps.actors.transcript(stream_id);
  const token = newClaimToken();
  const claimed = await transcript.claim_telling({ token, lease_ms: LEASE_MS }).catch(nullIfPermanent);
  if (claimed === null || claimed.job === null) return false;
  const { job } = claimed;
  const held = { stream_id, job, token, signal };
  try {
    await prolonging(
      () => transcript.prolong_telling({ token, lease_ms: LEASE_MS }),
      async () => {
        const spans = job.is_undoing ? [] : await toldSpans(deps, held);
        await nameAll(transcript, held, spans).catch(nullIfPermanent);
      },
    );
    return true;
  } catch (error) {
    const failure = failureOf(error);
    if (failure === null) throw error;
    if (signal.aborted) await transcript.release_telling({ token }).catch(nullIfPermanent);
    else {
      deps.log.warn(
        { transcript: stream_id, code: failure.code },
        'the speakers of a recording could not be told apart',
      );
      await transcript.fail_telling({ token, ...failure }).catch(nullIfPermanent);
    }
    return false;
  }
}

type HeldJob = { stream_id: string; job: Job; token: string; signal: AbortSignal };

/** Listens to the whole recording. Throws NotTold, ProcessFailed and refusals. */
async function toldSpans(deps: TellingDeps, { stream_id, job, signal }: HeldJob): Promise<ToldSpan[]> {
  const stream = await orNull(deps.actors.stream(stream_id).view(), 'NOT_FOUND');
  if (stream === null) throw new NotTold({ code: 'AUDIO_GONE', retry: false });
  const call = { owner: job.account_id, signal };
  const file = await joinedStream(deps, stream, call);
  const length_ms = file.spans.reduce((sum, [from_ms, to_ms]) => sum + to_ms - from_ms, 0);
  const length_s_max = Math.min(length_ms, LIMITS.told_audio_ms_max) / 1_000 + LONGER_S;
  const audio = (await file.open(undefined)) as AsyncIterable<Uint8Array>;
  const told = await deps.voices.tell(audio, { count: job.count, length_s_max }, call);
  if (told === null) throw new NotTold({ code: 'FEWER_VOICES', retry: false });
  return told.flatMap(({ start_s, end_s, speaker }) =>
    onTimeline(file.spans, [start_s * 1_000, end_s * 1_000]).map(([from_ms, to_ms]): ToldSpan => {
      return [from_ms, to_ms, speaker];
    }),
  );
}

/** Where a part of a file lies on the timeline whose spans the file holds, one behind the other. */
export function onTimeline(spans: readonly Interval[], [from, to]: Interval): Interval[] {
  let file_ms = 0;
  return spans.flatMap(([span_from, span_to]): Interval[] => {
    const begins = file_ms;
    file_ms += span_to - span_from;
    const [start, end] = [Math.max(from, begins), Math.min(to, file_ms)];
    return start < end ? [[Math.round(span_from + start - begins), Math.round(span_from + end - begins)]] : [];
  });
}

/** Names the turns page by page. A job that goes on after a crash names the same again, which changes nothing. */
async function nameAll(
  transcript: EntityOf<'transcript'>,
  { stream_id, job: { source_id }, token }: HeldJob,
  spans: readonly ToldSpan[],
): Promise<void> {
  const fences = [source_id, stream_id].map((id): Fence => ({ fence: 'open', id }));
  let after: { order: number; id: string } | undefined;
  for (;;) {
    const { pages } = await transcript.pages({ range: { limit: 1, ...(after !== undefined && { after }) } });
    const [page] = pages;
    if (page === undefined) break;
    const [first, ends_ms] = [page.turns[0], Math.max(0, ...page.turns.map(({ end_ms }) => end_ms))];
    if (first !== undefined) {
      const inside = spans.filter(([from_ms, to_ms]) => to_ms > first.start_ms && from_ms < ends_ms);
      await transcript.name_speakers({ token, page: page.number, spans: inside }, fences);
    }
    after = { order: page.number, id: pageKey(page.number) };
  }
  await transcript.finish_telling({ token }, fences);
}

/** Null for what is no failure of this job. */
function failureOf(error: unknown): FailedTelling | null {
  if (error instanceof NotTold) return error.failure;
  if (error instanceof ProcessFailed)
    return error.code === 'NOT_DECODED'
      ? { code: 'UNSUPPORTED_AUDIO', retry: false }
      : { code: 'ENGINE_ERROR', retry: true };
  if (error instanceof NoPlace) return { code: 'ENGINE_ERROR', retry: true };
  if (!isRefused(error)) return null;
  if (error.code === 'UNAVAILABLE') return { code: 'ENGINE_ERROR', retry: true };
  return { code: error.code === 'CONFLICT' ? 'UNSUPPORTED_AUDIO' : 'AUDIO_GONE', retry: false };
}
