import {
  LEFT_OUT_REASONS,
  type LeftOut,
  MEMORY_KINDS,
  SUGGESTION_KINDS,
} from '../../../../actors/insights/library_state.js';
import { isDate } from '../../../domain/dates.js';
import { LIMITS } from '../../../domain/limits.js';
import { type LocalClock, momentThere } from '../../../engine/time/time_zone.js';
import { EngineFailed } from '../../transcripts/engines/engine.js';
import type { InsightInput, RawEvidence, RawInsights, RawSuggestion } from './insight_input.js';

/**
 * The forms of answers of a chat model: as a JSON schema, which many servers hold the model to, and as they are read, which
 * passes over what a model gets wrong. What they say is checked elsewhere (checked_insights.ts).
 */

const object = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const listOf = (items: object) => ({ type: 'array', items });
const text = { type: 'string' };
const orNull = (type: string) => ({ type: [type, 'null'] });

const HAS_OFFSET = /(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\s*$/iu;
const ISO_DAY = /^\d{4}-\d{2}-\d{2}/u;
const HAS_TIME = /\d:\d{2}/u;

const EVIDENCE = listOf(object({ turn: { type: 'integer' }, quote: text }));
const SUMMARY = {
  title: orNull('string'),
  sentences: listOf(object({ text, evidence: EVIDENCE })),
  topics: listOf(text),
};
const itemOf = (own: Record<string, object>) => ({
  op: { type: 'string', enum: ['new', 'revise', 'withdraw'] },
  ref: orNull('integer'),
  text: orNull('string'),
  ...own,
  evidence: EVIDENCE,
});
const kindOf = (kinds: readonly string[]) => ({ type: ['string', 'null'], enum: [...kinds, null] });

export const SUMMARY_SCHEMA = object(SUMMARY);
export const INSIGHTS_SCHEMA = object({
  conversation: SUMMARY_SCHEMA,
  suggestions: listOf(
    object(
      itemOf({
        kind: kindOf(SUGGESTION_KINDS),
        due_at: orNull('string'),
        due_date: orNull('string'),
        owner: orNull('string'),
        requester: orNull('string'),
      }),
    ),
  ),
  memories: listOf(object(itemOf({ kind: kindOf(MEMORY_KINDS), about: orNull('string') }))),
});

export type RawSummary = RawInsights['conversation'];
/** An answer as far as it could be read, and how much of it was left out. */
export type ReadInsights = RawInsights & { left_out: LeftOut };

/** Throws EngineFailed for what has not this form at all, or says nothing. */
export function readSummary(said: unknown, { turns }: Pick<InsightInput, 'turns'>): RawSummary & { left_out: LeftOut } {
  if (!isObject(said)) throw bad('The answer is no summary.');
  const summary = summaryIn(said, turns.length);
  if (isEmpty(summary)) throw bad('The answer says nothing.');
  return summary;
}

/**
 * An item that names what is not in the input is left out. Throws EngineFailed for what has not this form at all: without a
 * conversation, with items of which none says what is to be done with it, or empty where it is of more than a part.
 */
export function readInsights(
  said: unknown,
  { turns, suggestions, memories, time_zone }: InsightInput,
  { is_part = false }: { is_part?: boolean } = {},
): ReadInsights {
  if (!isObject(said) || !isObject(said.conversation)) throw bad('The answer is no list of insights.');
  const { suggestions: suggested = [], memories: remembered = [] } = said;
  if (!isListOrNull(suggested) || !isListOrNull(remembered)) throw bad('The answer is no list of insights.');
  const items = [...list(suggested), ...list(remembered)];
  if (items.length > 0 && !items.some((item) => isObject(item) && operationIn(item) !== null))
    throw bad('No item of the answer has an op.');
  const { left_out, ...conversation } = summaryIn(said.conversation, turns.length);
  if (!is_part && items.length === 0 && isEmpty(conversation)) throw bad('The answer says nothing.');
  const told = itemsOf(suggested, {
    ...{ kinds: SUGGESTION_KINDS, known: suggestions, max: LIMITS.suggestions_per_result_max, turns },
  });
  const known = itemsOf(remembered, {
    ...{ kinds: MEMORY_KINDS, known: memories, max: LIMITS.memories_per_result_max, turns },
  });
  return {
    conversation,
    suggestions: told.read.map(({ item, ...read }) => ({
      ...read,
      ...dueIn(item, { time_zone, utc_offset_min: turns[0]?.utc_offset_min ?? 0 }),
      owner: labelIn(item.owner),
      requester: labelIn(item.requester),
    })),
    memories: known.read.map(({ item, ...read }) => ({ ...read, about: labelIn(item.about) })),
    left_out: [left_out, told.left_out, known.left_out].reduce(withLeftOut),
  };
}

/** Both together. */
export function withLeftOut(one: LeftOut, other: LeftOut): LeftOut {
  const sums = LEFT_OUT_REASONS.map((reason): [keyof LeftOut, number] => {
    return [reason, (one[reason] ?? 0) + (other[reason] ?? 0)];
  });
  return Object.fromEntries(sums.filter(([, count]) => count > 0));
}

function summaryIn(
  { title, sentences, topics }: Record<string, unknown>,
  turns_max: number,
): RawSummary & { left_out: LeftOut } {
  const said = list(sentences);
  const read = said.filter(isObject).flatMap(({ text: words, evidence }) => {
    const sentence = clipped(words, LIMITS.insight_text_chars_max);
    return sentence === null ? [] : [{ text: sentence, evidence: evidenceIn(evidence, turns_max) }];
  });
  const named = list(topics).flatMap((topic) => clipped(topic, LIMITS.insight_topic_chars_max) ?? []);
  const kept = {
    sentences: read.slice(0, LIMITS.summary_sentences_max),
    topics: named.slice(0, LIMITS.insight_topics_max),
  };
  return {
    title: clipped(title, LIMITS.conversation_title_chars_max),
    ...kept,
    left_out: {
      malformed: said.length - read.length + list(topics).length - named.length,
      too_many: read.length - kept.sentences.length + named.length - kept.topics.length,
    },
  };
}

function isEmpty({ title, sentences }: RawSummary): boolean {
  return title === null && sentences.length === 0;
}

type Reading<Kind> = {
  kinds: readonly Kind[];
  known: readonly { ref: number }[];
  max: number;
  turns: InsightInput['turns'];
};

function itemsOf<Kind extends string>(said: unknown, { kinds, known, max, turns }: Reading<Kind>) {
  const items = list(said);
  const read = items.filter(isObject).flatMap((item) => {
    const op = operationIn(item);
    const ref = numberIn(item.ref);
    const kind = kinds.find((one) => one === item.kind) ?? null;
    const is_named = ref !== null && known.some((one) => one.ref === ref);
    const words = clipped(item.text, LIMITS.insight_text_chars_max);
    const is_whole = op === 'new' ? kind !== null && words !== null && (is_named || item.ref == null) : is_named;
    if (op === null || !is_whole) return [];
    const evidence = evidenceIn(item.evidence, turns.length);
    return [{ item, op, ref: is_named ? ref : null, kind, text: words, evidence }];
  });
  const left_out = { malformed: items.length - read.length, too_many: Math.max(0, read.length - max) };
  return { read: read.slice(0, max), left_out };
}

function operationIn({ op }: Record<string, unknown>): RawSuggestion['op'] | null {
  return op === 'new' || op === 'revise' || op === 'withdraw' ? op : null;
}

/** Turns that are not among the first `turns_max` are left out. */
function evidenceIn(value: unknown, turns_max: number): RawEvidence[] {
  return list(value)
    .filter(isObject)
    .flatMap(({ turn, quote }) => {
      const number = numberIn(turn);
      const words_said = clipped(quote, LIMITS.insight_quote_chars_max);
      const is_there = number !== null && number >= 1 && number <= turns_max;
      return is_there && words_said !== null ? [{ turn: number, quote: words_said }] : [];
    })
    .slice(0, LIMITS.evidence_spans_max);
}

/** Some models write numbers as text, with what they number: "turn 2", "#2". */
function numberIn(value: unknown): number | null {
  const said = typeof value === 'string' ? /^[^\d.-]{0,20}(\d{1,9})[^\w.]{0,3}$/u.exec(value)?.[1] : undefined;
  const number = said === undefined ? value : Number(said);
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOrNull(value: unknown): boolean {
  return value === null || Array.isArray(value);
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** At most so long, up to the end of a word. */
function clipped(value: unknown, max: number): string | null {
  if (typeof value !== 'string' || value.trim() === '') return null;
  const plain = value.toWellFormed().trim();
  if (plain.length <= max) return plain;
  const cut = plain.slice(0, max - 1).toWellFormed();
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), max / 2)).trimEnd()}…`;
}

/** A time as other answers have it, or a day, whichever member it stands in. */
function dueIn(
  { due_at, due_date }: Record<string, unknown>,
  clock: LocalClock,
): { due_at: string | null; due_date: string | null } {
  const time = momentIn(due_at, clock);
  const day = [due_date, due_at].find((value): value is string => typeof value === 'string' && isDate(value)) ?? null;
  return { due_at: time, due_date: time === null ? day : null };
}

/** A time that names no offset is by the clocks of the place. */
function momentIn(value: unknown, clock: LocalClock): string | null {
  if (typeof value !== 'string' || isDate(value)) return null;
  const as_utc = HAS_OFFSET.test(value) ? [value] : [`${value.trim().replace(' ', 'T')}Z`, `${value} UTC`];
  const found_ms = as_utc.map((text) => Date.parse(text)).find(Number.isFinite);
  const [day] = ISO_DAY.exec(value) ?? [];
  if (found_ms === undefined || !HAS_TIME.test(value) || (day !== undefined && !isDate(day))) return null;
  const at_ms = HAS_OFFSET.test(value) ? found_ms : momentThere(found_ms, clock);
  return new Date(at_ms).toISOString();
}

function labelIn(value: unknown): string | null {
  return clipped(value, LIMITS.speaker_label_chars_max);
}

function bad(message: string): EngineFailed {
  return new EngineFailed('ENGINE_BAD_ANSWER', message);
}
