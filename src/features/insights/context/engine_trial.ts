import { z } from 'zod';
import type { ClaimedJob } from '../../../../actors/insights/library_jobs.js';
import type { CheckedInsights, Conversation, Suggestion } from '../../../../actors/insights/library_state.js';
import { count, date, id, moment, momentOrNull } from '../../../access/response_schemas.js';
import { insightId, libraryId } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { orNull, Refused, refuse } from '../../../domain/refusals.js';
import type { FeatureServices } from '../../services.js';
import { EngineFailed } from '../../transcripts/engines/engine.js';
import { readableTranscriptOf } from '../../transcripts/transcript_pages.js';
import type { InsightEngine } from '../engines/insight_engine.js';
import type { InsightInput } from '../engines/insight_input.js';
import { checkedInsights } from '../library/checked_insights.js';
import { EvidenceReader } from '../library/evidence_reader.js';
import type { InsightServices } from '../library/insight_services.js';
import { suggestionShape } from '../library/insight_shapes.js';
import { inputOfJob } from '../library/job_input.js';

/** Trials of an engine on a recording, for staff to compare; their results are not published. */

const resultShape = z.strictObject({
  title: z.string().nullable().describe('What it calls the conversation.'),
  sentences: z.array(z.string()).describe('Its summary.'),
  suggestions: z
    .array(
      z.strictObject({
        kind: suggestionShape.shape.kind,
        text: z.string().describe('What is to be done, or known.'),
        due_at: moment.nullable().describe('When it is due.'),
        due_date: date.nullable().describe('On which day, where no time was named.'),
      }),
    )
    .describe('What follows from it.'),
});

export const trialShape = z.strictObject({
  conversation_id: id.describe('The conversation.'),
  present: resultShape.describe('As it is published.'),
  tried: resultShape.nullable().describe('What the engine makes of it, as far as turns bear it; null where it failed.'),
  failure: z.string().nullable().describe('The code of why it failed.'),
  dropped: count.describe('How much of its answer was left out.'),
});

type Trial = z.infer<typeof trialShape>;
type TrialResult = z.infer<typeof resultShape>;
type TrialServices = Pick<FeatureServices, 'actors' | 'keys' | 'runtime'> & { insights: InsightServices };

const NO_STREAM = refuse('NOT_FOUND', 'There is no such stream.');

/** Runs an engine on the first conversations of a recording. NOT_FOUND if there is no such recording. */
export async function tryEngine(services: TrialServices, stream_id: string, name: string): Promise<Trial[]> {
  const engine = engineCalled(services.insights, name);
  const stream = await orNull(services.actors.stream(stream_id).view(), 'NOT_FOUND');
  if (stream === null) throw new Refused(NO_STREAM);
  const { account_id, workspace_id } = stream;
  const library_id = libraryId(account_id, workspace_id);
  const library = services.actors.library(library_id);
  const { conversations } = await library.conversations_on({ stream_id });
  const numbers = conversations.slice(0, LIMITS.trial_conversations_max);
  const { items } = await library.items_of({ kind: 'conversation', numbers });
  const trials: Trial[] = [];
  for (const { number, item } of items as { number: number; item: Conversation }[]) {
    const found = await inputOfJob(services, jobOf(number, item), { account_id, workspace_id });
    if (found === null) continue;
    // It begins anew: an engine that is told what there is says what changes.
    const input = { ...found.input, title: null, suggestions: [], memories: [] };
    const conversation_id = insightId(library_id, 'conversation', number);
    const present = await presentOf(services, library_id, item);
    trials.push({ conversation_id, present, ...(await answerOf(services, engine, input)) });
  }
  return trials;
}

function engineCalled({ engines }: InsightServices, name: string): InsightEngine {
  const engine = engines.get(name);
  if (engine !== undefined) return engine;
  const message = `must be one of ${[...engines.keys()].join(', ') || 'none: this server has no engine of its own'}`;
  throw new Refused(refuse('BAD_REQUEST', `engine ${message}.`, { details: [{ path: 'engine', message }] }));
}

function jobOf(number: number, item: Conversation): ClaimedJob {
  const { parts, session_id, started_at_ms, ended_at_ms } = item;
  const span = { parts, session_id, started_at_ms, ended_at_ms };
  return {
    number,
    conversation: number,
    pipeline_id: null,
    ...span,
    queued_at_ms: 0,
    tries: 0,
    conversation_item: item,
  };
}

async function answerOf(
  { keys }: TrialServices,
  engine: InsightEngine,
  input: InsightInput,
): Promise<Pick<Trial, 'tried' | 'failure' | 'dropped'>> {
  try {
    const { left_out, ...raw } = await engine.think(input, AbortSignal.timeout(LIMITS.engine_ms_max));
    const checked = checkedInsights(raw, { input, keys, made_by: engine.made_by, left_out });
    if (!checked.ok) return { tried: null, failure: 'ENGINE_BAD_ANSWER', dropped: 0 };
    const { unsupported, left_out: others = {} } = checked.insights;
    const dropped = Object.values(others).reduce((sum, one) => sum + one, unsupported);
    return { tried: triedOf(checked.insights), failure: null, dropped };
  } catch (error) {
    if (!(error instanceof EngineFailed)) throw error;
    return { tried: null, failure: error.failure.code, dropped: 0 };
  }
}

function triedOf({ conversation, suggestions }: CheckedInsights): TrialResult {
  return {
    title: conversation.title,
    sentences: conversation.sentences.map(({ text }) => text),
    suggestions: suggestions.flatMap((op) => (op.op === 'new' ? [suggestionOf(op)] : [])),
  };
}

/** The published result, without items that rest on deleted speech. */
async function presentOf(services: TrialServices, library_id: string, item: Conversation): Promise<TrialResult> {
  const { actors } = services;
  const reader = new EvidenceReader(services, async (stream_id, of) => {
    const stream = await actors.stream(stream_id).view();
    return readableTranscriptOf(services, stream, of);
  });
  const numbers = item.suggestions.slice(0, LIMITS.items_read_max);
  const { items } = await actors.library(library_id).items_of({ kind: 'suggestion', numbers });
  const suggestions: TrialResult['suggestions'] = [];
  for (const one of items as { item: Suggestion }[]) {
    const standing = await reader.standing('suggestion', one.item);
    if (standing === null || standing.item.status === 'withdrawn' || standing.item.status === 'dismissed') continue;
    suggestions.push(suggestionOf(standing.item));
  }
  const conversation = (await reader.standing('conversation', item))?.item;
  const sentences = (conversation?.sentences ?? []).map(({ text }) => text);
  return { title: conversation?.title ?? null, sentences, suggestions };
}

function suggestionOf({
  kind,
  text,
  due_at_ms,
  due_date,
}: Pick<Suggestion, 'kind' | 'text' | 'due_at_ms' | 'due_date'>): TrialResult['suggestions'][number] {
  return { kind, text, due_at: momentOrNull(due_at_ms), due_date };
}
