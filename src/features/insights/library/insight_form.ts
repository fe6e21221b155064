import { z } from 'zod';
import { MEMORY_KINDS, SUGGESTION_KINDS } from '../../../../actors/insights/library_state.js';
import { isDate } from '../../../domain/dates.js';
import { LIMITS } from '../../../domain/limits.js';

const text = (max: number) =>
  z
    .string('must be text')
    .max(max, `must be at most ${max} characters`)
    .refine((value) => value.isWellFormed(), 'must be well-formed text');
const label = text(LIMITS.speaker_label_chars_max).nullish();
const number = z.number('must be a number').int('must be a whole number').min(1, 'must be at least 1');
const operation = z.enum(['new', 'revise', 'withdraw'], 'must be new, revise or withdraw');
const evidence = z
  .array(
    z.strictObject({
      turn: number.describe('The number of a turn.'),
      quote: text(LIMITS.insight_quote_chars_max).describe('What of it is meant, word by word.'),
    }),
    'must be a list',
  )
  .max(LIMITS.evidence_spans_max, `must be at most ${LIMITS.evidence_spans_max}`)
  .optional()
  .describe('Which turns say so. Without any it does not exist.');
const sentence = z.strictObject({
  text: text(LIMITS.insight_text_chars_max).describe('A whole sentence.'),
  evidence,
});
const ref = number.nullish();
const item_text = text(LIMITS.insight_text_chars_max).nullish();

/** The form of an answer, of a built-in engine or of an outside worker. */
export const RAW_INSIGHTS = {
  conversation: z.strictObject(
    {
      title: text(LIMITS.conversation_title_chars_max).nullable().describe('What it is about, in a few words.'),
      sentences: z
        .array(sentence, 'must be a list')
        .max(LIMITS.summary_sentences_max, `must be at most ${LIMITS.summary_sentences_max}`)
        .default([])
        .describe('The summary: what was said and agreed, in order.'),
      topics: z
        .array(text(LIMITS.insight_topic_chars_max), 'must be a list')
        .max(LIMITS.insight_topics_max, `must be at most ${LIMITS.insight_topics_max}`)
        .describe('What it is about, one word or two each.'),
    },
    'must be an object',
  ),
  suggestions: z
    .array(
      z.strictObject({
        op: operation.describe('revise and withdraw concern one that there is.'),
        ref: ref.describe('Which one.'),
        kind: z.enum(SUGGESTION_KINDS, `must be one of ${SUGGESTION_KINDS.join(', ')}`).nullish(),
        text: item_text.describe('What is to be done, asked or remembered.'),
        due_at: z.iso
          .datetime({ offset: true, error: 'must be a time such as 2026-05-01T12:00:00Z' })
          .nullish()
          .describe('When, where somebody said it.'),
        due_date: z
          .string('must be a day such as 2026-05-01')
          .refine(isDate, 'must be a day such as 2026-05-01')
          .nullish()
          .describe('On which day, where somebody said no time of it. Beside `due_at` it counts for nothing.'),
        owner: label.describe('The label of the person who is to do it.'),
        requester: label.describe('The label of the person who asked for it.'),
        evidence,
      }),
      'must be a list',
    )
    .max(LIMITS.suggestions_per_result_max, `must be at most ${LIMITS.suggestions_per_result_max}`)
    .describe('What follows from the conversation.'),
  memories: z
    .array(
      z.strictObject({
        op: operation.describe('revise and withdraw concern one that came of this conversation.'),
        ref: ref.describe('Which one; of a new one, which one it contradicts.'),
        kind: z.enum(MEMORY_KINDS, `must be one of ${MEMORY_KINDS.join(', ')}`).nullish(),
        text: item_text.describe('What is worth knowing later.'),
        about: label.describe('The label of the person whom it is about.'),
        evidence,
      }),
      'must be a list',
    )
    .max(LIMITS.memories_per_result_max, `must be at most ${LIMITS.memories_per_result_max}`)
    .describe('What of it is worth knowing later.'),
};

export const FORM = z.strictObject(RAW_INSIGHTS, 'must be an object');

export type Refused = { path: string; message: string };

export function refusedOf({ issues: [issue] }: z.ZodError): Refused {
  const path = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys') {
    const name = String(issue.keys[0] ?? '').slice(0, 40);
    return { path: path === '' ? name : `${path}.${name}`, message: 'is not known' };
  }
  return { path, message: issue?.message ?? 'is wrong' };
}
