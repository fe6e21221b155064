import { createHash } from 'node:crypto';
import type {
  Memory,
  MemoryKind,
  RoleSpeakers,
  Roles,
  Span,
  SpokenBy,
  Suggestion,
  SuggestionKind,
} from '../../../../actors/insights/library_state.js';

/** The input of an engine for a conversation. Everything that people said, or models wrote, is data to it. */
export type InsightInput = {
  /** By the clock. */
  started_at_ms: number;
  ended_at_ms: number;
  title: string | null;
  /** In the order in which they were said; numbers count from 1. */
  turns: InputTurn[];
  people: InputPerson[];
  /** Of this conversation, whatever became of them. `ref` names one in an answer. */
  suggestions: KnownSuggestion[];
  /** Known memories of the account; `own`: from this conversation. */
  memories: (Pick<Memory, 'kind' | 'text'> & { ref: number; own: boolean })[];
  /** The account's profile text. */
  about: string | null;
  languages: string[];
  vocabulary: string[];
  context: string[];
  suggestion_kinds: readonly SuggestionKind[];
  memory_kinds: readonly MemoryKind[];
  /** Of the pipeline: what its owner wants done, the only part of all this that may say so. */
  instructions: string;
  /** Of the account's profile, by which days begin and end; null where the recordings' own clocks count. */
  time_zone: string | null;
};

/** `owner`, `requester`: labels of people; null where nobody knows, or they speak elsewhere. */
export type KnownSuggestion = Pick<Suggestion, 'kind' | 'text' | 'status' | 'due_at_ms' | 'due_date'> & {
  ref: number;
  owner?: string | null;
  requester?: string | null;
  /** The places of its evidence in recordings. */
  spans?: readonly Pick<Span, 'stream_id' | 'start_ms' | 'end_ms'>[];
};

export type InputTurn = Span & {
  number: number;
  text: string;
  language: string | null;
  /** By the clock. */
  at_ms: number;
  /** The minutes by which the clocks there were ahead of UTC; 0 where nobody said so. */
  utc_offset_min: number;
  /** The label of a person of the input; null where nobody knows who spoke. */
  speaker: string | null;
};

/** `label`: as turns name them, in this input only. */
export type InputPerson = {
  label: string;
  name: string | null;
  contact_id: string | null;
  /** The account's owner. */
  is_self: boolean;
  who: SpokenBy;
};

/** The answer of an engine. Nothing of it is believed: checked_insights.ts says what must hold. */
export type RawInsights = {
  conversation: {
    title: string | null;
    /** The sentences of the summary, in their order. */
    sentences: RawSentence[];
    topics: string[];
  };
  suggestions: RawSuggestion[];
  memories: RawMemory[];
};

export type RawEvidence = { turn: number; quote: string };

/** Without evidence it is left out. */
export type RawSentence = { text: string; evidence?: RawEvidence[] | undefined };

export type RawSuggestion = {
  op: 'new' | 'revise' | 'withdraw';
  ref?: number | null | undefined;
  kind?: SuggestionKind | null | undefined;
  text?: string | null | undefined;
  /** ISO 8601. */
  due_at?: string | null | undefined;
  /** Where only a day was said, as `2026-12-07`; nothing beside `due_at`. */
  due_date?: string | null | undefined;
  /** Labels of people: who is to do it, and who asked for it. */
  owner?: string | null | undefined;
  requester?: string | null | undefined;
  evidence?: RawEvidence[] | undefined;
};

/** A `new` one with a `ref` takes the place of what it contradicts. */
export type RawMemory = {
  op: 'new' | 'revise' | 'withdraw';
  ref?: number | null | undefined;
  kind?: MemoryKind | null | undefined;
  text?: string | null | undefined;
  /** The label of a person whom it is about. */
  about?: string | null | undefined;
  evidence?: RawEvidence[] | undefined;
};

/** Names the turns of an input: one that somebody corrected or deleted meanwhile has another. */
export function digestOfTurns(turns: readonly InputTurn[]): string {
  const said = turns.map(({ stream_id, start_ms, end_ms, text }) => [stream_id, start_ms, end_ms, text]);
  return createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 16);
}

/** Whose labels an answer names. */
export function rolesOf(
  people: readonly InputPerson[],
  { owner, requester }: Pick<RawSuggestion, 'owner' | 'requester'>,
): { roles: Roles; role_speakers: RoleSpeakers } {
  const speakerCalled = (label: string | null | undefined) =>
    people.find((person) => person.label === label)?.who ?? null;
  return {
    roles: { owner_contact_id: contactCalled(people, owner), requester_contact_id: contactCalled(people, requester) },
    role_speakers: { owner: speakerCalled(owner), requester: speakerCalled(requester) },
  };
}

export function contactCalled(people: readonly InputPerson[], label: string | null | undefined): string | null {
  return people.find((person) => person.label === label)?.contact_id ?? null;
}
