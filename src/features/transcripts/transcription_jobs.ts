import pMap from 'p-map';
import { defaultPipeline } from '../../../actors/insights/context.js';
import type { Context, Pipeline } from '../../../actors/insights/context_state.js';
import type { JobFailure } from '../../../actors/job.js';
import { isStored, type StoredChunk, type Stream, statusOf } from '../../../actors/recordings/stream_state.js';
import { windowFor } from '../../../actors/transcripts/transcript_publication.js';
import {
  type PublicationTally,
  speakerName,
  TRANSCRIBING_INDEX,
  type Transcript,
  type Window,
} from '../../../actors/transcripts/transcript_state.js';
import { NOT_HELD } from '../../../actors/transcripts/transcript_windows.js';
import { ownerOfPipeline, partitionOfId, pipelineId, pipelineOutputId } from '../../domain/ids.js';
import type { Interval } from '../../domain/intervals.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefusal, isRefused, orNull, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { newClaimToken } from '../../engine/jobs/claim_token.js';
import { type DueMembersDeps, NotNow } from '../../engine/jobs/due_members.js';
import { type JobName, JobQueue, type JobResult, NO_JOB } from '../../engine/jobs/job_queue.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { randomId } from '../../engine/random/random.js';
import type { Actors } from '../../engine/runtime/actors.js';
import { isFenceBroken } from '../../engine/runtime/runtime_refusals.js';
import type { Fence } from '../../engine/store/store.js';
import { ownerStatus } from '../recordings/workspace_status.js';
import type { SpeakerSample, TranscriptionResult, WindowChunk, WindowWork } from './transcription.js';
import type { TranscribedWindow } from './transcription_activity.js';
import { Voices } from './voices.js';

const PREVIOUS_TEXT_CHARS_MAX = 200; // ours: of what was said before a window

const CHUNKS_STEP = 200;
const SAMPLES_AT_ONCE = 4;
const LAYERS = ['transcripts.access'] as const;
const GONE = refuse(
  'GONE',
  'The recording, its source, its account or its transcripts layer is gone; drop the window.',
);

type TranscriptionJobsDeps = DueMembersDeps & {
  actors: Actors;
  metrics: Metrics;
  window_ms: number;
  final_pass: boolean;
  /** Whether this server transcribes, and not workers outside. */
  has_engine: boolean;
  /** Whether somebody looks into what is said. */
  insights: boolean;
};

/** `engine`: as debug answers name it; absent for workers outside. */
export type WindowResult = JobResult & { result: TranscriptionResult; engine?: string | undefined };

/** The account, workspace and source on which it depends whether a recording may be transcribed. */
type RecordingOwner = Pick<Transcript, 'account_id' | 'workspace_id' | 'source_id'>;

/** Windows of recordings that are to be transcribed; transcripts hold them, the id of one is its stream's or a pipeline output's. */
export class TranscriptionJobs extends JobQueue<WindowWork, WindowResult, PublicationTally, TranscribedWindow> {
  readonly #deps: TranscriptionJobsDeps;
  readonly #voices: Voices;

  constructor(deps: TranscriptionJobsDeps) {
    super(deps, {
      index: TRANSCRIBING_INDEX,
      prefix: '',
      per_account_max: LIMITS.windows_per_account_max,
      complaint: 'a recording could not be transcribed; it is tried again',
    });
    this.#deps = deps;
    this.#voices = new Voices(deps.actors, deps.now);
  }

  /** The next window of a stream, or null when none is due. Throws where nothing of it can be transcribed now. */
  async claimOf(id: string, lease_ms: number): Promise<WindowWork | null> {
    const { actors, now, window_ms } = this.#deps;
    const actor = actors.transcript(id);
    const transcript = await actor.view().catch(absent);
    if (transcript === null) return null;
    const stream_id = transcript.pipeline_output?.stream_id ?? id;
    const standing = await this.#standing(transcript, stream_id);
    if (standing === 'waits') throw new NotNow();
    if (standing === 'gone') {
      await actor.stop_transcribing().catch(absent);
      return null;
    }
    const { account_id } = transcript;
    if (!this.hasRoom(account_id, id)) return null;
    const token = newClaimToken();
    const run_id = randomId({ partition: partitionOfId(stream_id), now_ms: now() });
    const context = await actors.context(account_id).view();
    const pipeline = pipelineOfTranscript(transcript, context);
    if (pipeline === null) {
      await actor.stop_transcribing().catch(absent);
      return null;
    }
    const { number } = pipeline;
    const claimed = await actor.claim_window({ token, run_id, lease_ms, window_ms, pipeline: number }).catch(absent);
    if (claimed === null || claimed.window === null) return null;
    const { window, previous_text, speech_before } = claimed;
    const audio = await this.#audioOf(stream_id, window, claimed.transcript);
    if (audio.length === 0) {
      const { number } = window;
      await actor.window_failed({ number, token, code: 'AUDIO_GONE', retry: false }).catch(absent);
      return this.claimOf(id, lease_ms);
    }
    return this.handedOut({
      job: this.nameOf({ entity_id: id, number: window.number }),
      claim: token,
      run_id,
      tries: window.tries,
      lease_until_ms: window.until_ms,
      account_id,
      stream_id,
      from_ms: window.from_ms,
      to_ms: window.to_ms,
      final: window.final,
      audio,
      pipeline_id: pipelineId(account_id, number),
      ...heardAs(context, pipeline),
      previous_text: previous_text?.slice(-PREVIOUS_TEXT_CHARS_MAX) ?? null,
      speech_before,
      known_speakers: await this.#voices.known(claimed.transcript),
      samples: await this.#samplesOf(stream_id, claimed.transcript),
    });
  }

  /** The audio of a window that somebody has claimed. */
  async audioOf(job: string): Promise<{ stream_id: string; audio: WindowChunk[] }> {
    const of = this.parse(job);
    const transcript = of === null ? null : await this.#deps.actors.transcript(of.entity_id).view().catch(absent);
    if (of === null || transcript === null) throw new Refused(NO_JOB);
    const { window } = transcript;
    if (window === null || window.number !== of.number || this.#deps.now() >= window.until_ms)
      throw new Refused(NOT_HELD);
    const stream_id = transcript.pipeline_output?.stream_id ?? of.entity_id;
    return { stream_id, audio: await this.#audioOf(stream_id, window, transcript) };
  }

  protected messagesOf({ entity_id, number }: JobName, token: string) {
    const transcript = this.#deps.actors.transcript(entity_id);
    return {
      prolong: (lease_ms: number) => transcript.prolong_window({ number, token, lease_ms }),
      fail: (failure: JobFailure) => transcript.window_failed({ number, token, ...failure }),
      release: () => transcript.release_window({ number, token }),
    };
  }

  protected async publishJob(
    job: JobName,
    { claim: token, digest, result, engine }: WindowResult,
  ): Promise<PublicationTally> {
    const { entity_id: transcript_id, number } = job;
    const { actors, metrics, now } = this.#deps;
    const actor = actors.transcript(transcript_id);
    const transcript = (await orNull(actor.view(), 'NOT_FOUND')) ?? throwRefusal(NO_JOB);
    const { pipeline_output } = transcript;
    const stream_id = pipeline_output?.stream_id ?? transcript_id;
    const fences = await this.#fences(transcript, stream_id);
    const context = await actors.context(transcript.account_id).view();
    const pipeline = pipelineOfTranscript(transcript, context);
    if (pipeline === null) throw new Refused(GONE);
    // With more around them, speakers are told apart better.
    const { final_pass: wants_pass, diarize } = pipeline.transcription;
    const final_pass =
      wants_pass || (pipeline_output === null && (this.#deps.final_pass || (diarize && this.#deps.has_engine)));
    const insights = this.#deps.insights && (pipeline_output === null || pipeline.insights !== null);
    const { speakers = [], ...heard } = result;
    const said = { number, token, digest, ...heard, engine, final_pass, insights };
    // A result that will be refused, or is there, says nothing of voices; nor does one of another pipeline.
    const is_heard = pipeline_output === null && !isRefusal(windowFor(transcript, said));
    const recognized = is_heard ? await this.#voices.recognized(transcript, speakers, fences) : {};
    const published = await actor.publish({ ...said, recognized }, fences).catch(async (error: unknown) => {
      if (!isFenceBroken(error)) throw error;
      if ((await this.#standing(transcript, stream_id)) === 'gone') await actor.stop_transcribing().catch(absent);
      throw new Refused(GONE);
    });
    this.over(job);
    if (pipeline_output === null)
      await this.#voices.learn(transcript, { stream_id, speakers, numbers: published.speakers, fences });
    for (const { code } of result.failed ?? []) this.activity.failed(code);
    const lag_ms = published.came_at_ms === null ? null : Math.max(0, now() - published.came_at_ms);
    this.activity.published({ turns: published.tally.turns, lag_ms });
    metrics.turns_published.inc(published.tally.turns);
    if (lag_ms !== null) metrics.transcript_lag.observe(lag_ms / 1_000);
    return published.tally;
  }

  /** Where a recording's audio still waits for its text; null where none is to come. */
  async awaited(stream_id: string): Promise<Interval[] | null> {
    const { actors } = this.#deps;
    const stream = await actors.stream(stream_id).view().catch(absent);
    if (stream === null || (await this.#standing(stream, stream_id)) !== 'open') return null;
    const transcript = await actors.transcript(stream_id).view().catch(absent);
    if (transcript === null) return [];
    const { waiting, window } = transcript;
    return [...waiting, ...(window === null ? [] : [window])].map(({ from_ms, to_ms }): Interval => [from_ms, to_ms]);
  }

  /** By which engine and how the default pipeline hears a recording; null where it may not be transcribed now. */
  async heardBy(stream: Stream): Promise<Pick<WindowWork, 'engine' | 'language'> | null> {
    if ((await this.#standing(stream, stream.id)) !== 'open') return null;
    const context = await this.#deps.actors.context(stream.account_id).view();
    return heardAs(context, defaultPipeline(context));
  }

  /** Whether a worker holds a window that reaches into this part of a recording, for the default pipeline or another. */
  async isClaimed(stream_id: string, [from_ms, to_ms]: Interval): Promise<boolean> {
    const { actors, now } = this.#deps;
    const own = await actors.transcript(stream_id).view().catch(absent);
    if (own === null) return false;
    const ids = own.pipeline_outputs.map((number) => pipelineOutputId(stream_id, number));
    const outputs = await Promise.all(ids.map(async (id) => await actors.transcript(id).view().catch(absent)));
    return [own, ...outputs].some((transcript) => {
      if (transcript === null || (transcript.pipeline_output?.stream_id ?? stream_id) !== stream_id) return false;
      const { window } = transcript;
      return window !== null && window.until_ms > now() && window.from_ms < to_ms && window.to_ms > from_ms;
    });
  }

  /** Whether an account's recording may be transcribed. */
  async #standing(recording: RecordingOwner, stream_id: string): Promise<'open' | 'waits' | 'gone'> {
    const { actors } = this.#deps;
    const { status } = await ownerStatus(this.#deps, recording, LAYERS);
    if (status === 'account_closed' || status === 'layer_off') return 'waits';
    if (status !== 'open') return 'gone';
    const source = await orNull(actors.source(recording.source_id).view(), 'NOT_FOUND');
    if (source === null || source.status === 'deleted') return 'gone';
    return (await orNull(actors.stream(stream_id).view(), 'NOT_FOUND')) === null ? 'gone' : 'open';
  }

  /** The conditions for writing a result. */
  async #fences(transcript: Transcript, stream_id: string): Promise<Fence[]> {
    const owner = await ownerStatus(this.#deps, transcript, LAYERS);
    if (owner.status !== 'open') throw new Refused(GONE);
    return [owner.fence, { fence: 'open', id: transcript.source_id }, { fence: 'open', id: stream_id }];
  }

  async #audioOf(stream_id: string, window: Window, transcript: Transcript): Promise<WindowChunk[]> {
    const chunks = await this.#chunksIn(stream_id, window, transcript.longest_ms);
    return chunks.filter((chunk) => !isGivenUp(chunk, transcript));
  }

  /** Where an engine hears who the speakers are that it is to tell apart. */
  async #samplesOf(stream_id: string, { samples, longest_ms }: Transcript): Promise<SpeakerSample[]> {
    return pMap(
      Object.entries(samples),
      async ([number, [from_ms, to_ms]]) => {
        const audio = await this.#chunksIn(stream_id, { from_ms, to_ms }, longest_ms);
        return { speaker: speakerName(Number(number)), from_ms, to_ms, audio };
      },
      { concurrency: SAMPLES_AT_ONCE },
    );
  }

  /** Stored chunks that reach into a window. */
  async #chunksIn(
    stream_id: string,
    { from_ms, to_ms }: Pick<Window, 'from_ms' | 'to_ms'>,
    longest_ms: number,
  ): Promise<WindowChunk[]> {
    const { actors, now } = this.#deps;
    const chunks: WindowChunk[] = [];
    let after = { order: from_ms - longest_ms - 1, id: '' };
    for (;;) {
      const listed = await actors
        .stream(stream_id)
        .list_chunks({ range: { after, limit: CHUNKS_STEP } })
        .catch(absent);
      if (listed === null) return [];
      for (const chunk of listed.chunks) {
        if (!isStored(chunk) || statusOf(chunk, listed.stream, now()) !== 'processed') continue;
        if (chunk.source_end_ms > from_ms && chunk.source_start_ms < to_ms) chunks.push(windowChunk(chunk));
      }
      const last = listed.chunks.at(-1);
      if (last === undefined || listed.chunks.length < CHUNKS_STEP || last.source_start_ms >= to_ms) return chunks;
      after = { order: last.order, id: last.member };
    }
  }
}

/** Parts that could not be heard before are not asked for again beside waiting audio. */
function isGivenUp({ start_ms, end_ms }: WindowChunk, { failed, waiting }: Transcript): boolean {
  const waits = waiting.some(({ from_ms, to_ms }) => from_ms < end_ms && to_ms > start_ms);
  return !waits && failed.some(({ from_ms, to_ms }) => from_ms <= start_ms && to_ms >= end_ms);
}

export function windowChunk(chunk: StoredChunk): WindowChunk {
  const { chunk_id, place, codec, container, sample_rate_hz, channels, size_bytes, sha256, sequence } = chunk;
  return {
    chunk_id,
    place,
    start_ms: chunk.source_start_ms,
    end_ms: chunk.source_end_ms,
    codec,
    container,
    ...(sample_rate_hz === undefined ? {} : { sample_rate_hz }),
    ...(channels === undefined ? {} : { channels }),
    size_bytes,
    sha256,
    sequence,
  };
}

/** For `catch`: null for what is not there, or in other hands. */
function absent(error: unknown): null {
  if (isRefused(error, 'NOT_FOUND', 'CONFLICT')) return null;
  throw error;
}

/** Whose settings count: the default pipeline's, or in a transcript of another that one's; null where it is archived. */
function pipelineOfTranscript({ pipeline_output }: Transcript, context: Context): Pipeline | null {
  if (pipeline_output === null) return defaultPipeline(context);
  const number = ownerOfPipeline(pipeline_output.pipeline_id)?.number;
  return context.pipelines.find((one) => one.number === number && !one.archived) ?? null;
}

/** The languages and words of an account, for its transcription. */
function heardAs(
  context: Context,
  pipeline: Pipeline,
): Pick<WindowWork, 'engine' | 'diarize' | 'language' | 'vocabulary'> {
  const { languages, vocabulary } = context.profile;
  const of_profile = languages.length === 1 ? (languages[0] ?? null) : null;
  const { engine, diarize, language } = pipeline.transcription;
  return { engine, diarize, language: language ?? of_profile, vocabulary };
}
