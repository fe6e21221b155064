import { z } from 'zod';
import { SUGGESTION_KINDS, SUGGESTION_STATUSES } from '../../../../actors/insights/library_state.js';
import { count, id, moment } from '../../../access/response_schemas.js';
import { turnShape } from '../../transcripts/turn_shape.js';

/** The shape of recall's answer. */

const recallItemShape = z
  .strictObject({
    kind: z
      .enum(['passage', 'suggestion', 'note'])
      .describe('passage: what was said; suggestion: what was made of it; note: what a person noted on a recording.'),
    score: z.number().describe('How well it fits; only scores of one query compare.'),
    stream_id: id.nullable().describe('The recording; null where nothing is left that it rests on.'),
    start_ms: count.nullable().describe("Where it begins, in ms of the stream's timeline."),
    end_ms: count.nullable().describe('Where it is over.'),
    started_at: moment.describe('When it was said or noted.'),
    suggestion: z
      .strictObject({
        id,
        kind: z.enum(SUGGESTION_KINDS).describe('Of which sort it is.'),
        text: z.string().describe('What is to be done, or known.'),
        status: z.enum(SUGGESTION_STATUSES).describe('Its status.'),
        due_at: moment.nullable().describe('When it is due; null for no time.'),
      })
      .nullable()
      .describe('Null for a passage and a note.'),
    note: z
      .strictObject({ id: id.describe('Of the signal.'), text: z.string().describe('What was noted.') })
      .nullable()
      .describe('Null for anything but a note.'),
    turns: z.array(turnShape).describe('What was said there, and before and after it.'),
    highlights: z
      .array(z.array(z.tuple([count, count])))
      .describe('For each of `turns`, where words of the query stand in it: from and to, in UTF-16 units.'),
    matched: z.array(z.string()).describe('Which words of the query it has, in some form.'),
    found_by: z
      .enum(['words', 'meaning', 'time'])
      .describe('words: it has words of the query. meaning: it means something like it. time: it was said then.'),
  })
  .meta({ id: 'RecallItem' });

const recalledAnswerShape = z
  .strictObject({
    sentences: z
      .array(
        z.strictObject({
          text: z.string().describe('One sentence, as the model words it.'),
          citations: z
            .array(
              z.strictObject({
                item: count.describe('The place of the item among `items`, from 0 on.'),
                turn_id: id.describe('The turn in it.'),
              }),
            )
            .describe('The turns that bear it.'),
        }),
      )
      .describe('The answer, sentence by sentence.'),
  })
  .describe('An answer of the model at INSIGHTS_URL, made of the items alone.')
  .meta({ id: 'RecalledAnswer' });

export const recallAnswerShape = z.strictObject({
  items: z.array(recallItemShape).describe('What fits best comes first.'),
  cursor: z.null().describe('Null: there is no other page.'),
  period: z
    .strictObject({ from: moment.describe('Its begin.'), to: moment.describe('Its end.') })
    .nullable()
    .describe('The time in which it was said by the query, to which the items are bound; null where it says none.'),
  period_relaxed: z.boolean().describe('True where nothing was found in that period: the items are from other times.'),
  answer: recalledAnswerShape
    .nullable()
    .describe(
      'Null where the request asks for none, there is no model, or nothing that it says is borne by the items.',
    ),
});

export type RecalledAnswer = z.infer<typeof recalledAnswerShape>;
export type RecallItem = z.infer<typeof recallItemShape>;
export type RecallAnswer = z.infer<typeof recallAnswerShape>;
