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
 *   runs          by stream: what became of its jobs, the newest 50
 *   deleted_speech  by stream or source: people deleted speech of it, and what rests on that is still to be withdrawn
 *   blocks        by entry: what search knows of an item
 */
export type Library = {
  account_id: string;
  workspace_id: string;
  /** The sweep in progress, or null. */
  sweep: LibrarySweep | null;
  /** Absent while nothing was ever made of its turns. */
  insights?: Insights;
};

/** `drained`: nothing is left to remove, and its counts have not all come yet. */
export type LibrarySweep = {
  sweep_id: string;
  began_at_ms: number;
  cutoffs: Cutoffs;
  counts: Counts;
  drained: boolean;
};

export type Insights = {
  /** The last number given out, of each kind; 0 before the first. */
  given: Record<InsightKind, number>;
  /**
   * When something of it may be due for a worker, or a time before that: its order in INSIGHTS_INDEX. Null where nothing
   * waits. Who finds nothing there corrects it.
   */
  due_ms: number | null;
  /** The oldest clock, or a time before it: its order in the due list of retention. Null where there is nothing. */
  oldest_ms: number | null;
  /** The last publications, so that the same again gets the same answer. */
  published: StoredResult<InsightTally>[];
};

/** The index of a partition's libraries that have something for a worker, each at the time when it has. */
export const INSIGHTS_INDEX = { owner: 'content', index: 'insights' } as const;

/** `count`: rises with each deletion, so that none is lost that comes while a worker sees to those before. */
export type DeletedSpeech = { of: 'stream' | 'source'; id: string; count: number };

/** A part of a stream's timeline, in ms. */
export type Span = { stream_id: string; source_id: string; start_ms: number; end_ms: number };

/** Who spoke in a conversation: a speaker of a stream, or whom a person named; talk in ms. Names are looked up when read. */
export type StoredParticipant = { stream_id: string; speaker: number; contact_id?: string | null; talk_ms: number };

export type MadeBy = 'extractive' | 'model' | 'external';

type Item = {
  /** Null for what was made by the default pipeline. */
  pipeline_id: string | null;
  /** Of what the default pipeline made: the number of the one that was it then; absent for the first. */
  pipeline?: number;
  session_id: string | null;
  revision: number;
  /** The fields that a person set, which no run changes. */
  protected_fields: string[];
  created_at_ms: number;
  updated_at_ms: number;
};

/** When the first of what an item rests on was said, and in what language; absent where nobody noted it. */
export type HeardLanguage = { at_ms: number; language: string | null };

/** A sentence of a summary, and where it was said. */
export type SummarySentence = { text: string; evidence: Span[] };

/** The summary of one recording of several that a conversation lies on. Sentences are absent where its summary has some. */
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
  /** Of each recording, where it lies on several; `onRecording` reads them. */
  by_recording?: RecordingSummary[];
  participants: StoredParticipant[];
  language: string | null;
  made_by: MadeBy;
  run_id: string;
  /** Numbers of what came of it. */
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
  /** The number of the memory that took its place. */
  superseded_by: number | null;
  origin: 'pipeline' | 'manual';
  /** A person wrote or changed it: no run does. */
  protected: boolean;
  evidence: Span[];
  /** Keyed hashes of the stems of its text. */
  stems: string[];
  /** The stems of the text that a run found, where a person changed the text. */
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

/** A speaker of a stream, or whom a person named. */
export type SpokenBy = Omit<StoredParticipant, 'talk_ms'>;

/** Who `roles` are by what was heard; null where nobody knows. A speaker may be named later. */
export type RoleSpeakers = { owner: SpokenBy | null; requester: SpokenBy | null };

export type Suggestion = Item & {
  said?: HeardLanguage;
  /** Its conversation's number. */
  conversation: number;
  kind: SuggestionKind;
  text: string;
  status: SuggestionStatus;
  due_at_ms: number | null;
  /** Where only a day was named: that day, of which `due_at_ms` is noon. */
  due_date: string | null;
  roles: Roles;
  role_speakers: RoleSpeakers;
  /** Its group's number. */
  group: number | null;
  review: { verdict: FeedbackVerdict; note: string | null; at_ms: number } | null;
  feedback: Record<Rating, number>;
  evidence: Span[];
  /** Rises with every change that is seen. */
  state_version: number;
  /** A person has done something with it: no run withdraws it, nor changes its status. */
  touched: boolean;
  made_by: MadeBy;
  stems: string[];
  made_stems?: string[];
};

/** A revision of an item: the old values of the fields that the next revision changed, and who changed them. */
export type Revision = {
  revision: number;
  at_ms: number;
  by: 'pipeline' | 'person';
  changed_fields: string[];
  /** Whole item as this revision had it. */
  item: Conversation | Memory | Suggestion;
};

export type Feedback = { rating: Rating; comment: string | null; created_at_ms: number };

/** The kinds of items in a library, each with its type. */
export type Items = { conversation: Conversation; memory: Memory; suggestion: Suggestion };
export type ItemKind = keyof Items;

/** A part of a stream that a person does not want to see that item of again. */
export type Suppressed = {
  kind: ItemKind;
  number: number;
  pipeline_id: string | null;
  start_ms: number;
  end_ms: number;
  stems: string[];
};

/** Where a conversation lies on a stream. `looked_at_ms`: when a job was made of it last. */
export type ConversationSpan = {
  conversation: number;
  pipeline_id: string | null;
  start_ms: number;
  end_ms: number;
  looked_at_ms: number;
};

/**
 * A recording in which conversations are to be looked for. `heard`: rises with each message, so that what is said while
 * somebody looks is not lost.
 */
export type Unsettled = {
  stream_id: string;
  source_id: string;
  pipeline_id: string | null;
  from_ms: number;
  to_ms: number;
  heard: number;
  /** Existing conversations are made anew: they were corrected, or somebody asked for it. */
  again: boolean;
  /** The parts that are others now; `from_ms` and `to_ms` go to the ends of the conversations there. */
  changed: Interval[];
  /** When the first of it came. */
  since_ms: number;
  changed_at_ms: number;
  /** When to look for conversations. */
  due_ms: number;
};

/** A conversation that a worker is to look into. It has one job at a time, whose number is its own. */
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
  /** When it may be claimed: at its order. Absent where nobody has it. */
  claim?: { token: string; run_id: string; until_ms: number; pipeline?: number };
};

/** A conversation that was found in a recording. */
export type FoundConversation = Pick<InsightJob, 'parts' | 'session_id' | 'started_at_ms' | 'ended_at_ms'>;

/** The checked result of an engine: each text is supported by turns, which `evidence` names. */
export type CheckedInsights = {
  made_by: MadeBy;
  conversation: Pick<
    Conversation,
    'title' | 'summary' | 'sentences' | 'topics' | 'by_recording' | 'participants' | 'language'
  >;
  suggestions: SuggestionOp[];
  memories: MemoryOp[];
  /** The number of items and sentences that no turn supports. */
  unsupported: number;
  /** And of what was left out for another reason. */
  left_out?: LeftOut;
};

/**
 * Why a part of a result is left out before it is merged: it has not the form that was asked for, is of a kind that nobody
 * wants, names an address that nobody said, or is more than a result holds.
 */
export const LEFT_OUT_REASONS = ['malformed', 'unwanted', 'address', 'too_many'] as const;
export type LeftOut = Partial<Record<(typeof LEFT_OUT_REASONS)[number], number>>;

/** `id`s are numbers of items of the library. Members that are absent stay as they are. */
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
      /** Present where `due_at_ms` is. */
      due_date?: string | null;
      /** Whoever is null there stays. */
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

/** Counts of what a result created, changed and withdrew. */
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
