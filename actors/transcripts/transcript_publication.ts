import type { EventType } from '../../src/domain/event_types.js';
import { turnId } from '../../src/domain/ids.js';
import { subtract } from '../../src/domain/intervals.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import { dueIndex } from '../../src/domain/retention.js';
import { type Decision, type Effect, type Facts, messagesOf } from '../actor.js';
import { keptPipeline } from '../insights/context_state.js';
import { tallyBefore } from '../job.js';
import { blocksFrom, knownLabels, type Publication, recognize, withLabels } from './published_speakers.js';
import { withSamples } from './speaker_samples.js';
import { writePage } from './transcript_block.js';
import { attributeRun, type HeardRun, mergeRun, type SpeakerNumbers } from './transcript_merge.js';
import {
  oldestIn,
  type PageTurn,
  type PageWords,
  pageKey,
  pageOf,
  putPage,
  putWords,
  readPage,
  readWords,
  type TranscriptPage,
} from './transcript_page.js';
import { noteRun } from './transcript_runs.js';
import { clamp, wordsWithin } from './transcript_spans.js';
import {
  ofTranscript,
  type PublicationTally,
  type PublishedTurn,
  TRANSCRIPTS,
  type Transcript,
  tellLibrary,
  transcriptIndexOf,
  type WaitingAudio,
  type Window,
} from './transcript_state.js';
import {
  begin,
  beginFinalPass,
  consumed,
  dueEffects,
  heldWindow,
  NOT_HELD,
  resting,
  type StreamAudio,
  unheard,
} from './transcript_windows.js';
import { inOrder, spanOf } from './waiting_audio.js';

/** `speakers`: the numbers of the result's labels. `came_at_ms`: when the first of its audio arrived. */
type Published = { tally: PublicationTally; speakers: SpeakerNumbers; came_at_ms: number | null };

const FULL = refuse('CONFLICT', `Ten minutes of a transcript hold at most ${LIMITS.page_turns_max} turns.`);
const NO_MORE = refuse('CONFLICT', 'These ten minutes of the transcript were run too often.');
const NOTHING: PublicationTally = { turns: 0, replaced: 0, protected: 0, suppressed: 0 };

export const publicationMessages = messagesOf<Transcript>()({
  /** Publishes a result in one commit, merged with people's corrections. */
  publish: {
    records: (_: Publication, state) => {
      if (state?.window == null) return [];
      const id = pageKey(pageOf(state.window.from_ms));
      return [
        { collection: 'pages', id },
        { collection: 'words', id },
        ...blocksFrom(state).map((block) => ({ collection: 'speakers', id: block })),
      ];
    },
    decide: ofTranscript((state, publication: Publication, facts): Decision<Transcript, Published> => {
      const before = tallyBefore(state.published === null ? [] : [state.published], publication);
      if (isRefusal(before)) return { reply: before };
      if (before !== null) return { reply: { tally: before, speakers: new Map(), came_at_ms: null } };
      const window = windowFor(state, publication);
      if (isRefusal(window)) return { reply: window };
      return publication.mode === 'attribute'
        ? attribute(state, { window, publication }, facts)
        : replace(state, { window, publication }, facts);
    }),
  },

  /** From an import: text that came instead of audio. */
  bring_text: {
    records: ({ stream, from_ms }: BroughtText, state) => {
      const id = pageKey(pageOf(from_ms));
      return [
        { collection: 'pages', id },
        { collection: 'words', id },
        ...blocksFrom(state ?? begin(stream)).map((block) => ({ collection: 'speakers', id: block })),
      ];
    },
    decide: (state, brought: BroughtText, facts) => bring(state ?? begin(brought.stream), brought, facts),
  },
});

/** A part of a text that came instead of audio; it lies in one page. `run_id`: made for this message. */
export type BroughtText = {
  stream: StreamAudio['stream'];
  from_ms: number;
  to_ms: number;
  run_id: string;
  turns: PublishedTurn[];
  /** Contacts of named speakers, by label. */
  contacts: Record<string, string>;
  insights: boolean;
};

/** Publishes the part as a window that was claimed and heard. What is covered already stays. */
function bring(
  before: Transcript,
  { from_ms, to_ms, run_id, turns, contacts, insights }: BroughtText,
  facts: Facts,
): Decision<Transcript, { turns: number }> {
  const { now_ms } = facts;
  const fresh = subtract([[from_ms, to_ms]], before.covered);
  if (fresh.length === 0) return { reply: { turns: before.turns } };
  const window: Window = {
    ...{ number: before.windows + 1, from_ms, to_ms, final: true, pass: 'first' as const },
    ...{ run_id, token: run_id, until_ms: now_ms, tries: 1 },
  };
  const added = fresh.map(([from, to]): WaitingAudio => ({ from_ms: from, to_ms: to, at_ms: now_ms }));
  const waiting = inOrder([
    ...before.waiting.flatMap((one) =>
      subtract([spanOf(one)], [[from_ms, to_ms]]).map(([from, to]) => ({ ...one, from_ms: from, to_ms: to })),
    ),
    ...added,
  ]);
  const publication: Publication = {
    ...{ number: window.number, token: run_id, digest: '', speaker_scope: 'stream', mode: 'replace', turns },
    ...{ recognized: contacts, final_pass: false, engine: 'import', insights },
  };
  const decided = replace({ ...before, windows: window.number, window, waiting }, { window, publication }, facts);
  if (isRefusal(decided.reply)) return { reply: decided.reply };
  return { ...decided, reply: { turns: decided.next?.turns ?? 0 } };
}

/** The window of a result, or the refusal that says why it cannot be published. Texts were checked before. */
export function windowFor(
  state: Transcript,
  publication: Pick<Publication, 'number' | 'token' | 'turns' | 'consumed_to_ms' | 'failed' | 'stopped'>,
): Window | Refusal {
  const window = heldWindow(state, publication);
  return window === null ? NOT_HELD : (wrongIn(window, publication) ?? window);
}

/** Null if the result lies in its window, in order. */
function wrongIn(
  { from_ms, to_ms, final }: Window,
  { turns, consumed_to_ms = to_ms, failed = [], stopped }: Omit<Parameters<typeof windowFor>[1], 'number' | 'token'>,
): Refusal | null {
  const wrong = (path: string, message: string) =>
    refuse('BAD_REQUEST', `${path} ${message}.`, { details: [{ path, message }] });
  if (consumed_to_ms <= from_ms || consumed_to_ms > to_ms)
    return wrong('consumed_to_ms', `must lie behind ${from_ms} and be at most ${to_ms}`);
  if (final && consumed_to_ms < to_ms && stopped === undefined)
    return wrong('consumed_to_ms', `must be ${to_ms}: the window is final`);
  for (const [index, part] of failed.entries())
    if (part.from_ms < from_ms || part.to_ms > consumed_to_ms || part.from_ms >= part.to_ms)
      return wrong(`failed.${index}`, `must lie between ${from_ms} and ${consumed_to_ms}`);
  const latest_ms = consumed_to_ms + LIMITS.window_tolerance_ms;
  let before_ms = from_ms - LIMITS.window_tolerance_ms;
  for (const [index, { start_ms, end_ms, words = [] }] of turns.entries()) {
    if (start_ms < before_ms)
      return wrong(`turns.${index}.start_ms`, `must be at least ${before_ms}: turns come in order`);
    if (end_ms > latest_ms)
      return wrong(`turns.${index}.end_ms`, `must be at most ${latest_ms}: what is published ends there`);
    before_ms = start_ms;
    let word_before_ms = start_ms - LIMITS.window_tolerance_ms;
    for (const [at, [, word_start_ms, word_end_ms]] of words.entries()) {
      const path = `turns.${index}.words.${at}`;
      if (word_start_ms < word_before_ms)
        return wrong(path, `must not begin before ${word_before_ms}: words come in order`);
      if (word_end_ms < word_start_ms) return wrong(path, 'must not end before it begins');
      if (word_end_ms > end_ms + LIMITS.window_tolerance_ms)
        return wrong(path, `must be over by ${end_ms + LIMITS.window_tolerance_ms}: its turn ends there`);
      word_before_ms = word_start_ms;
    }
  }
  return null;
}

type WindowPublication = { window: Window; publication: Publication };

function replace(
  state: Transcript,
  { window, publication }: WindowPublication,
  facts: Facts,
): Decision<Transcript, Published> {
  const { now_ms, self } = facts;
  const { page, words } = pageIn(window, facts);
  const heard = heardRun(state, { window, publication }, now_ms);
  const merged = mergeRun(page, words, heard);
  if (merged.page.turns.length > LIMITS.page_turns_max) return { reply: FULL };
  if (merged.page.next_serial > LIMITS.page_serials_max) return { reply: NO_MORE };
  // From here on it succeeds.
  const { created, attributed, tally, numbers } = merged;
  const is_other = created.length + attributed.length + tally.replaced > 0;
  const is_changed = is_other || isRefined({ page, words }, merged);
  const known = withLabels(state, publication, numbers);
  const after = passed({ ...known, speakers: merged.speakers }, { window, publication }, now_ms);
  const recognized = recognize(after, { numbers, before: state, publication }, facts);
  const samples = withSamples(state.samples, created);
  const kept: Transcript = {
    ...recognized.state,
    samples,
    published: { token: window.token, digest: publication.digest, tally },
    revision: state.revision + (is_changed || recognized.effects.length > 0 ? 1 : 0),
    turns: state.turns + merged.page.turns.length - page.turns.length,
  };
  const placed = placePage(kept, { page: merged.page, was: page, self });
  const effects: Effect[] = [
    ...(is_changed ? [...writePage(state, merged.page, self), ...wordEffects(merged.page, words, merged.words)] : []),
    ...recognized.effects,
    ...placed.effects,
    ...newsOf(state, { window, created, attributed, replaced: tally.replaced }, self),
    publishedRun(state, { window, publication }, now_ms),
    ...(is_other || speaksOther(page, merged.page)
      ? heardIn(state, { window, publication, created, replaced: tally.replaced }, self)
      : []),
    ...dueEffects(state, placed.state, self),
  ];
  return { reply: { tally, speakers: numbers, came_at_ms: cameAt(state, window) }, next: placed.state, effects };
}

/** Whether times of words, language or confidence of the same turns have changed. */
function isRefined(was: PageWithWords, is: PageWithWords): boolean {
  const stored = ({ page, words }: PageWithWords) => JSON.stringify([putPage(page), putWords(page, words)]);
  return stored(was) !== stored(is);
}

/** Whether the language of the same turns has changed. */
function speaksOther(was: TranscriptPage, is: TranscriptPage): boolean {
  return is.turns.some(({ language }, at) => language !== was.turns[at]?.language);
}

/** Sets the speakers of existing turns. */
function attribute(
  state: Transcript,
  { window, publication }: WindowPublication,
  facts: Facts,
): Decision<Transcript, Published> {
  const { now_ms, self } = facts;
  const { page } = pageIn(window, facts);
  const {
    page: changed,
    speakers,
    numbers,
    attributed,
  } = attributeRun(page, heardRun(state, { window, publication }, now_ms));
  const known = withLabels(state, publication, numbers);
  const after = passed({ ...known, speakers }, { window, publication }, now_ms);
  const recognized = recognize(after, { numbers, before: state, publication }, facts);
  const tally = { ...NOTHING, turns: attributed.length };
  const next: Transcript = {
    ...recognized.state,
    published: { token: window.token, digest: publication.digest, tally },
    revision: state.revision + (attributed.length + recognized.effects.length > 0 ? 1 : 0),
  };
  const effects: Effect[] = [
    ...(attributed.length > 0 ? writePage(state, changed, self) : []),
    ...recognized.effects,
    ...newsOf(state, { window, created: [], attributed, replaced: 0 }, self),
    publishedRun(state, { window, publication }, now_ms),
    ...(attributed.length > 0 ? heardIn(state, { window, publication, created: [], replaced: 0 }, self) : []),
    ...dueEffects(state, next, self),
  ];
  return { reply: { tally, speakers: numbers, came_at_ms: cameAt(state, window) }, next, effects };
}

function publishedRun(state: Transcript, { window, publication }: WindowPublication, ended_at_ms: number): Effect {
  const { engine = null, dropped = 0, failed = [], stopped } = publication;
  const failure = failed[0]?.code ?? stopped?.code ?? null;
  return noteRun(state, { window, status: 'published', engine, failure, dropped, ended_at_ms });
}

function cameAt({ waiting }: Transcript, { from_ms, pass }: Window): number | null {
  const audio = waiting.find((one) => one.from_ms <= from_ms && one.to_ms > from_ms);
  return pass === 'first' ? (audio?.at_ms ?? null) : null;
}

type PageWithWords = { page: TranscriptPage; words: PageWords };

function pageIn({ from_ms }: Window, facts: Facts): PageWithWords {
  const number = pageOf(from_ms);
  const key = pageKey(number);
  return {
    page: readPage(number, facts.record('pages', key)),
    words: readWords(number, facts.record('words', key)),
  };
}

/** Fits turns into the range that they replace, and words into their turns, whatever a worker's clock says. */
function heardRun(
  { labels, speakers }: Transcript,
  { window, publication }: WindowPublication,
  now_ms: number,
): HeardRun {
  const { from_ms, run_id, pipeline } = window;
  const { turns, consumed_to_ms: to_ms = window.to_ms, speaker_scope, failed = [] } = publication;
  const within = turns.map((turn) => {
    const start_ms = clamp(turn.start_ms, from_ms, to_ms - 1);
    const end_ms = Math.max(turn.end_ms, start_ms);
    const words = turn.words && wordsWithin(turn.words, { start_ms, end_ms }, to_ms - 1);
    return { ...turn, start_ms, end_ms, words };
  });
  return {
    from_ms,
    to_ms,
    unheard: failed.map(spanOf),
    turns: within,
    speakers,
    run: { id: run_id, published_at_ms: now_ms, ...keptPipeline(pipeline) },
    labels: knownLabels({ labels, speakers }, { speaker_scope, turns }),
  };
}

function passed(state: Transcript, { window, publication }: WindowPublication, now_ms: number): Transcript {
  const { consumed_to_ms = window.to_ms, failed = [], stopped } = publication;
  const heard = unheard(consumed(state, window, consumed_to_ms, now_ms), { before: state, failed });
  const after = stopped === undefined ? heard : resting(heard, { window, stopped, now_ms });
  return publication.final_pass ? beginFinalPass(after, now_ms) : after;
}

/** Updates the page's place in the due list of retention, and the transcript's on the list of those with turns. */
export function placePage(
  state: Transcript,
  { page, was, self }: { page: TranscriptPage; was: TranscriptPage; self: string },
): { state: Transcript; effects: Effect[] } {
  const effects: Effect[] = [];
  const [before_ms, oldest_ms] = [oldestIn(was), oldestIn(page)];
  const record = { collection: 'published', id: pageKey(page.number) };
  if (oldest_ms === null && before_ms !== null) effects.push({ effect: 'delete_record', ...record });
  else if (oldest_ms !== null && oldest_ms !== before_ms)
    effects.push({ effect: 'put_record', ...record, value: 1, order: oldest_ms });
  const had_turns = state.turns - (page.turns.length - was.turns.length) > 0;
  const is_oldest = oldest_ms !== null && (state.oldest === null || oldest_ms < state.oldest.published_at_ms);
  const oldest =
    state.turns === 0 ? null : is_oldest ? { page: page.number, published_at_ms: oldest_ms } : state.oldest;
  if (oldest?.published_at_ms !== state.oldest?.published_at_ms) effects.push(dueEffect(state, oldest, self));
  if (had_turns !== state.turns > 0) effects.push(...listed(state, self));
  return { state: { ...state, oldest }, effects };
}

export function dueEffect(
  { account_id, workspace_id }: Transcript,
  oldest: Transcript['oldest'],
  self: string,
): Effect {
  const place = { owner: account_id, index: dueIndex('transcripts', workspace_id), member: self };
  return oldest === null
    ? { effect: 'remove_from_index', ...place }
    : { effect: 'add_to_index', ...place, order: oldest.published_at_ms };
}

/** The lists of a transcript with turns. A pipeline output is read by its id alone. */
export function listed(
  { account_id: owner, source_id, workspace_id, captured_at_ms, turns, pipeline_output }: Transcript,
  member: string,
): Effect[] {
  if (pipeline_output !== null) return [];
  return [TRANSCRIPTS, transcriptIndexOf(source_id), transcriptIndexOf(workspace_id)].map(
    (index): Effect =>
      turns > 0
        ? { effect: 'add_to_index', owner, index, member, order: captured_at_ms }
        : { effect: 'remove_from_index', owner, index, member },
  );
}

function wordEffects(page: TranscriptPage, before: PageWords, after: PageWords): Effect[] {
  return before.size + after.size === 0 ? [] : [putWords(page, after)];
}

/** Tells the library of speech that a run has heard for the first time, or differently. */
function heardIn(
  state: Transcript,
  { window, publication, created, replaced }: WindowPublication & { created: PageTurn[]; replaced: number },
  self: string,
): Effect[] {
  if (publication.insights !== true) return [];
  const { from_ms, to_ms, pass } = window;
  const is_new = created.length > 0 && (pass === 'first' || replaced === 0);
  const span = is_new
    ? {
        from_ms: Math.min(...created.map(({ start_ms }) => start_ms)),
        to_ms: Math.max(...created.map(({ end_ms }) => end_ms)),
      }
    : { from_ms, to_ms: publication.consumed_to_ms ?? to_ms };
  return [tellLibrary(state, { stream_id: self, ...span, is_new })];
}

type PublishedTurns = { window: Window; created: PageTurn[]; attributed: PageTurn[]; replaced: number };

/**
 * Rules K-011 and K-115: turns that replace others have one event together, and turns of another pipeline have none.
 */
function newsOf(
  { account_id, source_id, pipeline_output }: Transcript,
  { window: { run_id, from_ms }, created, attributed, replaced }: PublishedTurns,
  self: string,
): Effect[] {
  if (pipeline_output !== null) return [];
  const event = (type: EventType, resource_id: string, more: Record<string, unknown> = {}): Effect => ({
    effect: 'append_event',
    account_id,
    type,
    resource_id,
    data: { ...more, source_id, run_id },
  });
  if (replaced > 0) return [event('run.published', run_id)];
  const idOf = ({ serial }: PageTurn) => turnId(self, { page: pageOf(from_ms), serial });
  return [
    ...created.map((turn) => event('turn.created', idOf(turn))),
    ...attributed.map((turn) => event('turn.updated', idOf(turn), { changed_fields: ['speaker'] })),
  ];
}
