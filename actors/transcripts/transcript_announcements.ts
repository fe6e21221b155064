import { turnId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type Effect, type Facts, messagesOf, type RecordQuery } from '../actor.js';
import { ANNOUNCEMENT_INDEX, TRANSCRIPT_MEMBER } from './announcement_index.js';
import { type PageTurn, pageKey, readPage, type TranscriptPage } from './transcript_page.js';
import {
  type Announcement,
  ofTranscript,
  type SpeakerBlock,
  type Transcript,
  transcriptIndexOf,
} from './transcript_state.js';

/**
 * All turns show a change of a speaker or contact at once. The events of these turns follow, some with each commit,
 * each turn once for each change.
 */

/** The number of pages that one message reads. */
const PAGES_STEP = 4;
const BUSY = refuse('TOO_MANY_REQUESTS', 'Too many changes of this transcript are still being reported.', {
  retry_after_s: 1,
});

export const announcementMessages = messagesOf<Transcript>()({
  /** Records the next events. `silent`: no more events are allowed, and the rest is dropped. */
  announce: {
    records: (_: { silent?: boolean }, state) => {
      const [first] = state?.announcing ?? [];
      if (first === undefined) return [];
      const after = { order: first.page - 1, id: pageKey(Math.max(0, first.page - 1)) };
      return [{ collection: 'pages', range: { after, limit: PAGES_STEP } }];
    },
    decide: ofTranscript((state, { silent = false }: { silent?: boolean }, facts): Decision<Transcript, Left> => {
      const [first, ...others] = state.announcing;
      if (first === undefined) return { reply: { left: false } };
      if (silent) return step({ ...state, announcing: [] }, [], facts);
      const rows = facts.range<unknown>('pages');
      const events: Effect[] = [];
      let cursor: Announcement | null = first;
      for (const { order, value } of rows) {
        const page = readPage(order, value);
        cursor = reportPage(state, { page, cursor, events }, facts.self);
        if (events.length >= LIMITS.announced_per_commit_max) break;
      }
      const is_done = rows.length < PAGES_STEP && events.length < LIMITS.announced_per_commit_max;
      return step({ ...state, announcing: is_done ? others : [cursor, ...others] }, events, facts);
    }),
  },

  /** From the account's contacts: this contact was deleted or merged. */
  contact_changed: {
    records: allSpeakers,
    decide(
      state,
      { contact_id, into, number }: { contact_id: string; into: string | null; number: number },
      facts,
    ): Decision<Transcript, typeof DONE> {
      if (state === null || !state.contacts.includes(contact_id)) return { reply: DONE };
      // Who told it may have ended before noting so, and tells it again.
      if (number <= state.contact_change) return { reply: DONE };
      const speakers = facts
        .range<SpeakerBlock>('speakers')
        .flatMap(({ value }) => Object.entries(value))
        .flatMap(([number, speaker]) =>
          speaker.contact_id === contact_id ? [Number(number), ...(speaker.merged ?? [])] : [],
        );
      const announced = announce(state, { speakers, contact_id }, facts);
      if ('refused' in announced) return { reply: announced };
      // Whoever looks for the turns of that one finds them.
      const shown = into === null ? null : showContact(announced.state, into, facts.self);
      const next = { ...(shown?.state ?? announced.state), contact_change: number, revision: state.revision + 1 };
      return { reply: DONE, next, effects: [...announced.effects, ...(shown?.effects ?? [])] };
    },
  },
});

type Left = { left: boolean };

/** Queries all speakers. */
export function allSpeakers(): RecordQuery[] {
  const blocks = Math.floor(LIMITS.speakers_per_stream_max / LIMITS.speakers_per_block) + 1;
  return [{ collection: 'speakers', range: { limit: blocks } }];
}

/** Adds a change to announce; refused if too many wait. */
export function announce(
  state: Transcript,
  change: { speakers: number[]; field?: Announcement['field']; contact_id?: string },
  { self, now_ms }: Pick<Facts, 'self' | 'now_ms'>,
): { state: Transcript; effects: Effect[] } | Refusal {
  const { speakers, field = 'contact_id', contact_id = null } = change;
  if (state.announcing.length >= LIMITS.announcements_max) return BUSY;
  const added: Announcement = { field, speakers, contact_id, page: 0, serial: -1 };
  const member = announcementMember(self);
  const due: Effect[] =
    state.announcing.length > 0 ? [] : [{ effect: 'add_to_index', ...ANNOUNCEMENT_INDEX, member, order: now_ms }];
  return { state: { ...state, announcing: [...state.announcing, added] }, effects: due };
}

export function announcementMember(stream_id: string): string {
  return TRANSCRIPT_MEMBER + stream_id;
}

function step(next: Transcript, events: Effect[], { self }: Facts): Decision<Transcript, Left> {
  const left = next.announcing.length > 0;
  const done: Effect[] = left
    ? []
    : [{ effect: 'remove_from_index', ...ANNOUNCEMENT_INDEX, member: announcementMember(self) }];
  return { reply: { left }, next, effects: [...events, ...done] };
}

/** Announces the turns of a page that a change concerns; returns how far it came. */
function reportPage(
  { account_id, source_id }: Transcript,
  { page, cursor, events }: { page: TranscriptPage; cursor: Announcement; events: Effect[] },
  self: string,
): Announcement {
  const after = cursor.page === page.number ? cursor.serial : -1;
  const concerned = page.turns
    .filter((turn) => turn.serial > after && concerns(cursor, turn))
    .sort((a, b) => a.serial - b.serial);
  const room = LIMITS.announced_per_commit_max - events.length;
  const reported = concerned.slice(0, room);
  const data = { changed_fields: [cursor.field], source_id };
  for (const { serial } of reported) {
    const resource_id = turnId(self, { page: page.number, serial });
    events.push({ effect: 'append_event', account_id, type: 'turn.updated', resource_id, data });
  }
  const last = reported.at(-1);
  return concerned.length > room
    ? { ...cursor, page: page.number, serial: last?.serial ?? after }
    : { ...cursor, page: page.number + 1, serial: -1 };
}

function concerns({ field, speakers, contact_id }: Announcement, turn: PageTurn): boolean {
  if (field === 'speaker' || turn.contact_id === undefined) return speakers.includes(turn.speaker);
  return contact_id !== null && turn.contact_id === contact_id;
}

/** Updates the lists by which contacts find the transcripts that show them. */
export function contactLists({ account_id: owner, contacts }: Transcript, member: string): Effect[] {
  return contacts.map((id): Effect => ({ effect: 'remove_from_index', owner, index: transcriptIndexOf(id), member }));
}

/** Adds a contact that turns show; null if there are too many. */
export function showContact(
  state: Transcript,
  contact_id: string,
  self: string,
): { state: Transcript; effects: Effect[] } | null {
  if (state.contacts.includes(contact_id)) return { state, effects: [] };
  if (state.contacts.length >= LIMITS.contacts_per_transcript_max) return null;
  const place = { owner: state.account_id, index: transcriptIndexOf(contact_id), member: self };
  return {
    state: { ...state, contacts: [...state.contacts, contact_id] },
    effects: [{ effect: 'add_to_index', ...place, order: state.captured_at_ms }],
  };
}
