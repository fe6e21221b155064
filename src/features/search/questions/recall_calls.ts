import { meaningOf } from '../../../../actors/accounts/account_meaning.js';
import type { Principal } from '../../../access/principal.js';
import { Refused } from '../../../domain/refusals.js';
import { wordsIn } from '../../../domain/search/words.js';
import { Slices } from '../../../engine/time/slices.js';
import { isTimeZone } from '../../../engine/time/time_zone.js';
import type { FeatureServices } from '../../services.js';
import type { Embeddings } from '../index/embeddings.js';
import { evaluateInSlices } from '../index/evaluate.js';
import type { SearchKind } from '../index/hits.js';
import type { SearchIndexes } from '../index/search_index.js';
import { isQuestionStopWord } from '../index/stop_words.js';
import { type QuestionVector, TurnSimilarities } from '../index/turn_similarity.js';
import type { VectorRenewal } from '../index/vector_renewal.js';
import { type AskedTime, askedTime } from './asked_time.js';
import { HitReader } from './hit_reader.js';
import { invalidQuery } from './invalid_query.js';
import { contactsNamed } from './named_contacts.js';
import type { Period, PeriodQuery } from './period.js';
import { soughtBy } from './ranking/question_map.js';
import type { RecallAnswers } from './recall_answer.js';
import { questionOf, weightsOf } from './recall_question.js';
import { bestOf, type Recalled } from './recall_ranking.js';
import type { RecallAnswer, RecallItem } from './recall_shapes.js';
import { RecallViews } from './recall_views.js';
import { type OpenScope, openScope } from './search_scope.js';

/**
 * Finds what supports an answer to a question: passages, suggestions and notes, but not the answer. Rule K-015;
 * docs/choices.md, "Search and recall".
 */

export type RecallQuery = {
  query: string;
  from?: string | undefined;
  to?: string | undefined;
  workspace_id?: string | undefined;
  stream_id?: string | undefined;
  contact_ids?: string[] | undefined;
  limit: number;
  context_turns: number;
  time_zone: string;
  /** Whether the model at INSIGHTS_URL answers the question. */
  answer: boolean;
  pipeline_id?: string | undefined;
};

type RecallDeps = Pick<FeatureServices, 'actors' | 'clock' | 'runtime' | 'store'> & {
  search_indexes: SearchIndexes;
  /** Null without a model. */
  recall_answers: RecallAnswers | null;
  /** Null if recall uses words alone. */
  embeddings: Embeddings | null;
  vector_renewal: VectorRenewal;
};

const KINDS: SearchKind[] = ['turn', 'suggestion', 'note'];

/** Passages, suggestions and notes that fit a question best. BAD_REQUEST if it has neither words nor a time. */
export async function recall(services: RecallDeps, who: Principal, query: RecallQuery): Promise<RecallAnswer> {
  if (!isTimeZone(query.time_zone))
    throw new Refused(invalidQuery('time_zone', 'must be the name of a time zone, such as Europe/Vienna'));
  const asked = { now_ms: services.clock.now(), time_zone: query.time_zone };
  const time = askedTime(query.query, asked);
  const [opened, vector] = await Promise.all([
    openScope(services, who, { ...query, kinds: KINDS }),
    vectorOf(services, who, time.rest),
  ]);
  const { period } = time;
  const found = await recalled(services, who, { query, opened, asked, time, vector });
  const is_relaxed = period !== null && found.length === 0 && hasSubject(time.rest);
  const items = is_relaxed
    ? await recalled(services, who, { query, opened, asked, vector, time: { ...time, period: null, near: null } })
    : found;
  const answer =
    query.answer && items.length > 0 ? await services.recall_answers?.answer(who.account_id, query.query, items) : null;
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    items,
    cursor: null,
    period: period === null ? null : { from: iso(period.from_ms), to: iso(period.to_ms) },
    period_relaxed: is_relaxed,
    answer: answer ?? null,
  };
}

/** Whether a question without its time still has a subject. */
function hasSubject(rest: string): boolean {
  return wordsIn(rest).some(({ word }) => !isQuestionStopWord(word));
}

/**
 * The vector of a question with a subject; null without a model, for an account that wants none, or if the model gives none in
 * time.
 */
async function vectorOf(
  { embeddings }: RecallDeps,
  { account, account_id }: Principal,
  text: string,
): Promise<QuestionVector | null> {
  if (embeddings === null || !meaningOf(account).is_on || !hasSubject(text)) return null;
  const vector = await embeddings.ofQuestion(text, account_id);
  return vector === null ? null : soughtBy({ vector, model: embeddings.model });
}

async function recalled(
  services: RecallDeps,
  who: Principal,
  {
    query,
    opened,
    asked,
    time,
    vector,
  }: {
    query: RecallQuery;
    opened: OpenScope;
    asked: PeriodQuery;
    time: AskedTime;
    vector: QuestionVector | null;
  },
): Promise<RecallItem[]> {
  const { from, to } = query;
  const { period, rest, near, days } = time;
  const bounds: Period = {
    from_ms: Math.max(
      from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
      period?.from_ms ?? Number.NEGATIVE_INFINITY,
    ),
    to_ms: Math.min(
      to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
      period?.to_ms ?? Number.POSITIVE_INFINITY,
    ),
  };
  const is_bound = Number.isFinite(bounds.from_ms) || Number.isFinite(bounds.to_ms);
  if (wordsIn(rest).length === 0 && !is_bound) throw new Refused(invalidQuery('query', 'must have a word to look for'));
  const { scope, filters } = opened;
  const question = questionOf(rest, { indexes: scope.indexes, may_be_empty: is_bound, days, asked });
  const { words, wanted, about } = question;
  const reading = new HitReader(services, who, filters);
  const named = await contactsNamed(services, who, { words, reading });
  const slices = new Slices();
  const evaluated = await evaluateInSlices(
    // Without words: what was said then.
    words.length === 0 ? { ...scope, kinds: new Set(['turn']) } : scope,
    { words: wanted, match: 'any', exact: [], excluded: [], ...bounds, said_by: named.said_by, about },
    slices,
  );
  const { hits } = evaluated;
  const weights = weightsOf(question, evaluated.weights);
  const similarities = vector === null ? null : await TurnSimilarities.of(scope, vector, { bounds, slices });
  if (vector !== null && similarities !== null) services.vector_renewal.offer(similarities.others, vector.model);
  const { context_turns } = query;
  const found: Recalled = {
    scope,
    hits,
    weights,
    reading,
    question,
    named,
    now_ms: asked.now_ms,
    context_turns,
    near,
    similarities,
  };
  const candidates = await bestOf(who, found, slices);
  const views = new RecallViews(services, who, found);
  const items: RecallItem[] = [];
  const said_before: RecallItem[] = [];
  const shown = new Set<string>();
  for (let at = 0; at < candidates.length && items.length < query.limit; ) {
    const batch = candidates.slice(at, at + query.limit - items.length);
    at += batch.length;
    for (const item of await Promise.all(batch.map((one) => views.view(one)))) {
      if (item === null) continue;
      // The same speech once more, as a task or the like, comes behind what says something else.
      const is_said = item.kind !== 'note' && item.turns.length > 0;
      const is_known = about.size === 0 && is_said && item.turns.every(({ id }) => shown.has(id));
      (is_known ? said_before : items).push(item);
      // Turns around a note say where it was made.
      if (item.kind !== 'note') for (const { id } of item.turns) shown.add(id);
    }
  }
  return [...items, ...said_before].slice(0, query.limit);
}
