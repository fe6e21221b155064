import { libraryId } from '../../src/domain/ids.js';
import type { Interval } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Effect, given } from '../actor.js';
import type { StoredResult } from '../job.js';

/**
 * The transcript of a stream; its id is the stream's. What was said lies in pages of ten minutes (transcript_page.ts);
 * here stands how far it has come. All times are ms of the stream's timeline unless their name says otherwise.
 */
export type Transcript = {
  account_id: string;
  workspace_id: string;
  source_id: string;
  captured_at_ms: number;
  /** Where the stream ends, once that is recorded. */
  end_ms: number | null;
  /** Rises with every change of what is read. */
  revision: number;
  /** Turns that can be read. */
  turns: number;
  /** Audio that is to be transcribed, in the order of the timeline. */
  waiting: WaitingAudio[];
  /** Audio that was transcribed, whatever was heard in it. */
  covered: Interval[];
  /** The newest of what can not be transcribed. */
  failed: FailedAudio[];
  /** The longest piece of audio: where a search for what reaches into a window must begin. */
  longest_ms: number;
  /** The length of windows, as the server was configured that wrote last. */
  window_ms: number;
  window: Window | null;
  /** Windows ever handed out; the last one's number. */
  windows: number;
  /** Of the audio that comes next: how often a worker had it, and until when it rests. */
  retry: Retry | null;
  /** The last publication, so that the same again gets the same answer. */
  published: StoredResult<PublicationTally> | null;
  /** Whether the recording was run as a whole after its end. */
  final_pass: 'none' | 'under_way' | 'done';
  /** Speaker numbers given out. */
  speakers: number;
  /** Numbers of labels that mean the same in all of the stream. */
  labels: Record<string, number>;
  /** Where each of the first speakers talks. */
  samples: SpeakerSamples;
  /** Contacts that its turns may show. */
  contacts: string[];
  /** The last change of a contact that it was told of: contacts count them. */
  contact_change: number;
  /** Changes that events are still to report, turn by turn. */
  announcing: Announcement[];
  /** Whose it is, where it is a pipeline output; null for a stream's. */
  pipeline_output: PipelineOutputKey | null;
  /** Of a stream's: numbers of pipelines that have one of their own. */
  pipeline_outputs: number[];
  /** The page with the oldest publication, or where that was until a later run replaced it; null when there is no turn. */
  oldest: { page: number; published_at_ms: number } | null;
  /** The claim of who makes vectors of its pages; null where nobody does. */
  vectors_claim: VectorsClaim | null;
};

/** `token`: empty while it waits for its next try. */
export type VectorsClaim = { token: string; until_ms: number; tries: number };

/** A stretch of the recording in which each of the first speakers talks, by their numbers. Engines know them by it. */
export type SpeakerSamples = Readonly<Record<string, Interval>>;

export type PipelineOutputKey = { stream_id: string; pipeline_id: string };

/** `at_ms`: when it came, by the clock. `again`: it was transcribed before. `tail`: a window left it over. */
export type WaitingAudio = {
  from_ms: number;
  to_ms: number;
  at_ms: number;
  again?: 'reprocess' | 'final_pass';
  tail?: true;
};

export type FailedAudio = { from_ms: number; to_ms: number; code: string };

/** The code of speech of which an engine has no text that can be trusted. */
export const NOT_UNDERSTOOD = 'NOT_UNDERSTOOD';

export type Retry = { from_ms: number; tries: number; not_before_ms: number };

/** A window in a worker's hands, until the time is over. */
export type Window = {
  number: number;
  from_ms: number;
  to_ms: number;
  final: boolean;
  pass: 'first' | 'reprocess' | 'final_pass';
  run_id: string;
  token: string;
  until_ms: number;
  tries: number;
  /** The number of the pipeline that wants it; absent for the first. */
  pipeline?: number;
};

/** Counts of a result: turns that it made, that it replaced, and that corrections changed or suppressed. */
export type PublicationTally = { turns: number; replaced: number; protected: number; suppressed: number };

/**
 * The scope of a result's labels. `window`: nothing outside of it. `stream`: those of `known_speakers` and of earlier results.
 * `numbered`: S1 and so on are the stream's speakers, all others mean nothing outside.
 */
export type SpeakerScope = 'window' | 'stream' | 'numbered';

/** One turn as a worker heard it. */
export type PublishedTurn = {
  start_ms: number;
  end_ms: number;
  text: string;
  speaker?: string | undefined;
  confidence?: number | undefined;
  language?: string | undefined;
  words?: Word[] | undefined;
};

export type Word = [text: string, start_ms: number, end_ms: number, confidence: number | null];

/** Turns of these speakers, or that show this contact by themselves, have changed; up to `page` and `serial` events say so. */
export type Announcement = {
  field: 'contact_id' | 'speaker';
  speakers: number[];
  contact_id: string | null;
  page: number;
  serial: number;
};

/** Collection `speakers`, in blocks by number: what is known of them. One that nothing is known of is not there. */
export type Speaker = {
  contact_id: string | null;
  by: 'recognized' | 'manual';
  /** It is the same as that speaker, whose own entry lists it in `merged`. */
  into?: number;
  merged?: number[];
};

export type SpeakerBlock = Record<string, Speaker>;

const NO_TRANSCRIPT = refuse('NOT_FOUND', 'There is no transcript of this stream.');
export const NO_TURN = refuse('NOT_FOUND', 'There is no such turn.');

export const ofTranscript = given((state: Transcript | null) => state ?? NO_TRANSCRIPT);

/** The index of a partition's transcripts that have a window for a worker, each at the time when it has. */
export const TRANSCRIBING_INDEX = { owner: 'content', index: 'transcribing' } as const;

/** The index of an account's transcripts with turns; those of one source, private workspace or contact have one of their own. */
export const TRANSCRIPTS = 'transcripts';
export function transcriptIndexOf(id: string): string {
  return `${TRANSCRIPTS}:${id}`;
}

export function speakerBlockOf(speaker: number): string {
  return String(Math.floor(speaker / LIMITS.speakers_per_block));
}

export function putBlock(id: string, value: SpeakerBlock): Effect {
  return { effect: 'put_record', collection: 'speakers', id, value, order: Number(id) };
}

export function speakerName(speaker: number): string {
  return `S${speaker}`;
}

/** The number behind a speaker's name, or null for what is none. */
export function speakerNumber(name: string): number | null {
  const [, digits] = /^S([1-9]\d{0,3})$/.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** Tells the library that turns are new or changed, so that conversations are looked for there again. */
export function tellLibrary(
  { account_id, workspace_id, source_id, pipeline_output }: Transcript,
  heard: { stream_id: string; from_ms: number; to_ms: number; is_new: boolean; is_deleted?: true },
): Effect {
  const message = { type: 'heard', account_id, workspace_id, source_id, ...heard, ...pipeline_output };
  return { effect: 'notify', to: { kind: 'library', id: libraryId(account_id, workspace_id) }, message };
}
