import { turnId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type Effect, type Facts, messagesOf, type RecordQuery } from '../actor.js';
import { samplesOutside } from './speaker_samples.js';
import { allSpeakers, announce, showContact } from './transcript_announcements.js';
import { attributionOf, contactOf, type Speakers, speakerShown } from './transcript_attribution.js';
import { writePage } from './transcript_block.js';
import { splitWords, withCorrection, withTurns } from './transcript_merge.js';
import {
  type Correction,
  charsOfTexts,
  heardText,
  isExpired,
  type PageTurn,
  type PageWords,
  pageKey,
  putWords,
  readPage,
  readWords,
  type TranscriptPage,
  textsHeld,
  withoutTexts,
} from './transcript_page.js';
import { placePage } from './transcript_publication.js';
import {
  NO_TURN,
  ofTranscript,
  putBlock,
  type Speaker,
  type SpeakerBlock,
  speakerBlockOf,
  type Transcript,
  tellLibrary,
} from './transcript_state.js';

/**
 * Corrections of a transcript by people: speakers, texts, splits, deletions, and names of speakers. Each outlives every
 * later run (transcript_merge.ts).
 */

const SPEAKER_MERGES_MAX = 64; // ours: speakers that are one

/** A turn by its place in the stream. */
export type PlacedTurn = { page: number; serial: number };

const EXPIRED_TURN = refuse('CONTENT_EXPIRED', 'The workspace does not keep this turn any longer.');
const NO_SPEAKER = refuse('NOT_FOUND', 'There is no such speaker in this stream.');
const NO_WORDS = refuse('CONFLICT', 'When the words of this turn were said is not known; it can not be split.');
const NOT_INSIDE = refuse('CONFLICT', 'No words of the turn lie on both sides of at_ms.');
const TOO_MANY = refuse(
  'CONFLICT',
  `Ten minutes of a transcript hold at most ${LIMITS.page_corrections_max} corrections.`,
);
const TOO_MUCH_TEXT = refuse(
  'CONFLICT',
  `Ten minutes of a transcript hold at most ${LIMITS.page_corrected_chars_max} characters of corrected text.`,
);
const CORRECTED = refuse(
  'CONFLICT',
  'The text of this turn was corrected. It can be split once that is undone (text: null).',
);
const FULL = refuse('CONFLICT', `Ten minutes of a transcript hold at most ${LIMITS.page_turns_max} turns.`);
const TOO_MANY_CONTACTS = refuse(
  'CONFLICT',
  `The turns of a stream show at most ${LIMITS.contacts_per_transcript_max} contacts.`,
);
const ITSELF = refuse('CONFLICT', 'A speaker can not be merged into itself.');
const TOO_MANY_MERGED = refuse('CONFLICT', `At most ${SPEAKER_MERGES_MAX} speakers can be one.`);

export const correctionMessages = messagesOf<Transcript>()({
  /** Sets the person or speaker, and the text, of one turn. */
  change_turn: {
    records: (change: TurnChange) => [...pageRecords(change), ...allSpeakers()],
    decide: ofTranscript((state, change: TurnChange, facts): Decision<Transcript, TurnReply> => {
      const found = turnAt(change, facts);
      if (isRefusal(found)) return { reply: found };
      const { page, said } = found;
      const { contact_id, speaker, text } = change;
      const names = isOtherPerson(said, change);
      const rewords = isOtherText(page, said, text);
      if (!names && !rewords) return { reply: replyOf(found) };
      if (speaker !== undefined && (speaker < 1 || speaker > state.speakers)) return { reply: NO_SPEAKER };
      const shown = contact_id == null ? { state, effects: [] } : showContact(state, contact_id, facts.self);
      if (shown === null) return { reply: TOO_MANY_CONTACTS };
      const named = names ? withPerson(page.corrections, { said, change, now_ms: facts.now_ms }) : page.corrections;
      const corrections = rewords
        ? withText({ ...page, corrections: named }, { said, text, now_ms: facts.now_ms })
        : named;
      if (corrections.length > LIMITS.page_corrections_max) return { reply: TOO_MANY };
      if (charsOfTexts(corrections) > LIMITS.page_corrected_chars_max) return { reply: TOO_MUCH_TEXT };
      // From here on it succeeds.
      const next_page = withTurns(
        { ...page, corrections },
        page.turns.map((other) => (other === said && names ? saidBy(said, change) : other)),
      );
      const changed = next_page.turns.find(({ serial }) => serial === said.serial) as PageTurn;
      const changed_fields = changedFields(speakersIn(facts), said, changed);
      return {
        reply: replyOf({ page: next_page, said: changed }),
        next: { ...shown.state, ...(names && samplesOutside(state, said)), revision: state.revision + 1 },
        effects: [
          ...writePage(state, next_page, facts.self),
          ...shown.effects,
          ...(changed_fields.length > 0 ? [updated(state, { place: change, changed_fields }, facts)] : []),
          corrected(state, said, facts),
        ],
      };
    }),
  },

  /** Splits a turn at the first word that begins at `at_ms` or later. */
  split_turn: {
    records: pageRecords,
    decide: ofTranscript(
      (state, { at_ms, ...place }: PlacedTurn & { at_ms: number }, facts): Decision<Transcript, Split> => {
        const found = turnAt(place, facts);
        if (isRefusal(found)) return { reply: found };
        const { page, words, said } = found;
        const of_turn = words.get(said.serial);
        if (of_turn === undefined) return { reply: NO_WORDS };
        // Which of the words that a person wrote were said before a moment, nobody knows.
        if (textsHeld(page.turns, page.corrections).has(said)) return { reply: CORRECTED };
        const parts = at_ms <= said.start_ms || at_ms >= said.end_ms ? null : splitWords(said.text, of_turn, at_ms);
        if (parts === null) return { reply: NOT_INSIDE };
        if (page.turns.length >= LIMITS.page_turns_max || page.next_serial >= LIMITS.page_serials_max)
          return { reply: FULL };
        const { start_ms, end_ms } = said;
        const split: Correction = { start_ms, end_ms, at_ms: facts.now_ms, kind: 'split', split_at_ms: at_ms };
        const [first, second] = parts;
        const halves = [
          { ...said, text: first.text, end_ms: first.end_ms },
          { ...said, serial: page.next_serial, text: second.text, start_ms: second.start_ms },
        ] as const;
        const corrections = halves.reduce(
          (all, half) => alsoFor(all, { of: said, half }),
          withCorrection(page.corrections, split),
        );
        if (corrections.length > LIMITS.page_corrections_max) return { reply: TOO_MANY };
        // From here on it succeeds.
        const turns = [...page.turns.filter((other) => other !== said), ...halves];
        const next_page = withTurns({ ...page, next_serial: page.next_serial + 1, corrections }, turns);
        const next_words = new Map(words).set(said.serial, first.words).set(halves[1].serial, second.words);
        const created = turnId(facts.self, { page: page.number, serial: halves[1].serial });
        const { account_id, source_id } = state;
        return {
          reply: { page: next_page, turns: [...halves] },
          next: { ...state, revision: state.revision + 1, turns: state.turns + 1 },
          effects: [
            ...writePage(state, next_page, facts.self),
            putWords(next_page, next_words),
            updated(state, { place, changed_fields: ['end_ms', 'text'] }, facts),
            { effect: 'append_event', account_id, type: 'turn.created', resource_id: created, data: { source_id } },
            corrected(state, said, facts),
          ],
        };
      },
    ),
  },

  delete_turn: {
    records: pageRecords,
    decide: ofTranscript((state, place: PlacedTurn, facts): Decision<Transcript, typeof DONE> => {
      const found = turnAt(place, facts);
      if (isRefusal(found)) return { reply: found };
      const { page, words, said } = found;
      const { start_ms, end_ms } = said;
      const deleted: Correction = { start_ms, end_ms, at_ms: facts.now_ms, kind: 'deleted' };
      const corrections = withCorrection(withoutTexts(page, [said]), deleted);
      if (corrections.length > LIMITS.page_corrections_max) return { reply: TOO_MANY };
      // From here on it succeeds.
      const next_page = withTurns(
        { ...page, corrections },
        page.turns.filter((other) => other !== said),
      );
      const placed = placePage(
        { ...state, ...samplesOutside(state, said), revision: state.revision + 1, turns: state.turns - 1 },
        { page: next_page, was: page, self: facts.self },
      );
      const { account_id, source_id } = state;
      const resource_id = turnId(facts.self, place);
      return {
        reply: DONE,
        next: placed.state,
        effects: [
          ...writePage(state, next_page, facts.self),
          ...(words.size > 0 ? [putWords(next_page, words)] : []),
          ...placed.effects,
          { effect: 'append_event', account_id, type: 'turn.deleted', resource_id, data: { source_id } },
          corrected(state, said, facts, { is_deleted: true }),
        ],
      };
    }),
  },

  /** Names a speaker: all its turns show the contact at once, unless a person set another for a turn. */
  assign_speaker: {
    records: allSpeakers,
    decide: ofTranscript((state, { speaker, contact_id }: Assigned, facts): Decision<Transcript, typeof DONE> => {
      const known = speakersIn(facts);
      const before = known.get(speaker);
      if (speaker < 1 || speaker > state.speakers || before?.into !== undefined) return { reply: NO_SPEAKER };
      if (before?.by === 'manual' && before.contact_id === contact_id) return { reply: DONE };
      const shown = contact_id === null ? { state, effects: [] } : showContact(state, contact_id, facts.self);
      if (shown === null) return { reply: TOO_MANY_CONTACTS };
      const merged = before?.merged ?? [];
      const announced = announce(shown.state, { speakers: [speaker, ...merged] }, facts);
      if (isRefusal(announced)) return { reply: announced };
      const is_seen = (before?.contact_id ?? null) !== contact_id;
      const assigned: Speaker = { contact_id, by: 'manual', ...(merged.length > 0 ? { merged } : {}) };
      known.set(speaker, assigned);
      const after = is_seen ? announced : { state: shown.state, effects: [] };
      return {
        reply: DONE,
        next: { ...after.state, revision: state.revision + 1 },
        effects: [
          ...putSpeakers(known, [speaker]),
          ...shown.effects,
          ...after.effects,
          ...(is_seen ? [corrected(state, wholeOf(state), facts)] : []),
        ],
      };
    }),
  },

  /** Merges two speakers: turns of the first show the second from now on. */
  merge_speaker: {
    records: allSpeakers,
    decide: ofTranscript(
      (state, { speaker, into }: { speaker: number; into: number }, facts): Decision<Transcript, typeof DONE> => {
        const known = speakersIn(facts);
        const [from, to] = [known.get(speaker), known.get(into)];
        if ([speaker, into].some((number) => number < 1 || number > state.speakers)) return { reply: NO_SPEAKER };
        if (from?.into === into) return { reply: DONE };
        if (from?.into !== undefined || to?.into !== undefined) return { reply: NO_SPEAKER };
        if (speaker === into) return { reply: ITSELF };
        const moved = [speaker, ...(from?.merged ?? [])];
        const merged = [...(to?.merged ?? []), ...moved];
        if (merged.length > SPEAKER_MERGES_MAX) return { reply: TOO_MANY_MERGED };
        const announced = announce(state, { speakers: moved, field: 'speaker' }, facts);
        if (isRefusal(announced)) return { reply: announced };
        for (const number of moved) known.set(number, { contact_id: null, by: 'manual', into });
        known.set(into, { contact_id: to?.contact_id ?? null, by: to?.by ?? 'recognized', merged });
        return {
          reply: DONE,
          next: { ...announced.state, revision: state.revision + 1 },
          effects: [
            ...putSpeakers(known, [...moved, into]),
            ...announced.effects,
            corrected(state, wholeOf(state), facts),
          ],
        };
      },
    ),
  },
});

/** At most one of `contact_id` and `speaker`. `text`: null for the text as it was heard. */
type TurnChange = PlacedTurn & { contact_id?: string | null; speaker?: number; text?: string | null };
type TurnReply = { page: TranscriptPage; turn: PageTurn };
type Split = { page: TranscriptPage; turns: PageTurn[] };
type Assigned = { speaker: number; contact_id: string | null };
type FoundTurn = { page: TranscriptPage; words: PageWords; said: PageTurn };

function replyOf({ page, said }: Pick<FoundTurn, 'page' | 'said'>): TurnReply {
  return { page, turn: said };
}

export function pageRecords({ page }: { page: number }): RecordQuery[] {
  return [
    { collection: 'pages', id: pageKey(page) },
    { collection: 'words', id: pageKey(page) },
  ];
}

/** A turn that can be read, or the refusal that says why there is none. */
export function turnAt({ page: number, serial }: PlacedTurn, facts: Facts): FoundTurn | Refusal {
  const page = readPage(number, facts.record('pages', pageKey(number)));
  const said = page.turns.find((one) => one.serial === serial);
  if (said === undefined) return isExpired(page, serial) ? EXPIRED_TURN : NO_TURN;
  return { page, words: readWords(number, facts.record('words', pageKey(number))), said };
}

function isOtherPerson(said: PageTurn, { contact_id, speaker }: TurnChange): boolean {
  if (speaker !== undefined) return !said.speaker_is_manual || speaker !== said.speaker;
  return contact_id !== undefined && contact_id !== said.contact_id;
}

function saidBy(said: PageTurn, { contact_id, speaker }: TurnChange): PageTurn {
  return speaker === undefined
    ? { ...said, contact_id: contact_id ?? null }
    : { ...said, speaker, speaker_is_manual: true };
}

function withPerson(
  corrections: readonly Correction[],
  { said, change, now_ms }: { said: PageTurn; change: TurnChange; now_ms: number },
): Correction[] {
  const { start_ms, end_ms } = said;
  const { contact_id = null, speaker } = change;
  const span = { start_ms, end_ms, at_ms: now_ms };
  return withCorrection(
    corrections,
    speaker === undefined ? { ...span, kind: 'contact', contact_id } : { ...span, kind: 'speaker', speaker },
  );
}

/**
 * Whether a correction changes the text; null removes a correction. A person's text stays a correction even if a later
 * run hears the same.
 */
function isOtherText({ turns, corrections }: TranscriptPage, said: PageTurn, text: string | null | undefined): boolean {
  if (text === undefined) return false;
  return text === null ? textsHeld(turns, corrections).has(said) : text !== said.text;
}

/** Replaces all earlier texts by people there. A text equal to what was heard needs no correction. */
function withText(
  page: TranscriptPage,
  { said, text, now_ms }: { said: PageTurn; text: string | null | undefined; now_ms: number },
): Correction[] {
  const { start_ms, end_ms, serial } = said;
  const others = withoutTexts(page, [said]);
  if (text == null || text === heardText(said)) return others;
  return [...others, { start_ms, end_ms, at_ms: now_ms, kind: 'text', text, serial }];
}

/** Copies the corrections of a turn to one of its halves. */
function alsoFor(corrections: Correction[], { of, half }: { of: PageTurn; half: PageTurn }): Correction[] {
  const meant = corrections.filter(
    ({ kind, start_ms, end_ms }) =>
      (kind === 'contact' || kind === 'speaker') && start_ms === of.start_ms && end_ms === of.end_ms,
  );
  return meant.reduce(
    (all, one) => withCorrection(all, { ...one, start_ms: half.start_ms, end_ms: half.end_ms }),
    corrections,
  );
}

/** The fields whose values callers see changed; `attribution` if only the person behind them differs. */
function changedFields(speakers: Speakers, was: PageTurn, is: PageTurn): string[] {
  const text = was.text === is.text ? [] : ['text'];
  if (speakerShown(speakers, was) !== speakerShown(speakers, is)) return ['speaker', ...text];
  if (contactOf(speakers, was) !== contactOf(speakers, is)) return ['contact_id', ...text];
  return attributionOf(speakers, was) === attributionOf(speakers, is) ? text : ['attribution', ...text];
}

function updated(
  { account_id, source_id }: Transcript,
  { place: { page, serial }, changed_fields }: { place: PlacedTurn; changed_fields: string[] },
  { self }: Facts,
): Effect {
  const resource_id = turnId(self, { page, serial });
  return {
    effect: 'append_event',
    account_id,
    type: 'turn.updated',
    resource_id,
    data: { changed_fields, source_id },
  };
}

/** Tells the library that turns were corrected or deleted, so that insights of them are made anew. */
function corrected(
  state: Transcript,
  { start_ms, end_ms }: Pick<PageTurn, 'start_ms' | 'end_ms'>,
  { self }: Facts,
  deleted: { is_deleted?: true } = {},
): Effect {
  return tellLibrary(state, { stream_id: self, from_ms: start_ms, to_ms: end_ms, is_new: false, ...deleted });
}

function wholeOf({ covered }: Transcript): Pick<PageTurn, 'start_ms' | 'end_ms'> {
  return { start_ms: 0, end_ms: covered.at(-1)?.[1] ?? 0 };
}

export function speakersIn(facts: Facts): Map<number, Speaker> {
  const blocks = facts.range<SpeakerBlock>('speakers');
  return new Map(
    blocks.flatMap(({ value }) => Object.entries(value).map(([number, one]) => [Number(number), one] as const)),
  );
}

/** Writes the blocks of these speakers. */
function putSpeakers(known: Map<number, Speaker>, changed: number[]): Effect[] {
  const blocks = new Set(changed.map(speakerBlockOf));
  return [...blocks].map((id) =>
    putBlock(id, Object.fromEntries([...known].filter(([number]) => speakerBlockOf(number) === id))),
  );
}
