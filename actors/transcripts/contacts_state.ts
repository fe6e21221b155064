import { refuse } from '../../src/domain/refusals.js';
import { dueIndex } from '../../src/domain/retention.js';
import type { Effect, Facts, RecordQuery } from '../actor.js';

/**
 * The people that an account's recordings hear; its id is the account's. Records:
 *
 *   contacts           by id, in the order in which they were made
 *   merged             of each contact that became a part of another: which one, and that one's name
 *   voices:<contact>   its voices, expired ones too, in the order of their clocks
 *   known:<workspace>  voices that were learned there and are a contact's, in the order of their clocks
 *   heard:<workspace>  those that are nobody's yet
 *   embeddings         by voice
 *
 * A voice's clock is when it was last matched, or learned if it never was. What a voice says of itself lies twice, so
 * that those of a contact and those of a workspace are each one run of records.
 */
export type Contacts = {
  /** The number of contacts, merged ones included. */
  count: number;
  /** The contact that is the account's own person. */
  self_id: string | null;
  /** The number of times that a contact was merged or deleted. */
  changes: number;
  /** Changes that transcripts do not know yet. */
  announcing: ContactChange[];
  /** The worker that announces them until that time. */
  held?: { holder: string; until_ms: number };
  /** The number of voices by workspace, without those that have none. */
  voices: Record<string, number>;
};

/** A change of the turns that show the contact. `after`: the last transcript that knows it. */
export type ContactChange = {
  number: number;
  contact_id: string;
  after: { order: number; member: string } | null;
};

export type Contact = {
  name: string | null;
  /** Merged into another; `merged` names it. */
  merged?: true;
  /** The contacts that were merged into this one. */
  aliases: string[];
  created_at_ms: number;
  updated_at_ms: number;
};

export type MergedContact = { into: string; name: string | null };

export type Voice = {
  workspace_id: string;
  contact_id: string | null;
  model: string;
  created_at_ms: number;
  last_matched_at_ms: number | null;
  /** When retention removed it. */
  removed_at_ms?: number;
};

export type VoiceRow = { id: string; order: number; value: Voice };

export type VoiceView =
  | { state: 'none' }
  | { state: 'recognized'; last_matched_at_ms: number | null }
  | { state: 'expired'; last_matched_at_ms: number | null; removed_at_ms: number };

export const NONE: Contacts = { count: 0, self_id: null, changes: 0, announcing: [], voices: {} };
export const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');

export const voicesOf = (contact_id: string) => `voices:${contact_id}`;
export const knownIn = (workspace_id: string) => `known:${workspace_id}`;
export const heardIn = (workspace_id: string) => `heard:${workspace_id}`;

export function clockOf({ created_at_ms, last_matched_at_ms }: Voice): number {
  return last_matched_at_ms ?? created_at_ms;
}

/** A contact's first record and event. */
export function newContact(
  id: string,
  name: string | null,
  { self, now_ms }: Facts,
): { contact: Contact; effects: Effect[] } {
  const contact: Contact = { name, aliases: [], created_at_ms: now_ms, updated_at_ms: now_ms };
  const created: Effect = { effect: 'append_event', account_id: self, type: 'contact.created', resource_id: id };
  return { contact, effects: [putContact(id, contact), created] };
}

export function updated(account_id: string, resource_id: string, changed_fields: string[]): Effect {
  return { effect: 'append_event', account_id, type: 'contact.updated', resource_id, data: { changed_fields } };
}

export function contactRecord(id: string): RecordQuery {
  return { collection: 'contacts', id };
}

export function putContact(id: string, value: Contact): Effect {
  return { effect: 'put_record', collection: 'contacts', id, value, order: value.created_at_ms };
}

/** Writes a voice in its present place, and removes it from its former one. */
export function putVoice(id: string, voice: Voice): Effect[] {
  const { workspace_id, contact_id } = voice;
  const order = clockOf(voice);
  const of_workspace = contact_id === null ? heardIn(workspace_id) : knownIn(workspace_id);
  return [
    { effect: 'put_record', collection: of_workspace, id, value: voice, order },
    ...(contact_id === null ? [] : [putOwnVoice(contact_id, id, voice)]),
  ];
}

export function putOwnVoice(contact_id: string, id: string, value: Voice): Effect {
  return { effect: 'put_record', collection: voicesOf(contact_id), id, value, order: clockOf(value) };
}

/** Removes a voice from its workspace, so that it recognises nobody. */
export function dropVoice(id: string, { workspace_id, contact_id }: Voice): Effect[] {
  const collection = contact_id === null ? heardIn(workspace_id) : knownIn(workspace_id);
  return [
    { effect: 'delete_record', collection, id },
    { effect: 'delete_record', collection: 'embeddings', id },
  ];
}

/** Counts voices added to a workspace or removed from it. The first and the last change the due list of retention. */
export function countVoices(
  voices: Contacts['voices'],
  change: { workspace_id: string; by: number },
  { self, now_ms }: Pick<Facts, 'self' | 'now_ms'>,
): { voices: Contacts['voices']; effects: Effect[] } {
  const { [change.workspace_id]: before = 0, ...others } = voices;
  const count = before + change.by;
  const place = { owner: self, index: dueIndex('voices', change.workspace_id), member: self };
  if (count <= 0) return { voices: others, effects: [{ effect: 'remove_from_index', ...place }] };
  const effects: Effect[] = before === 0 ? [{ effect: 'add_to_index', ...place, order: now_ms }] : [];
  return { voices: { ...others, [change.workspace_id]: count }, effects };
}

/** Removes the voices of contacts in all workspaces. */
export function dropVoices(
  voices: Contacts['voices'],
  rows: readonly VoiceRow[],
  facts: Pick<Facts, 'self' | 'now_ms'>,
): { voices: Contacts['voices']; effects: Effect[] } {
  const effects: Effect[] = [];
  let left = voices;
  for (const { id, value } of rows) {
    if (value.removed_at_ms !== undefined) continue;
    const counted = countVoices(left, { workspace_id: value.workspace_id, by: -1 }, facts);
    left = counted.voices;
    effects.push(...dropVoice(id, value), ...counted.effects);
  }
  return { voices: left, effects };
}

/** A contact's voices as callers see them. */
export function voiceView(rows: readonly VoiceRow[]): VoiceView {
  const living = rows.filter(({ value }) => value.removed_at_ms === undefined);
  const latest = (of: readonly VoiceRow[]) => {
    const matched = of.flatMap(({ value }) => value.last_matched_at_ms ?? []);
    return matched.length === 0 ? null : Math.max(...matched);
  };
  if (living.length > 0) return { state: 'recognized', last_matched_at_ms: latest(living) };
  if (rows.length === 0) return { state: 'none' };
  const removed_at_ms = Math.max(...rows.map(({ value }) => value.removed_at_ms ?? 0));
  return { state: 'expired', last_matched_at_ms: latest(rows), removed_at_ms };
}
