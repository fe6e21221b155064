import type { InsightKind } from '../../src/domain/ids.js';
import type { Interval } from '../../src/domain/intervals.js';
import type { Counts, Cutoffs } from '../../src/domain/retention.js';
import { SUGGESTION_STATUSES, type SuggestionStatus } from '../../src/domain/suggestions.js';
import type { StoredResult } from '../job.js';

/**
 * The library of an account in one workspace; its id follows from both (`libraryId`), and it lies with the account. Of a
 * retention sweep it is the account's part: it counts what the sweep removes there (docs/areas.md, "The retention
 * sweep"). And it holds what is made of turns: conversations, memories, suggestions, and the jobs that make them
 * (docs/areas.md, "Insights").
 *
 * Records. Ids are numbers in fixed width (`insightKey`) unless it is said otherwise; an `entry` is such a number behind
 * the first letter of its kind.
 *
 *   conversations, memories, suggestions   in the order of their last change, which is their clock for retention
 *   expired       by entry: when retention removed it
 *   revisions     by entry and revision: what the item was, the newest 50; all of an item have one order
 *   feedback      by suggestion and number, the newest 100; all of a suggestion have one order
 *   session_conversations, session_memories, session_suggestions   by session and number: what came of a recorder
 *                 session; all of a session have one order
 *   texts         of each active memory: its number, by the stems of its text
 *   suppressed    by stream: what people deleted or dismissed, and no run shall bring back
 *   spans         by stream: which conversations lie on its timeline, those too that are still to be made
 *   unsettled     by stream, and pipeline where it is not the default one: what was said since conversations were last
 *                 looked for there, and apart from that what was corrected; in the order of when to look
 *   jobs          by conversation, whose number is given before it is made; in the order of when one may be claimed
 *   groups        by group: numbers of the suggestions that are in it
 *   hand_refs     by the ref of one that a person added by hand: its number
 *   runs          by stream: what became of its jobs, the newest 50
 *   deleted_speech  by stream or source: people deleted speech of it, and what rests on that is still to be withdrawn
 *   blocks        by entry: what search knows of an item
 *   moving        by stream: what goes with it to another library (library_move_out.ts)
 *   moved         by entry: the library to which an item that was made here has moved
 *   arrived       by key: the number here of an item that was made in another library
 */
export type Library = {
  account_id: string;
  workspace_id: string;
  /** The sweep in progress, or null. */
  sweep: LibrarySweep | null;
  /** Absent until something was made of its turns. */
  insights?: Insights;
};

/** `drained`: nothing is left to remove, and some counts are still to come. */
export type LibrarySweep = {
  sweep_id: string;
  began_at_ms: number;
  cutoffs: Cutoffs;
  counts: Counts;
  drained: boolean;
};

export type Insights = {
  /** The last number of each kind; 0 before the first. */
  given: Record<InsightKind, number>;
  /**
   * When the library has work for a worker, or a time before that: its order in INSIGHTS_INDEX. Null without work. A
   * worker that finds none corrects it.
   */
  due_ms: number | null;
  /** The clock of the oldest item, or a time before it: its order in the due list of retention. Null without items. */
  oldest_ms: number | null;
  /** The last publications, so that a repetition gets the same answer. */
  published: StoredResult<InsightTally>[];
  /** The number of suggestions that people have added by hand; absent for none. */
  by_hand?: number;
};

/** The index of a partition's libraries that have work for a worker, by when it is due. */
export const INSIGHTS_INDEX = { owner: 'content', index: 'insights' } as const;

/** `count`: rises with each deletion, so that one that comes while a worker handles those before is not lost. */
export type DeletedSpeech = { of: 'stream' | 'source'; id: string; count: number };

/** A part of a stream's timeline, in ms. */
export type Span = { stream_id: string; source_id: string; start_ms: number; end_ms: number };

/**
 * A participant of a conversation: a speaker of a stream, or somebody whom a person named. Talk in ms. Names are looked
 * up when read.
 */
export type StoredParticipant = { stream_id: string; speaker: number; contact_id?: string | null; talk_ms: number };

export type MadeBy = 'extractive' | 'model' | 'external';

/** The collection of refs of suggestions that were added by hand. */
export const HAND_REFS = 'hand_refs';
/** The number of the suggestion that was added under a ref, and a digest of what was asked. */
export type HandRef = { number: number; digest: string };

type Item = {
  /** The id under which callers know it, if it was made in another library; absent otherwise. */
  kept_id?: string;
  /** Null for the default pipeline. */
  pipeline_id: string | null;
  /** The number of the pipeline that was the default then; absent for the first, and for other pipelines. */
  pipeline?: number;
  session_id: string | null;
  revision: number;
  /** The fields that a person set, which no run changes. */
  protected_fields: string[];
  created_at_ms: number;
  updated_at_ms: number;
};

/** When the first of an item's evidence was said, and in what language; absent if unknown. */
export type HeardLanguage = { at_ms: number; language: string | null };

/** A sentence of a summary, with its evidence. */
export type SummarySentence = { text: string; evidence: Span[] };

/**
 * The summary of one of several recordings of a conversation. Sentences are absent if the whole summary has some of
 * this recording.
 */
export type RecordingSummary = Pick<Conversation, 'title' | 'topics'> & {
  stream_id: string;
  sentences?: SummarySentence[];
};

export type Conversation = Item & {
  parts: Span[];
  started_at_ms: number;
  ended_at_ms: number;
  title: string | null;
  /** The texts of its sentences, joined (`summaryOf`). */
  summary: string | null;
  sentences: SummarySentence[];
  topics: string[];
  /** The summaries of its recordings, if it lies on several; `onRecording` reads them. */
  by_recording?: RecordingSummary[];
  participants: StoredParticipant[];
  language: string | null;
  made_by: MadeBy;
  run_id: string;
  /** The numbers of its items. */
  suggestions: number[];
  memories: number[];
};

export const MEMORY_KINDS = ['fact', 'preference', 'relationship', 'plan', 'other'] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

export type Memory = Item & {
  said?: HeardLanguage;
  text: string;
  kind: MemoryKind;
  /** About whom. */
  contact_id: string | null;
  state: 'active' | 'superseded';
  /** The number of the memory that replaced it. */
  superseded_by: number | null;
  /** The id of the memory that took its place, if either was made in another library. */
  kept_superseded_by?: string;
  origin: 'pipeline' | 'manual';
  /** Whether a person wrote or changed it, so that no run does. */
  protected: boolean;
  evidence: Span[];
  /** Keyed hashes of the stems of its text. */
  stems: string[];
  /** The stems of the text that a run found, if a person changed the text. */
  made_stems?: string[];
};

export const SUGGESTION_KINDS = ['task', 'follow_up', 'reminder', 'question', 'decision'] as const;
export type SuggestionKind = (typeof SUGGESTION_KINDS)[number];
export { SUGGESTION_STATUSES, type SuggestionStatus };
export const VERDICTS = ['supported', 'contradicted', 'unclear'] as const;
export type FeedbackVerdict = (typeof VERDICTS)[number];
export const RATINGS = ['helpful', 'not_helpful', 'wrong'] as const;
export type Rating = (typeof RATINGS)[number];

export type Roles = { owner_contact_id: string | null; requester_contact_id: string | null };

/** A speaker of a stream, or somebody whom a person named. */
export type SpokenBy = Omit<StoredParticipant, 'talk_ms'>;

/** The speakers behind `roles`; null if unknown. A speaker may be named later. */
export type RoleSpeakers = { owner: SpokenBy | null; requester: SpokenBy | null };

export type Suggestion = Item & {
  said?: HeardLanguage;
  /** The number of its conversation; null for one that a person added by hand. */
  conversation: number | null;
  /** The id of that conversation, if it was made in another library. */
  kept_conversation_id?: string;
  /** The name that whoever added it by hand gave it. */
  ref?: string;
  kind: SuggestionKind;
  text: string;
  status: SuggestionStatus;
  due_at_ms: number | null;
  /** The day, if only a day was named; `due_at_ms` is its noon. */
  due_date: string | null;
  roles: Roles;
  role_speakers: RoleSpeakers;
  /** The number of its group. */
  group: number | null;
  review: { verdict: FeedbackVerdict; note: string | null; at_ms: number } | null;
  feedback: Record<Rating, number>;
  evidence: Span[];
  /** Rises with every change that callers see. */
  state_version: number;
  /** Whether a person has changed it, so that no run withdraws it or changes its status. */
  touched: boolean;
  made_by: MadeBy | 'person';
  stems: string[];
  made_stems?: string[];
};

/** A revision of an item: the former values of the fields that the next revision changed, and who changed them. */
export type Revision = {
  revision: number;
  at_ms: number;
  by: 'pipeline' | 'person';
  changed_fields: string[];
  /** The whole item at this revision. */
  item: Conversation | Memory | Suggestion;
};

export type Feedback = { rating: Rating; comment: string | null; created_at_ms: number };

/** The kinds of items in a library, each with its type. */
export type Items = { conversation: Conversation; memory: Memory; suggestion: Suggestion };
export type ItemKind = keyof Items;

/** A span in which a person does not want to see that item again. */
export type Suppressed = {
  kind: ItemKind;
  number: number;
  pipeline_id: string | null;
  start_ms: number;
  end_ms: number;
  stems: string[];
};

/** The span of a conversation on a stream. `looked_at_ms`: when its last job was made. */
export type ConversationSpan = {
  conversation: number;
  pipeline_id: string | null;
  start_ms: number;
  end_ms: number;
  looked_at_ms: number;
};

/**
 * A range in which conversations are to be found. `heard`: rises with each message, so that speech that arrives
 * meanwhile is not lost.
 */
export type Unsettled = {
  stream_id: string;
  source_id: string;
  pipeline_id: string | null;
  from_ms: number;
  to_ms: number;
  heard: number;
  /** Existing conversations are made anew, after corrections or on request. */
  again: boolean;
  /** The changed parts; `from_ms` and `to_ms` reach to the ends of the conversations there. */
  changed: Interval[];
  /** When the first of the speech arrived. */
  since_ms: number;
  changed_at_ms: number;
  /** When to look for conversations. */
  due_ms: number;
};

/** A conversation that a worker is to analyse. It has one job at a time, under its own number. */
export type InsightJob = {
  number: number;
  conversation: number;
  pipeline_id: string | null;
  parts: Span[];
  session_id: string | null;
  started_at_ms: number;
  ended_at_ms: number;
  queued_at_ms: number;
  tries: number;
  /** The present claim; absent if nobody has one. It may be claimed from its order on. */
  claim?: { token: string; run_id: string; until_ms: number; pipeline?: number };
};

/** A conversation that was found in a recording. */
export type FoundConversation = Pick<InsightJob, 'parts' | 'session_id' | 'started_at_ms' | 'ended_at_ms'>;

/** The checked result of an engine: turns support each text, and `evidence` names them. */
export type CheckedInsights = {
  made_by: MadeBy;
  conversation: Pick<
    Conversation,
    'title' | 'summary' | 'sentences' | 'topics' | 'by_recording' | 'participants' | 'language'
  >;
  suggestions: SuggestionOp[];
  memories: MemoryOp[];
  /** The number of items and sentences without evidence. */
  unsupported: number;
  /** The numbers left out for other reasons. */
  left_out?: LeftOut;
};

/**
 * Why a part of a result is left out before it is merged: it has another form, a kind that nobody wants, an address
 * that nobody said, or exceeds the number that a result holds.
 */
export const LEFT_OUT_REASONS = ['malformed', 'unwanted', 'address', 'too_many'] as const;
export type LeftOut = Partial<Record<(typeof LEFT_OUT_REASONS)[number], number>>;

/** Each `id` is the number of an item of the library. Absent members stay as they are. */
export type SuggestionOp =
  | {
      op: 'new';
      kind: SuggestionKind;
      text: string;
      stems: string[];
      due_at_ms: number | null;
      due_date: string | null;
      roles: Roles;
      role_speakers: RoleSpeakers;
      evidence: Span[];
    }
  | {
      op: 'revise';
      number: number;
      kind?: SuggestionKind;
      text?: string;
      stems?: string[];
      due_at_ms?: number | null;
      /** Present if `due_at_ms` is. */
      due_date?: string | null;
      /** A role that is null stays as it is. */
      roles?: Roles;
      role_speakers?: RoleSpeakers;
      evidence: Span[];
    }
  | { op: 'withdraw'; number: number };

export type MemoryOp =
  | {
      op: 'new';
      kind: MemoryKind;
      text: string;
      stems: string[];
      contact_id: string | null;
      evidence: Span[];
      /** The memory that this one contradicts. */
      supersedes?: number;
    }
  | { op: 'revise'; number: number; kind?: MemoryKind; text?: string; stems?: string[]; evidence: Span[] }
  | { op: 'withdraw'; number: number };

/** The numbers of items that a result created, changed and withdrew. */
export type InsightTally = {
  suggestions: number;
  memories: number;
  withdrawn: number;
  dropped: { unsupported: number; duplicate: number; protected: number } & LeftOut;
};

/** The outcome of a job, for debugging. */
export type InsightRun = {
  run_id: string;
  pipeline_id: string | null;
  /** As in an item. */
  pipeline?: number;
  conversation: number;
  from_ms: number;
  to_ms: number;
  status: 'published' | 'failed';
  tries: number;
  engine: string | null;
  queued_at_ms: number;
  ended_at_ms: number;
  failure: string | null;
  dropped: InsightTally['dropped'];
};

/** An item's number as the id of its record: fixed width, so that ids sort as numbers. */
export function insightKey(number: number): string {
  return number.toString(16).padStart(8, '0');
}
