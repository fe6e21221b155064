import { type Interval, shared } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { mayWithdraw } from '../../src/domain/suggestions.js';
import { type Decision, DONE, type DoneDecision, messagesOf, type Read, type RecordQuery } from '../actor.js';
import { ITEMS, itemIn, itemRecord, type LibraryOwner, suppressedOf } from './item_records.js';
import { takeAway } from './library_edits.js';
import { begin, Writing } from './library_items.js';
import { jobRecord, jobsOn, ofLibrary, putJob } from './library_jobs.js';
import { putSpans, spansOf, spansOn, withoutConversation } from './library_spans.js';
import {
  type Conversation,
  type ConversationSpan,
  type FoundConversation,
  type InsightJob,
  insightKey,
  type Library,
  type Span,
  type Unsettled,
} from './library_state.js';
import { deletedSpeechOf, noteDeleted, untell } from './library_withdrawal.js';
import { quietAt, type Settled, settlingOf, streamsIn, thinned, unsettle, unsettledKey } from './unsettled_ranges.js';

/** `pipeline_id`: a pipeline with a transcript of its own; absent for the default one. */
type Heard = LibraryOwner & {
  stream_id: string;
  source_id: string;
  from_ms: number;
  to_ms: number;
  is_new: boolean;
  /** Whether a person deleted a turn there. */
  is_deleted?: boolean;
  pipeline_id?: string | null;
};
type RunRequest = LibraryOwner & {
  stream_id: string;
  source_id: string;
  from_ms: number;
  to_ms: number;
  pipeline_id: string | null;
};

export const conversationMessages = messagesOf<Library>()({
  /**
   * From a transcript: turns were published, or (`is_new` is false) published turns changed, which matters only inside
   * a conversation. A deleted turn is no longer told from here on, and a worker that read it before cannot publish.
   */
  heard: {
    records: ({ stream_id, pipeline_id = null }: Heard) => [
      ...[false, true].map((again) => ({
        collection: 'unsettled',
        id: unsettledKey({ stream_id, pipeline_id, again }),
      })),
      ...spansOf([{ stream_id }]),
      ...deletedSpeechOf(stream_id),
    ],
    further: ({ is_deleted = false, ...heard }: Heard, _state, read: Read): RecordQuery[] =>
      is_deleted
        ? conversationsIn(heard, read).flatMap((one) => [itemRecord('conversation', one), jobRecord(one)])
        : [],
    decide(
      state,
      { is_new, is_deleted = false, account_id, workspace_id, pipeline_id = null, ...heard }: Heard,
      facts,
    ): DoneDecision<Library> {
      if (state === null && !is_new) return { reply: DONE };
      const { library, effects } =
        state === null ? begin({ account_id, workspace_id }, facts) : { library: state, effects: [] };
      const writing = new Writing(library, facts);
      writing.effects.push(...effects);
      const touched = spansOn(writing, heard.stream_id).filter(
        (span) => span.pipeline_id === pipeline_id && reaches(span, heard),
      );
      const again = touched.length > 0;
      const untold = is_deleted && library.insights !== undefined ? forgetTurn(writing, heard) : false;
      if (is_new || again) {
        const range = { ...heard, pipeline_id, again };
        // Nobody corrects what another pipeline hears: it was asked for.
        const is_quiet = again && pipeline_id === null && !untold;
        const due_ms = is_quiet ? quietAt(writing, range, touched) : facts.now_ms + LIMITS.settle_ms;
        unsettle(writing, range, { touched, due_ms });
      }
      return writing.effects.length === 0 ? { reply: DONE } : writing.done(DONE);
    },
  },

  /** Makes conversations anew at once, for a person or another pipeline. */
  request_run: {
    records: ({ stream_id, pipeline_id }: RunRequest) => [
      { collection: 'unsettled', id: unsettledKey({ stream_id, pipeline_id, again: true }) },
      ...spansOf([{ stream_id }]),
    ],
    decide(state, { account_id, workspace_id, ...asked }: RunRequest, facts): DoneDecision<Library> {
      const { library, effects } =
        state === null ? begin({ account_id, workspace_id }, facts) : { library: state, effects: [] };
      const writing = new Writing(library, facts);
      writing.effects.push(...effects);
      const touched = spansOn(writing, asked.stream_id).filter(
        (span) => span.pipeline_id === asked.pipeline_id && reaches(span, asked),
      );
      unsettle(writing, { ...asked, again: true }, { touched, due_ms: facts.now_ms });
      return writing.done(DONE);
    },
  },

  /**
   * Takes the conversations that a worker found in an unsettled range. A known conversation keeps its number. One that
   * was not found again is deleted with its untouched items. One that lost turns to retention stays as it is.
   */
  settled: {
    records: (input: Settled) => [
      { collection: 'unsettled', id: unsettledKey(input) },
      ...spansOf(streamsIn(input)),
      ...suppressedOf(streamsIn(input)),
    ],
    further: (input: Settled, _state, read: Read): RecordQuery[] => {
      const settling = settlingOf(input, read);
      const gone = settling?.gone ?? [];
      return [
        ...thinned(input, read).map((number) => itemRecord('conversation', number)),
        ...gone.flatMap((number) => [
          itemRecord('conversation', number),
          jobRecord(number),
          ...(itemIn(read, 'conversation', number)?.suggestions ?? []).map((one) => itemRecord('suggestion', one)),
          ...spansOf(partsOf(number, read)),
        ]),
      ];
    },
    decide: ofLibrary((state, input: Settled, facts): Decision<Library, typeof DONE> => {
      const settling = settlingOf(input, facts);
      // Something was said meanwhile: it is looked at once more.
      if (settling === null) return { reply: DONE };
      const { unsettled, known, gone } = settling;
      const writing = new Writing(state, facts);
      for (const { found, number, is_same } of known) {
        const is_changed = number === null || !is_same || (unsettled.again && isIn(unsettled, found));
        if (is_changed) queue(writing, { found, number, pipeline_id: input.pipeline_id });
      }
      for (const number of gone) vanish(writing, number);
      const key = unsettledKey(input);
      const { left } = settling;
      const recheck_ms = left === input.left ? input.recheck_ms : facts.now_ms;
      if (left === null) writing.drop('unsettled', key);
      else {
        const due_ms = recheck_ms ?? facts.now_ms + LIMITS.settle_ms;
        const changed = unsettled.changed.filter(([from, to]) => shared([from, to], [left.from_ms, left.to_ms]) > 0);
        writing.write('unsettled', key, { value: { ...unsettled, ...left, changed, due_ms }, order: due_ms });
        writing.due(due_ms);
      }
      return writing.done(DONE);
    }),
  },
  /**
   * A recording is gone. Conversations that also lie on other recordings are made anew there, so that their speech is
   * kept and that of this recording is not.
   */
  forget_stream: {
    records: ({ stream_id }: { stream_id: string }) => [
      ...spansOf([{ stream_id }]),
      ...deletedSpeechOf(stream_id),
      { collection: 'unsettled', range: { limit: LIMITS.insights_waiting_max } },
    ],
    further: ({ stream_id }: { stream_id: string }, _state, read: Read): RecordQuery[] => [
      ...jobsOn(stream_id, read).flatMap((job) => [job, { ...job, collection: ITEMS.conversation }]),
      ...partsElsewhere(stream_id, read).flatMap((part) => [
        { collection: 'unsettled', id: unsettledKey({ ...part, again: true }) },
        ...spansOf([part]),
      ]),
    ],
    decide(state, { stream_id }: { stream_id: string }, facts): DoneDecision<Library> {
      if (state === null) return { reply: DONE };
      const writing = new Writing(state, facts);
      for (const { conversation, ...part } of partsElsewhere(stream_id, facts)) {
        const touched = spansOn(writing, part.stream_id).filter((span) => span.conversation === conversation);
        const { start_ms: from_ms, end_ms: to_ms, ...range } = part;
        unsettle(
          writing,
          { ...range, from_ms, to_ms, again: true },
          { touched, due_ms: facts.now_ms + LIMITS.settle_ms },
        );
      }
      for (const { id } of jobsOn(stream_id, facts))
        if (facts.record('jobs', id) !== undefined) writing.drop('jobs', id);
      for (const { id, value } of facts.range<Unsettled>('unsettled'))
        if (value.stream_id === stream_id) writing.drop('unsettled', id);
      for (const collection of ['spans', 'suppressed', 'runs']) writing.drop(collection, stream_id);
      if (state.insights !== undefined) noteDeleted(writing, { of: 'stream', id: stream_id });
      return writing.done(DONE);
    },
  },
});

/** The numbers of all pipelines' conversations in a range. */
function conversationsIn(heard: Pick<Heard, 'stream_id' | 'from_ms' | 'to_ms'>, read: Pick<Read, 'record'>): number[] {
  const spans = read.record<ConversationSpan[]>('spans', heard.stream_id) ?? [];
  return [...new Set(spans.filter((span) => reaches(span, heard)).map(({ conversation }) => conversation))];
}

/**
 * A person deleted a turn: claims of its conversations end, and sentences that the built-in engine repeated from them
 * are removed. Returns whether any were.
 */
function forgetTurn(writing: Writing, heard: Pick<Heard, 'stream_id' | 'from_ms' | 'to_ms'>): boolean {
  const { facts } = writing;
  noteDeleted(writing, { of: 'stream', id: heard.stream_id });
  let was_told = false;
  for (const number of conversationsIn(heard, facts)) {
    const job = facts.record<InsightJob>('jobs', insightKey(number));
    if (job?.claim !== undefined) {
      const { claim: _, ...waiting } = job;
      putJob(writing, { ...waiting, tries: waiting.tries - 1 }, facts.now_ms);
    }
    was_told = untell(writing, number) || was_told;
  }
  return was_told;
}

/** Queues a job for a conversation; a claimed job begins anew. */
function queue(
  writing: Writing,
  {
    found,
    number: known,
    pipeline_id,
  }: { found: FoundConversation; number: number | null; pipeline_id: string | null },
): void {
  const { now_ms } = writing.facts;
  const number = known ?? writing.give('conversation');
  const { parts, session_id, started_at_ms, ended_at_ms } = found;
  const job = { number, conversation: number, pipeline_id, parts, session_id, started_at_ms, ended_at_ms };
  putJob(writing, { ...job, queued_at_ms: now_ms, tries: 0 }, now_ms);
  for (const stream_id of new Set(parts.map((part) => part.stream_id))) {
    const here = parts
      .filter((part) => part.stream_id === stream_id)
      .map(({ start_ms, end_ms }) => ({ conversation: number, pipeline_id, start_ms, end_ms, looked_at_ms: now_ms }));
    const others = spansOn(writing, stream_id).filter(({ conversation }) => conversation !== number);
    putSpans(writing, stream_id, [...others, ...here]);
  }
}

/** Removes a conversation, but for what a person has set. */
function vanish(writing: Writing, number: number): void {
  const item = itemIn(writing.facts, 'conversation', number);
  const parts = partsOf(number, writing.facts);
  writing.drop('jobs', insightKey(number));
  if (item === undefined) {
    withoutConversation(writing, number, parts);
    return;
  }
  if (item.protected_fields.length > 0) return;
  for (const one of item.suggestions) {
    const suggestion = itemIn(writing.facts, 'suggestion', one);
    if (suggestion === undefined || !mayWithdraw(suggestion)) continue;
    const changed_fields = ['status'];
    const state_version = suggestion.state_version + 1;
    const fields = { status: 'withdrawn' as const, state_version };
    const is = writing.change('suggestion', one, { was: suggestion, fields, by: 'pipeline', changed_fields });
    writing.suggestionEvent('suggestion.updated', one, { item: is, data: { changed_fields, state_version } });
  }
  takeAway(writing, { kind: 'conversation', number, item, run_id: item.run_id });
}

/** The spans of a conversation that exists or is to be made. */
function partsOf(number: number, read: Pick<Read, 'record'>): Span[] {
  const job = read.record<InsightJob>('jobs', insightKey(number));
  return [...(itemIn(read, 'conversation', number)?.parts ?? []), ...(job?.parts ?? [])];
}

/** Queries the other recordings of the conversations on a stream. */
export function partsElsewhere(
  stream_id: string,
  read: Pick<Read, 'record'>,
): (Span & Pick<ConversationSpan, 'conversation' | 'pipeline_id'>)[] {
  return jobsOn(stream_id, read).flatMap(({ id }) => {
    const of = read.record<InsightJob>('jobs', id) ?? read.record<Conversation>(ITEMS.conversation, id);
    const elsewhere = (of?.parts ?? []).filter((part) => part.stream_id !== stream_id);
    const conversation = Number.parseInt(id, 16);
    return elsewhere.map((part) => ({ ...part, conversation, pipeline_id: of?.pipeline_id ?? null }));
  });
}

function reaches(span: ConversationSpan, { from_ms, to_ms }: { from_ms: number; to_ms: number }): boolean {
  return shared([span.start_ms, span.end_ms], [from_ms, Math.max(to_ms, from_ms + 1)]) > 0;
}

/** Whether a changed part lies in the conversation. */
function isIn({ stream_id, changed }: Unsettled, { parts }: FoundConversation): boolean {
  const within = parts
    .filter((part) => part.stream_id === stream_id)
    .map(({ start_ms, end_ms }): Interval => [start_ms, end_ms]);
  return changed.some(([from, to]) => within.some((part) => shared(part, [from, to]) > 0));
}
