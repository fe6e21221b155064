import { z } from 'zod';
import { speakerNumber } from '../../../actors/transcripts/transcript_state.js';
import { trimmedLines } from '../../access/request_schemas.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { LIMITS } from '../../domain/limits.js';

/** A turn, and the name of a speaker, in requests and answers. */

const confidence = z
  .number()
  .min(0)
  .max(1)
  .nullable()
  .describe('How sure the engine was, 0 to 1; null where it did not say.');

export const turnShape = z
  .strictObject({
    id,
    stream_id: id.describe('The recording that it was said in.'),
    source_id: id.describe('The source of its stream.'),
    workspace_id: id.describe('Where it was recorded.'),
    start_ms: count.describe("When it begins, in ms on the stream's timeline."),
    end_ms: count.describe('When it is over, in ms.'),
    started_at: moment.describe('The same as a time.'),
    ended_at: moment.describe('The end as a time.'),
    text: z.string().describe('What was said: as it was heard, or as a person corrected it.'),
    heard_text: z.string().optional().describe('What was heard, where a person corrected the text.'),
    language: z.string().nullable().describe('A BCP 47 tag; null where it is not known.'),
    speaker: z.string().nullable().describe("Which of the stream's speakers said it, such as S1; null for nobody."),
    contact_id: id
      .nullable()
      .describe(
        "Who that is, of the account's contacts; null where nobody knows, and to other members of the workspace.",
      ),
    speaker_name: z.string().nullable().describe("The contact's name."),
    attribution: z
      .enum(['none', 'detected', 'recognized', 'manual'])
      .describe('detected: a speaker was told apart; recognized: by the voice; manual: a person said so.'),
    confidence,
    audio: z.enum(['available', 'expired', 'none']).describe('Whether its audio is still there.'),
    pipeline_id: id.describe('What made it.'),
    published_at: moment.describe('When it was transcribed; retention counts from then.'),
    words: z
      .array(
        z.strictObject({
          text: z.string().describe('The word, as it was heard.'),
          start_ms: count.describe('When it begins, in ms of the timeline.'),
          end_ms: count.describe('When it is over.'),
          confidence,
        }),
      )
      .optional()
      .describe('Each word with its time, where that was asked for and is known.'),
  })
  .meta({ id: 'Turn' });

export type TurnView = z.infer<typeof turnShape>;

const SPEAKER_RULE = 'must be the name of a speaker, such as S1';

/** A speaker's name in a request; its number from here on. */
export const speakerName = z
  .string(SPEAKER_RULE)
  .refine((text) => speakerNumber(text) !== null, SPEAKER_RULE)
  .transform((text) => speakerNumber(text) as number)
  .meta({ pattern: '^S[1-9][0-9]{0,3}$' });

export const correctedText = trimmedLines(LIMITS.corrected_text_chars_max).nullable();

/** Checks that a correction names who said the turn in one way of two, its text, or both. */
export function checkCorrection(
  { contact_id, speaker, text }: { contact_id?: unknown; speaker?: unknown; text?: unknown },
  context: z.RefinementCtx,
): void {
  const wrong = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  if (contact_id !== undefined && speaker !== undefined) wrong(['speaker'], 'must not be combined with contact_id');
  if (contact_id === undefined && speaker === undefined && text === undefined)
    wrong([], 'must have contact_id, speaker or text');
}
