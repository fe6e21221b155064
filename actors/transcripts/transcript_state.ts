import { libraryId } from '../../src/domain/ids.js';
import type { Interval } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Effect, given } from '../actor.js';
import type { StoredResult } from '../job.js';

/**
 * The progress of a stream's transcript; its id is the stream's. The turns lie in pages of ten minutes
 * (transcript_page.ts). All times are ms of the stream's timeline unless their names say otherwise.
 */
export type Transcript = {
  account_id: string;
  workspace_id: string;
  source_id: string;
  captured_at_ms: number;
  /** Where the stream ends, once that is recorded. */
  end_ms: number | null;
  /** Rises with every change that callers see. */
  revision: number;
  /** The number of turns that can be read. */
  turns: number;
  /** Audio that is to be transcribed, in the order of the timeline. */
  waiting: WaitingAudio[];
  /** Audio that was transcribed, with or without speech. */
  covered: Interval[];
  /** The newest audio that cannot be transcribed. */
  failed: FailedAudio[];
  /**
   * The length of the longest piece of audio: a search for pieces that reach into a window begins that much earlier.
   */
  longest_ms: number;
  /** The length of windows by the settings of the server that wrote last. */
  window_ms: number;
  window: Window | null;
  /** The number of the last window. */
  windows: number;
  /** The tries of the next audio, and until when it rests. */
  retry: Retry | null;
  /** The last publication, so that a repetition gets the same answer. */
  published: StoredResult<PublicationTally> | null;
  /** Whether the recording was transcribed as a whole after its end. */
  final_pass: 'none' | 'under_way' | 'done';
  /** The number of speakers. */
  speakers: number;
  /** The numbers of labels with the same meaning in the whole stream. */
  labels: Record<string, number>;
  /** Samples of the first speakers. */
  samples: SpeakerSamples;
  /** Contacts that its turns may show. */
  contacts: string[];
  /** The count of the account's last change of contacts that arrived here. */
  contact_change: number;
  /** Changes whose events are still to be recorded, turn by turn. */
  announcing: Announcement[];
  /** The account and pipeline of a pipeline output; null for a stream's own transcript. */
  pipeline_output: PipelineOutputKey | null;
  /** The numbers of pipelines with an output for this stream. */
  pipeline_outputs: number[];
  /** The page with the oldest publication, or its place until a later run replaced it; null without turns. */
  oldest: { page: number; published_at_ms: number } | null;
  /** The claim of the worker that makes vectors of its pages; null without one. */
  vectors_claim: VectorsClaim | null;
  /** Speakers that are or were told apart by their number; absent where nobody has asked. */
  telling?: Telling;
};

/**
 * Speakers `first` and those behind it, `count` in all, told apart by their number. `token`: empty while nobody works on it.
 * `code`: why it failed.
 */
export type Telling = {
  status: 'telling' | 'told' | 'undoing' | 'undone' | 'failed';
  count: number;
  first: number;
  code: string | null;
  token: string;
  until_ms: number;
  tries: number;
};

/** `token`: empty while it waits for its next try. */
export type VectorsClaim = { token: string; until_ms: number; tries: number };

/** A span in which each of the first speakers talks, by number. Engines recognise speakers by these samples. */
export type SpeakerSamples = Readonly<Record<string, Interval>>;

export type PipelineOutputKey = { stream_id: string; pipeline_id: string };

/** `at_ms`: when it arrived. `again`: it was transcribed before. `tail`: a window left it over. */
export type WaitingAudio = {
  from_ms: number;
  to_ms: number;
  at_ms: number;
  again?: 'reprocess' | 'final_pass';
  tail?: true;
};

export type FailedAudio = { from_ms: number; to_ms: number; code: string };

/** The code of speech for which an engine has no trustworthy text. */
export const NOT_UNDERSTOOD = 'NOT_UNDERSTOOD';

export type Retry = { from_ms: number; tries: number; not_before_ms: number };

/** A window that a worker has claimed until its lease ends. */
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
  /** The number of its pipeline; absent for the first. */
  pipeline?: number;
};

/** The numbers of turns that a result made and replaced, and that corrections changed or suppressed. */
export type PublicationTally = { turns: number; replaced: number; protected: number; suppressed: number };

/**
 * The scope of a result's labels. `window`: this window only. `stream`: those of `known_speakers` and of earlier
 * results. `numbered`: S1 and so on are the stream's speakers; others mean nothing outside the window.
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

/**
 * A change of the turns of these speakers, or of turns that show this contact. Events are recorded up to `page` and
 * `serial`.
 */
export type Announcement = {
  field: 'contact_id' | 'speaker';
  speakers: number[];
  contact_id: string | null;
  page: number;
  serial: number;
};

/** Collection `speakers`, in blocks by number. A speaker of whom nothing is known has no entry. */
export type Speaker = {
  contact_id: string | null;
  by: 'recognized' | 'manual';
  /** Merged into that speaker, whose own entry lists it in `merged`. */
  into?: number;
  merged?: number[];
};

export type SpeakerBlock = Record<string, Speaker>;

const NO_TRANSCRIPT = refuse('NOT_FOUND', 'There is no transcript of this stream.');
export const NO_TURN = refuse('NOT_FOUND', 'There is no such turn.');

export const ofTranscript = given((state: Transcript | null) => state ?? NO_TRANSCRIPT);

/** The index of a partition's transcripts that have a window for a worker, by when it is due. */
export const TRANSCRIBING_INDEX = { owner: 'content', index: 'transcribing' } as const;

/** The index of a partition's transcripts whose speakers are to be told apart, by when that is due. */
export const TELLING_INDEX = { owner: 'telling', index: 'due' } as const;

/** The index of an account's transcripts with turns. Each source, private workspace and contact has one of its own. */
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

/** The number in a speaker's name; null for any other text. */
export function speakerNumber(name: string): number | null {
  const [, digits] = /^S([1-9]\d{0,3})$/.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** Tells the library of new or changed turns, so that conversations are found there again. */
export function tellLibrary(
  { account_id, workspace_id, source_id, pipeline_output }: Transcript,
  heard: { stream_id: string; from_ms: number; to_ms: number; is_new: boolean; is_deleted?: true },
): Effect {
  const message = { type: 'heard', account_id, workspace_id, source_id, ...heard, ...pipeline_output };
  return { effect: 'notify', to: { kind: 'library', id: libraryId(account_id, workspace_id) }, message };
}
