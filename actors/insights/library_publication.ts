import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import { type Decision, messagesOf, type Read, type RecordQuery } from '../actor.js';
import { tallyBefore } from '../job.js';
import { keptPipeline } from './context_state.js';
import { itemIn, itemRecord, suppressedOf, textKey } from './item_records.js';
import { conversationEvent, memoryEvent, takeAway } from './library_edits.js';
import { Writing } from './library_items.js';
import { endJob, heldJob, jobRecord, NOT_HELD, ofLibrary, runsOf } from './library_jobs.js';
import { type KnownInsights, type MergedInsights, mergeInsights } from './library_merge.js';
import type {
  CheckedInsights,
  Conversation,
  HeardLanguage,
  InsightJob,
  InsightTally,
  Library,
  Memory,
  Span,
  Suggestion,
  Suppressed,
} from './library_state.js';

const PUBLICATIONS_KEPT_MAX = 8; // ours: of one library, so that a repeat is known

/** A worker's result for a job that it has claimed. `digest`: of the whole result; a repetition has the same. */
type InsightPublication = {
  job: number;
  token: string;
  digest: string;
  engine: string | null;
  /** Why the pipeline's engine made no result, if another engine made this one: the code of its failure. */
  failure?: string | undefined;
  result: CheckedInsights;
};

const TOO_MUCH = refuse(
  'BAD_REQUEST',
  `A result has at most ${LIMITS.suggestions_per_result_max} suggestions and ${LIMITS.memories_per_result_max} memories.`,
);
/** The names of the fields of a conversation that a run sets, as callers see them. */
const CONVERSATION_FIELDS = {
  title: 'title',
  summary: 'summary',
  summary_sentences: 'sentences',
  topics: 'topics',
  participants: 'participants',
  language: 'language',
  parts: 'parts',
  started_at: 'started_at_ms',
  ended_at: 'ended_at_ms',
  session_id: 'session_id',
  made_by: 'made_by',
} as const satisfies Record<string, keyof Conversation>;

type Told = Pick<InsightPublication, 'token' | 'digest'>;

export const publicationMessages = messagesOf<Library>()({
  /** Returns the tally of a published result to a caller that repeats it. */
  published: {
    reads: true,
    decide: ofLibrary((state, told: Told): { reply: { tally: InsightTally } | Refusal } => {
      const before = tallyBefore(state.insights?.published ?? [], told) ?? NOT_HELD;
      return { reply: isRefusal(before) ? before : { tally: before } };
    }),
  },

  /** Publishes a result in one commit, merged with what people have changed. */
  publish: {
    records: ({ job, result }: InsightPublication) => [
      jobRecord(job),
      itemRecord('conversation', job),
      ...result.suggestions.flatMap((op) => (op.op === 'new' ? [] : [itemRecord('suggestion', op.number)])),
      ...result.memories.flatMap((op) => {
        const number = op.op === 'new' ? op.supersedes : op.number;
        return number === undefined ? [] : [itemRecord('memory', number)];
      }),
    ],
    further: ({ job: number, token, result }: InsightPublication, _state, read: Read): RecordQuery[] => {
      const job = heldJob({ job: number, token }, read);
      if (job === null) return [];
      const conversation = itemIn(read, 'conversation', number);
      const texts = textsOf(job, result);
      const equal = texts.flatMap((id) => read.record<number>('texts', id) ?? []);
      return [
        ...(conversation?.suggestions ?? []).map((one) => itemRecord('suggestion', one)),
        ...[...(conversation?.memories ?? []), ...equal].map((one) => itemRecord('memory', one)),
        ...texts.map((id) => ({ collection: 'texts', id })),
        ...suppressedOf(streamsOf(job, result)),
        ...runsOf(job),
      ];
    },
    decide: ofLibrary((state, publication: InsightPublication, facts): Decision<Library, { tally: InsightTally }> => {
      const { job: number, token, digest, engine, failure = null, result } = publication;
      const before = tallyBefore(state.insights?.published ?? [], publication);
      if (before !== null) return { reply: isRefusal(before) ? before : { tally: before } };
      const held = heldJob({ job: number, token }, facts);
      if (held === null) return { reply: NOT_HELD };
      const wrong = wrongIn(result);
      if (isRefusal(wrong)) return { reply: wrong };
      // From here on it succeeds.
      const { claim, ...job } = held;
      const was = itemIn(facts, 'conversation', number);
      const merged = mergeInsights(knownTo(publication, job, facts), result);
      const writing = new Writing(state, facts);
      const { language } = result.conversation;
      const run = { job, run_id: claim.run_id, by: keptPipeline(claim.pipeline), was, language };
      // Whoever hears of what came of it has heard of the conversation.
      if (was === undefined) {
        const { run_id } = claim;
        conversationEvent(writing, 'conversation.created', { number, item: { ...job, revision: 1 }, run_id });
      }
      const made = writeItems(writing, merged, { ...run, made_by: result.made_by });
      writeConversation(writing, { ...run, result, made });
      const ended = { status: 'published' as const, run_id: claim.run_id, engine, failure, ...run.by };
      endJob(writing, job, { ...ended, dropped: merged.tally.dropped });
      const published = [...writing.insights.published, { token, digest, tally: merged.tally }];
      writing.insights = { ...writing.insights, published: published.slice(-PUBLICATIONS_KEPT_MAX) };
      return writing.done({ tally: merged.tally });
    }),
  },
});

type WaitingJob = Omit<InsightJob, 'claim'>;
/** The numbers of a conversation's items. */
type PublishedNumbers = { suggestions: number[]; memories: number[] };

function wrongIn({ suggestions, memories }: CheckedInsights): Refusal | null {
  const is_too_much =
    suggestions.length > LIMITS.suggestions_per_result_max || memories.length > LIMITS.memories_per_result_max;
  return is_too_much ? TOO_MUCH : null;
}

function textsOf({ pipeline_id }: Pick<InsightJob, 'pipeline_id'>, { memories }: CheckedInsights): string[] {
  return [...new Set(memories.flatMap((op) => (op.op === 'new' ? [textKey(pipeline_id, op.stems)] : [])))];
}

function streamsOf({ parts }: Pick<InsightJob, 'parts'>, { suggestions, memories }: CheckedInsights): Span[] {
  return [...parts, ...[...suggestions, ...memories].flatMap((op) => (op.op === 'withdraw' ? [] : op.evidence))];
}

function knownTo({ job: number, result }: InsightPublication, job: WaitingJob, turn: Read): KnownInsights {
  const conversation = itemIn(turn, 'conversation', number);
  const texts = textsOf(job, result).flatMap((id): [string, number][] => {
    const memory = turn.record<number>('texts', id);
    return memory === undefined ? [] : [[id, memory]];
  });
  const named = result.suggestions.flatMap((op) => (op.op === 'new' ? [] : [op.number]));
  const remembered = result.memories.flatMap((op) => (op.op === 'new' ? (op.supersedes ?? []) : [op.number]));
  const suppressed = [...new Set(streamsOf(job, result).map(({ stream_id }) => stream_id))].flatMap((stream_id) =>
    (turn.record<Suppressed[]>('suppressed', stream_id) ?? []).map((one) => ({ ...one, stream_id })),
  );
  const memories = [...(conversation?.memories ?? []), ...texts.map(([, memory]) => memory), ...remembered];
  return {
    of: { conversation: number, pipeline_id: job.pipeline_id, parts: job.parts },
    suggestions: itemsBy('suggestion', [...(conversation?.suggestions ?? []), ...named], turn),
    memories: itemsBy('memory', memories, turn),
    texts: new Map(texts),
    suppressed,
  };
}

function itemsBy<Kind extends 'suggestion' | 'memory'>(kind: Kind, numbers: number[], turn: Read) {
  return new Map(
    [...new Set(numbers)].flatMap((number) => {
      const item = itemIn(turn, kind, number);
      return item === undefined ? [] : [[number, item] as const];
    }),
  );
}

/** `by`: the pipeline, as stored with its items. */
type JobRun = {
  job: WaitingJob;
  run_id: string;
  by: { pipeline?: number };
  made_by: CheckedInsights['made_by'];
  was: Conversation | undefined;
  language: string | null;
};

/** Writes suggestions and memories; returns those that the conversation has now. */
function writeItems(
  writing: Writing,
  { suggestions, memories }: MergedInsights,
  { job, run_id, by, made_by, was, language }: JobRun,
): PublishedNumbers {
  const { facts } = writing;
  const { pipeline_id, session_id, parts } = job;
  const { now_ms } = facts;
  const begun = {
    ...by,
    pipeline_id,
    session_id,
    revision: 1,
    protected_fields: [] as string[],
    created_at_ms: now_ms,
    updated_at_ms: now_ms,
  };
  const kept = (was?.suggestions ?? []).filter((one) => itemIn(facts, 'suggestion', one) !== undefined);
  for (const { number, fields, changed_fields } of suggestions.changed) {
    const before = itemIn(facts, 'suggestion', number) as Suggestion;
    const state_version = before.state_version + 1;
    const change = { was: before, fields: { ...fields, state_version }, by: 'pipeline' as const, changed_fields };
    const item = writing.change('suggestion', number, change);
    writing.suggestionEvent('suggestion.updated', number, { item, data: { changed_fields, state_version } });
  }
  for (const { number, fields } of suggestions.unseen)
    writing.touch('suggestion', number, { ...(itemIn(facts, 'suggestion', number) as Suggestion), ...fields });
  for (const { op: _, ...body } of suggestions.created) {
    const number = writing.give('suggestion');
    const item: Suggestion = {
      ...begun,
      ...body,
      said: saidIn(job, body.evidence, language),
      conversation: job.conversation,
      ...(was?.kept_id !== undefined && { kept_conversation_id: was.kept_id }),
      status: 'open',
      group: null,
      review: null,
      feedback: { helpful: 0, not_helpful: 0, wrong: 0 },
      state_version: 1,
      touched: false,
      made_by,
    };
    writing.create('suggestion', number, item);
    const source_id = body.evidence[0]?.source_id ?? parts[0]?.source_id;
    const data = { run_id, state_version: 1, ...(source_id === undefined ? {} : { source_id }) };
    writing.suggestionEvent('suggestion.created', number, { item, data });
    kept.push(number);
  }
  return { suggestions: kept, memories: writeMemories(writing, memories, { begun, was, job, language }) };
}

/** When the first of it was said. Exact on the recording with which the conversation begins. */
function saidIn(
  { parts, started_at_ms }: WaitingJob,
  [first]: readonly Span[],
  language: string | null,
): HeardLanguage {
  const [begin] = parts;
  const is_there = first !== undefined && begin !== undefined && first.stream_id === begin.stream_id;
  return { at_ms: started_at_ms + (is_there ? first.start_ms - begin.start_ms : 0), language };
}

type Begun = Pick<
  Memory,
  'pipeline_id' | 'pipeline' | 'session_id' | 'revision' | 'protected_fields' | 'created_at_ms' | 'updated_at_ms'
>;

function writeMemories(
  writing: Writing,
  { created, changed, removed }: MergedInsights['memories'],
  { begun, was, job, language }: Pick<JobRun, 'job' | 'was' | 'language'> & { begun: Begun },
): number[] {
  const { facts } = writing;
  const change = (number: number, fields: Partial<Memory>, changed_fields: string[]) => {
    const before = itemIn(facts, 'memory', number) as Memory;
    const item = writing.change('memory', number, { was: before, fields, by: 'pipeline', changed_fields });
    memoryEvent(writing, 'memory.updated', { number, item, changed_fields });
  };
  const kept = new Set((was?.memories ?? []).filter((one) => itemIn(facts, 'memory', one) !== undefined));
  for (const { number, fields, changed_fields } of changed) {
    change(number, fields, changed_fields);
    kept.add(number);
  }
  for (const number of removed) {
    takeAway(writing, { kind: 'memory', number, item: itemIn(facts, 'memory', number) as Memory });
    kept.delete(number);
  }
  for (const { op: _, supersedes, ...body } of created) {
    const number = writing.give('memory');
    if (supersedes !== undefined)
      change(supersedes, { state: 'superseded', superseded_by: number }, ['state', 'superseded_by']);
    const item: Memory = {
      ...begun,
      ...body,
      said: saidIn(job, body.evidence, language),
      state: 'active',
      superseded_by: null,
      origin: 'pipeline',
      protected: false,
    };
    writing.create('memory', number, item);
    memoryEvent(writing, 'memory.created', { number, item });
    kept.add(number);
  }
  return [...kept];
}

/** Creates the conversation, or changes it if it differs; title and summary that a person wrote stay. */
function writeConversation(
  writing: Writing,
  {
    job,
    run_id,
    by,
    result: { conversation, made_by },
    made,
    was,
  }: Omit<JobRun, 'made_by'> & { result: CheckedInsights; made: PublishedNumbers },
): void {
  const { now_ms } = writing.facts;
  const { parts, session_id, started_at_ms, ended_at_ms, pipeline_id } = job;
  const number = job.conversation;
  const said = { ...conversation, parts, session_id, started_at_ms, ended_at_ms, made_by };
  if (was === undefined) {
    const item: Conversation = {
      ...by,
      ...said,
      ...made,
      pipeline_id,
      revision: 1,
      protected_fields: [],
      created_at_ms: now_ms,
      updated_at_ms: now_ms,
      run_id,
    };
    writing.create('conversation', number, item);
    return;
  }
  const kept: Partial<Conversation> = {
    ...(was.protected_fields.includes('title') && { title: was.title }),
    ...(was.protected_fields.includes('summary') && { summary: was.summary, sentences: was.sentences }),
  };
  const is: Conversation = { ...was, ...said, ...kept };
  const changed_fields = Object.entries(CONVERSATION_FIELDS)
    .filter(([, name]) => shownText(was, name) !== shownText(is, name))
    .map(([shown]) => shown)
    .sort();
  const { by_recording } = said;
  const madeOf = (one: Pick<Conversation, 'suggestions' | 'memories' | 'by_recording'>) =>
    JSON.stringify([one.suggestions, one.memories, one.by_recording ?? []]);
  if (changed_fields.length === 0) {
    // What came of it is no change of its own.
    const unseen = { ...made, ...(by_recording !== undefined && { by_recording }) };
    if (madeOf(was) !== madeOf(unseen)) writing.touch('conversation', number, { ...was, ...unseen });
    return;
  }
  const fields = { ...said, ...kept, ...made, run_id };
  const item = writing.change('conversation', number, { was, fields, by: 'pipeline', changed_fields });
  conversationEvent(writing, 'conversation.updated', { number, item, changed_fields, run_id });
}

/** A field in the form in which it is compared. */
function shownText(item: Conversation, name: keyof Conversation): string {
  return JSON.stringify(item[name] ?? null);
}
