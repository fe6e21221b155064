import { MEMORY_KINDS, SUGGESTION_KINDS } from '../../../../actors/insights/library_state.js';
import { isDate } from '../../../domain/dates.js';
import { LIMITS } from '../../../domain/limits.js';
import { EngineFailed } from '../../transcripts/engines/engine.js';
import type { InsightInput, RawEvidence, RawInsights } from '../insight_input.js';

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

/** The JSON in an answer of `/chat/completions`. Throws EngineFailed. */
export function readCompletion(answer: string): unknown {
  const completion = parsed(answer);
  if (!isObject(completion)) throw bad('The answer is no chat completion.');
  const [choice] = Array.isArray(completion.choices) ? (completion.choices as unknown[]) : [];
  const message = isObject(choice) ? choice.message : null;
  const content = isObject(message) ? message.content : null;
  if (typeof content !== 'string') throw bad('The answer holds no text.');
  // Models put words before and after it, or a fence around it.
  const [from, to] = [content.indexOf('{'), content.lastIndexOf('}')];
  return parsed(from < 0 ? content : content.slice(from, to + 1));
}

export type RawSummary = RawInsights['conversation'];

/** Throws EngineFailed for what has not this form at all. */
export function readSummary(said: unknown, { turns }: Pick<InsightInput, 'turns'>): RawSummary {
  if (!isObject(said)) throw bad('The answer is no summary.');
  const { title, sentences, topics } = said;
  return {
    title: clipped(title, LIMITS.conversation_title_chars_max),
    sentences: list(sentences)
      .filter(isObject)
      .flatMap(({ text: words, evidence }) => {
        const sentence = clipped(words, LIMITS.insight_text_chars_max);
        return sentence === null ? [] : [{ text: sentence, evidence: evidenceIn(evidence, turns.length) }];
      })
      .slice(0, LIMITS.summary_sentences_max),
    topics: list(topics)
      .flatMap((topic) => clipped(topic, LIMITS.insight_topic_chars_max) ?? [])
      .slice(0, LIMITS.insight_topics_max),
  };
}

/** An item that names what is not in the input is left out. Throws EngineFailed for what has not this form at all. */
export function readInsights(said: unknown, { turns, suggestions, memories }: InsightInput): RawInsights {
  if (!isObject(said)) throw bad('The answer is no list of insights.');
  const itemsOf = <Kind extends string>(items: unknown, { kinds, known, max }: Reading<Kind>) =>
    list(items)
      .filter(isObject)
      .flatMap((item) => {
        const { op, ref } = item;
        const kind = kinds.find((one) => one === item.kind) ?? null;
        const is_named = typeof ref === 'number' && known.some((one) => one.ref === ref);
        const words = clipped(item.text, LIMITS.insight_text_chars_max);
        const is_whole = op === 'new' ? kind !== null && words !== null && (is_named || ref == null) : is_named;
        if (!is_whole || (op !== 'new' && op !== 'revise' && op !== 'withdraw')) return [];
        const evidence = evidenceIn(item.evidence, turns.length);
        return [
          {
            item,
            read: {
              op,
              ref: is_named ? ref : null,
              kind,
              text: words,
              evidence,
            } as const,
          },
        ];
      })
      .slice(0, max);
  return {
    conversation: readSummary(said.conversation ?? {}, { turns }),
    suggestions: itemsOf(said.suggestions, {
      kinds: SUGGESTION_KINDS,
      known: suggestions,
      max: LIMITS.suggestions_per_result_max,
    }).map(({ item, read }) => ({
      ...read,
      ...dueIn(item),
      owner: labelIn(item.owner),
      requester: labelIn(item.requester),
    })),
    memories: itemsOf(said.memories, {
      kinds: MEMORY_KINDS,
      known: memories,
      max: LIMITS.memories_per_result_max,
    }).map(({ item, read }) => ({ ...read, about: labelIn(item.about) })),
  };
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

/** Some models write numbers as text. */
function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

type Reading<Kind> = { kinds: readonly Kind[]; known: readonly { ref: number }[]; max: number };

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new EngineFailed('ENGINE_NOT_JSON', 'The answer is not JSON.');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
function dueIn({ due_at, due_date }: Record<string, unknown>): { due_at: string | null; due_date: string | null } {
  const time = momentIn(due_at);
  const day = [due_date, due_at].find((value): value is string => typeof value === 'string' && isDate(value)) ?? null;
  return { due_at: time, due_date: time === null ? day : null };
}

function momentIn(value: unknown): string | null {
  if (typeof value !== 'string' || isDate(value)) return null;
  const at_ms = Date.parse(value);
  return Number.isFinite(at_ms) ? new Date(at_ms).toISOString() : null;
}

function labelIn(value: unknown): string | null {
  return clipped(value, LIMITS.speaker_label_chars_max);
}

function bad(message: string): EngineFailed {
  return new EngineFailed('ENGINE_BAD_ANSWER', message);
}
