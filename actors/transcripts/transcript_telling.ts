import { turnId } from '../../src/domain/ids.js';
import { type Interval, shared } from '../../src/domain/intervals.js';
import { durationInWords } from '../../src/domain/limit_text.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type DoneDecision, type Effect, messagesOf, type RecordQuery } from '../actor.js';
import { dueIndexEffects, GIVEN_UP, isLastTry, type JobChange, workerMessages } from '../job.js';
import { writePage } from './transcript_block.js';
import { withTurns } from './transcript_merge.js';
import { type PageTurn, pageKey, readPage } from './transcript_page.js';
import { ofTranscript, TELLING_INDEX, type Telling, type Transcript, tellLibrary } from './transcript_state.js';

/**
 * Speakers that a person has had told apart by their number: a job of the transcript. A worker listens to the whole
 * recording, and names the turns page by page. Undoing is the same job, which takes the speakers away again.
 */

const NOT_HELD = refuse('CONFLICT', 'These speakers are not yours to tell apart: the claim was lost.');
const LIVE = refuse('CONFLICT', 'The recording has not ended.');
const WAITING = refuse('CONFLICT', 'The text of this recording is still being made.');
const NO_TURNS = refuse('CONFLICT', 'There is no text in this recording whose speakers could be told apart.');
const KNOWN = refuse('CONFLICT', 'The speakers of this recording are told apart already.');
const UNDER_WAY = refuse('CONFLICT', 'The speakers of this recording are being told apart; undo that first.');
const NOTHING_TOLD = refuse('CONFLICT', 'No speakers of this recording were told apart by their number.');
const TOO_MANY = refuse(
  'CONFLICT',
  `A recording has at most ${LIMITS.speakers_per_stream_max} speakers, with those that were undone.`,
);

const TOO_LONG = refuse(
  'CONFLICT',
  `Speakers are told apart in recordings of at most ${durationInWords(LIMITS.told_audio_ms_max)}.`,
);

const NOTHING = { job: null };
const TRIES = { tries_max: LIMITS.telling_tries_max, rests_ms: LIMITS.telling_retries_ms };

type HeldTelling = { token: string };
/** The work on a claim: to tell `count` speakers apart, or to take the speakers away. */
type ClaimedTelling = {
  job: (Pick<Transcript, 'account_id' | 'source_id'> & { is_undoing: boolean; count: number }) | null;
};
/** Speech of a speaker, who is numbered from 0 on. */
export type ToldSpan = [from_ms: number, to_ms: number, speaker: number];

const tellingJobs = workerMessages<Transcript, HeldTelling, Telling>({
  given: ofTranscript,
  not_held: NOT_HELD,
  tries: TRIES,
  held: ({ telling }, { token }) => (isHeld(telling, token) ? { until_ms: telling.until_ms, job: telling } : null),
  prolonged: (state, { job, until_ms }, facts) => due(state, { ...job, until_ms }, facts.self),
  rested: (state, { job }, not_before_ms, facts) =>
    due(state, { ...job, token: '', until_ms: not_before_ms }, facts.self),
  released: (state, { job }, facts) =>
    due(state, { ...job, token: '', tries: job.tries - 1, until_ms: facts.now_ms }, facts.self),
  failed: (state, { job }, { code }, facts) => failed(state, { job, code }, facts.self),
});

export const tellingMessages = messagesOf<Transcript>()({
  /** Asks for so many speakers. */
  tell_speakers: ofTranscript(
    (state, { count }: { count: number }, facts): Decision<Transcript, { telling: Telling }> => {
      const { telling } = state;
      const is_wanted = telling?.status === 'telling' || telling?.status === 'told';
      if (is_wanted && telling.count === count) return { reply: { telling } };
      if (state.end_ms === null) return { reply: LIVE };
      if (telling?.status === 'telling' || telling?.status === 'undoing') return { reply: UNDER_WAY };
      if (state.waiting.length > 0 || state.window !== null) return { reply: WAITING };
      if (state.turns === 0) return { reply: NO_TURNS };
      if (lengthOf(state.covered) > LIMITS.told_audio_ms_max) return { reply: TOO_LONG };
      if (telling?.status === 'told' || state.speakers > lastTold(telling)) return { reply: KNOWN };
      if (state.speakers + count > LIMITS.speakers_per_stream_max) return { reply: TOO_MANY };
      // From here on it succeeds.
      const asked: Telling = {
        ...{ status: 'telling', count, first: state.speakers + 1, code: null },
        ...{ token: '', until_ms: facts.now_ms, tries: 0 },
      };
      const asking = { ...state, speakers: state.speakers + count, revision: state.revision + 1 };
      const { next, effects } = due(asking, asked, facts.self);
      return { reply: { telling: asked }, next, effects };
    },
  ),

  /** Takes the speakers away that were told apart. */
  undo_speakers: ofTranscript((state, _: unknown, facts): Decision<Transcript, { telling: Telling }> => {
    const { telling } = state;
    if (telling === undefined || telling.status === 'failed') return { reply: NOTHING_TOLD };
    if (telling.status === 'undoing' || telling.status === 'undone') return { reply: { telling } };
    const undone: Telling = { ...telling, status: 'undoing', token: '', until_ms: facts.now_ms, tries: 0 };
    return { reply: { telling: undone }, ...due({ ...state, revision: state.revision + 1 }, undone, facts.self) };
  }),

  /** Claims the job if it is due and nobody has it. */
  claim_telling(
    state,
    { token, lease_ms }: { token: string; lease_ms: number },
    facts,
  ): Decision<Transcript, ClaimedTelling> {
    const { now_ms, self } = facts;
    const telling = state?.telling;
    if (state === null || telling === undefined || !isDue(telling))
      return { reply: NOTHING, effects: dueIndexEffects(placeOf(self), { is_ms: null }) };
    if (telling.until_ms > now_ms)
      return { reply: NOTHING, effects: dueIndexEffects(placeOf(self), { is_ms: telling.until_ms }) };
    // Undoing needs nothing but storage, and goes on until it is done.
    if (telling.status === 'telling' && isLastTry(telling.tries, TRIES))
      return { reply: NOTHING, ...failed(state, { job: telling, code: GIVEN_UP }, self) };
    const { account_id, source_id } = state;
    const { count, status, tries } = telling;
    const claimed = { ...telling, token, until_ms: now_ms + lease_ms, tries: tries + 1 };
    return {
      reply: { job: { account_id, source_id, count, is_undoing: status === 'undoing' } },
      ...due(state, claimed, self),
    };
  },

  prolong_telling: tellingJobs.prolong,
  fail_telling: tellingJobs.fail,
  release_telling: tellingJobs.release,

  /** Names the speakers of a page. What a person said of a turn stays. Turns of a job that undoes become nobody's. */
  name_speakers: {
    records: ({ page }: NamedPage): RecordQuery[] => [{ collection: 'pages', id: pageKey(page) }],
    decide: ofTranscript((state, { token, page: number, spans }: NamedPage, facts): DoneDecision<Transcript> => {
      const { account_id, source_id, telling } = state;
      if (!isHeld(telling, token)) return { reply: NOT_HELD };
      const page = readPage(number, facts.record('pages', pageKey(number)));
      const turns = page.turns.map((turn) => ({ ...turn, speaker: speakerOf(turn, { telling, spans }) }));
      const changed = turns.filter(({ speaker }, at) => speaker !== page.turns[at]?.speaker);
      if (changed.length === 0) return { reply: DONE };
      return {
        reply: DONE,
        next: { ...state, revision: state.revision + 1 },
        effects: [
          ...writePage(state, withTurns(page, turns), facts.self),
          ...changed.map(({ serial }): Effect => {
            const resource_id = turnId(facts.self, { page: number, serial });
            const data = { changed_fields: ['speaker'], source_id };
            return { effect: 'append_event', account_id, type: 'turn.updated', resource_id, data };
          }),
        ],
      };
    }),
  },

  /** All pages are named. */
  finish_telling: ofTranscript((state, { token }: HeldTelling, facts): DoneDecision<Transcript> => {
    const { telling } = state;
    if (!isHeld(telling, token)) return { reply: NOT_HELD };
    const status = telling.status === 'undoing' ? 'undone' : 'told';
    const { next, effects } = over(state, { ...telling, status }, facts.self);
    const heard = { stream_id: facts.self, from_ms: 0, to_ms: state.covered.at(-1)?.[1] ?? 0, is_new: false };
    return { reply: DONE, next, effects: [...effects, tellLibrary(state, heard)] };
  }),
});

type NamedPage = { token: string; page: number; spans: ToldSpan[] };

/** The number of the last speaker that was told apart; 0 without one. */
function lastTold(telling: Telling | undefined): number {
  return telling === undefined ? 0 : telling.first + telling.count - 1;
}

function lengthOf(covered: readonly Interval[]): number {
  return covered.reduce((sum, [from_ms, to_ms]) => sum + to_ms - from_ms, 0);
}

function isDue({ status }: Telling): boolean {
  return status === 'telling' || status === 'undoing';
}

function isHeld(telling: Telling | undefined, token: string): telling is Telling {
  return telling !== undefined && isDue(telling) && telling.token !== '' && telling.token === token;
}

/** Whoever speaks most of the turn; nobody where nobody does. */
function speakerOf(turn: PageTurn, { telling, spans }: { telling: Telling; spans: readonly ToldSpan[] }): number {
  const { status, first, count } = telling;
  if (turn.speaker_is_manual) return turn.speaker;
  if (status === 'undoing') return turn.speaker >= first && turn.speaker < first + count ? 0 : turn.speaker;
  const shares = new Map<number, number>();
  for (const [from_ms, to_ms, speaker] of spans) {
    const shared_ms = shared([from_ms, to_ms], [turn.start_ms, turn.end_ms]);
    if (shared_ms > 0) shares.set(speaker, (shares.get(speaker) ?? 0) + shared_ms);
  }
  const [most] = [...shares].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return most === undefined ? 0 : first + most[0];
}

function placeOf(self: string): { owner: string; index: string; member: string } {
  return { ...TELLING_INDEX, member: self };
}

function due(state: Transcript, telling: Telling, self: string): JobChange<Transcript> {
  return {
    next: { ...state, telling },
    effects: dueIndexEffects(placeOf(self), { is_ms: telling.until_ms }),
  };
}

function over(state: Transcript, telling: Telling, self: string): JobChange<Transcript> {
  return {
    next: { ...state, telling: { ...telling, token: '', until_ms: 0 }, revision: state.revision + 1 },
    effects: dueIndexEffects(placeOf(self), { is_ms: null }),
  };
}

function failed(state: Transcript, { job, code }: { job: Telling; code: string }, self: string): JobChange<Transcript> {
  return over(state, { ...job, status: 'failed', code }, self);
}
