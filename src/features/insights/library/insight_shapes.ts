import { z } from 'zod';
import {
  MEMORY_KINDS,
  RATINGS,
  SUGGESTION_KINDS,
  SUGGESTION_STATUSES,
  VERDICTS,
} from '../../../../actors/insights/library_state.js';
import { count, date, id, moment } from '../../../access/response_schemas.js';

/** The shapes of conversations, memories and suggestions, and the limits of their fields. */

export { MEMORY_KINDS, RATINGS, SUGGESTION_KINDS, SUGGESTION_STATUSES, VERDICTS };

const span = {
  stream_id: id.describe('The recording.'),
  source_id: id.describe('The source of its stream.'),
  start_ms: count.describe("Where it begins, in ms of the stream's timeline."),
  end_ms: count.describe('Where it is over.'),
};
const changed = {
  created_at: moment,
  updated_at: moment.describe('When it last changed; retention counts from then.'),
};
const made = {
  workspace_id: id.describe('Where it was recorded.'),
  pipeline_id: id.describe('What made it.'),
  revision: z.int().min(1).describe('Rises with each change.'),
  protected_fields: z.array(z.string()).describe('What a person has set, and no pipeline changes.'),
};
const session_id = id.nullable().describe('The recorder session that it was recorded in; null for none.');
const ENGINES = ['extractive', 'model', 'external'] as const;
const MADE_BY_TEXT =
  'extractive: its texts are sentences that were said, shortened and joined; model: a language model wrote them; external: a worker.';
const made_by = z.enum(ENGINES).describe(MADE_BY_TEXT);

export const evidenceShape = z
  .strictObject({
    ...span,
    turn_ids: z.array(id).describe('The turns that are there now; none for whoever may not read turns.'),
    quote: z
      .string()
      .nullable()
      .describe(
        'What they say, shortened where it is long; null where nothing is left, and for whoever may not read turns.',
      ),
    speaker_name: z
      .string()
      .nullable()
      .describe('Who says the first of them; null where nobody knows, and for whoever may not read turns.'),
    state: z
      .enum(['available', 'expired', 'deleted'])
      .describe('expired: the workspace does not keep what was said; deleted: people have deleted it.'),
  })
  .meta({ id: 'Evidence' });
const evidence = z.array(evidenceShape).describe('Where it was said.');

export const participantShape = z.strictObject({
  contact_id: id
    .nullable()
    .describe(
      "Who it is, of the account's contacts; null where nobody knows, to others, and for whoever may not read turns.",
    ),
  speaker_name: z.string().nullable().describe("The contact's name; null for whoever may not read turns."),
  talk_ms: count.describe('For how long it spoke, in ms.'),
});

export const conversationShape = z
  .strictObject({
    id,
    ...made,
    session_id,
    parts: z.array(z.strictObject(span)).describe('Where it lies.'),
    started_at: moment.describe('When it began.'),
    ended_at: moment.describe('When it was over.'),
    title: z.string().nullable().describe('What it was about; null where nobody knows.'),
    summary: z.string().nullable().describe('What was said, in short; null where nobody knows.'),
    summary_sentences: z
      .array(z.strictObject({ text: z.string().describe('One sentence of it.'), evidence }))
      .describe('The sentences of `summary`, each with where it was said.'),
    topics: z.array(z.string()).describe('At most eight.'),
    participants: z.array(participantShape).describe('Whoever spoke most comes first.'),
    language: z.string().nullable().describe('A BCP 47 tag; null where it is not known.'),
    made_by,
    ...changed,
  })
  .meta({ id: 'Conversation' });

export const memoryShape = z
  .strictObject({
    id,
    ...made,
    session_id,
    text: z.string().describe('What is known.'),
    kind: z.enum(MEMORY_KINDS).describe('Of which sort it is.'),
    contact_id: id.nullable().describe('About whom it is; null for nobody known, and to others.'),
    state: z.enum(['active', 'superseded']).describe('superseded: another took its place.'),
    superseded_by: id.nullable().describe('The memory that took its place.'),
    origin: z.enum(['pipeline', 'manual']).describe('Who made it.'),
    protected: z.boolean().describe('Whether a person wrote or changed it, so that no pipeline does.'),
    evidence,
    ...changed,
  })
  .meta({ id: 'Memory' });

export const suggestionShape = z
  .strictObject({
    id,
    ...made,
    session_id,
    conversation_id: id.nullable().describe('The conversation that it came of; null for one that was added by hand.'),
    kind: z.enum(SUGGESTION_KINDS).describe('Of which sort it is.'),
    text: z.string().describe('What is to be done, or known; empty where people have deleted what was said.'),
    status: z
      .enum(SUGGESTION_STATUSES)
      .describe('withdrawn: a later run found nothing any more that bears it, or people have deleted that.'),
    due_at: moment
      .nullable()
      .describe('When it is due; null for no time. Where only a day was named: noon of it, as `due_date` says.'),
    due_date: date
      .nullable()
      .describe('The day on which it is due, where no time of it was named, such as 2026-12-07; null otherwise.'),
    roles: z
      .strictObject({
        owner_contact_id: id.nullable().describe('Who is to do it; null where nobody knows, and to others.'),
        requester_contact_id: id.nullable().describe('Who asked for it.'),
      })
      .describe('Whose matter it is.'),
    group_id: id.nullable().describe('What it is put together with; null for nothing.'),
    review: z
      .strictObject({
        verdict: z.enum(VERDICTS).describe('Whether what was said bears it.'),
        note: z.string().nullable().describe('What the person wrote beside; null for nothing.'),
        at: moment.describe('When.'),
      })
      .nullable()
      .describe('What a person found when checking it; null where nobody has.'),
    feedback: z
      .strictObject({
        helpful: count.describe('It was of use.'),
        not_helpful: count.describe('It was of none.'),
        wrong: count.describe('It was not true.'),
      })
      .describe('How often people said so.'),
    evidence,
    state_version: z.int().min(1).describe('Rises with every change that is seen; changes name it.'),
    made_by: z.enum([...ENGINES, 'person']).describe(`${MADE_BY_TEXT} person: somebody added it by hand.`),
    ...changed,
  })
  .meta({ id: 'Suggestion' });

export const feedbackShape = z
  .strictObject({
    id: z.string().describe('Tells it from others of the suggestion; no route takes it.'),
    rating: z.enum(RATINGS).describe('What the person thinks of it.'),
    comment: z.string().nullable().describe('What the person wrote beside; null for nothing.'),
    created_at: moment,
  })
  .meta({ id: 'Feedback' });

/** Counts of parts of a result that are left out before it is merged, by reason. */
export const leftOutShape = {
  malformed: count.describe('It had not the form that was asked for.'),
  unwanted: count.describe('It was of a kind that the pipeline excludes.'),
  address: count.describe('It named an address that nobody said.'),
  too_many: count.describe('It was more than there is room for.'),
};

/** The shape of a revision of one of these. */
export function revisionShape<Shape extends z.ZodType>(item: Shape) {
  return z.strictObject({
    revision: z.int().min(1).describe('Which one it is.'),
    replaced_at: moment.describe('When the next revision took its place.'),
    replaced_by: z.enum(['pipeline', 'person']).describe('Who made that.'),
    changed_fields: z.array(z.string()).describe('What the next one has changed.'),
    item: item.describe('All of it as it was.'),
  });
}

export type EvidenceView = z.infer<typeof evidenceShape>;
export type ParticipantView = z.infer<typeof participantShape>;
export type ConversationView = z.infer<typeof conversationShape>;
export type MemoryView = z.infer<typeof memoryShape>;
export type SuggestionView = z.infer<typeof suggestionShape>;
export type FeedbackView = z.infer<typeof feedbackShape>;
export type RevisionView<View> = z.infer<ReturnType<typeof revisionShape<z.ZodType<View>>>>;
