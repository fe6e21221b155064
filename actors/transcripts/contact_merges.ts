import { LIMITS } from '../../src/domain/limits.js';
import { isRefusal, type Refusal, refuse } from '../../src/domain/refusals.js';
import { dueIndex } from '../../src/domain/retention.js';
import { type Decision, DONE, type Effect, type Facts, type RecordQuery } from '../actor.js';
import { ANNOUNCEMENT_INDEX, CONTACTS_MEMBER } from './announcement_index.js';
import {
  type Contact,
  type Contacts,
  contactRecord,
  dropVoices,
  heardIn,
  knownIn,
  type MergedContact,
  NO_CONTACT,
  putContact,
  putOwnVoice,
  putVoice,
  updated,
  type Voice,
  type VoiceRow,
  type VoiceView,
  voicesOf,
  voiceView,
} from './contacts_state.js';

/** A contact as callers see it. */
export type SeenContact = Pick<Contact, 'name' | 'created_at_ms' | 'updated_at_ms'> & {
  id: string;
  is_self: boolean;
  merged_into: string | null;
  voice: VoiceView;
};
export const IS_MERGED = refuse('CONFLICT', 'The contact was merged into another: change that one.');
const INTO_ITSELF = refuse('CONFLICT', 'A contact can not be merged into itself.');
const INTO_MERGED = refuse('CONFLICT', 'That contact was merged into another: merge into that one.');
const TOO_MANY_MERGED = refuse('CONFLICT', `At most ${LIMITS.contact_aliases_max} contacts can be merged into one.`);
const BUSY = refuse('TOO_MANY_REQUESTS', 'Turns are still being told of earlier merges and deletions.', {
  retry_after_s: 1,
});
/** The contact was merged between the caller's read and the deletion. */
const CHANGED = refuse('UNAVAILABLE', 'The contact changes at this moment; try again.', { retry_after_s: 1 });
export type Merge = { contact_id: string; into: string };
export type Deletion = { contact_id: string; merged_into: string | null };

export function mergedRecord(id: string): RecordQuery {
  return { collection: 'merged', id };
}

export function ownVoices(contact_id: string): RecordQuery {
  return { collection: voicesOf(contact_id), range: { limit: LIMITS.voices_per_contact_max } };
}

export function wholeContact(id: string): RecordQuery[] {
  return [contactRecord(id), mergedRecord(id), ownVoices(id)];
}

export function shown({ self_id }: Contacts, id: string, { name, created_at_ms, updated_at_ms }: Contact): SeenContact {
  const voice = { state: 'none' } as const;
  return { id, name, is_self: self_id === id, merged_into: null, voice, created_at_ms, updated_at_ms };
}

export function seen(state: Contacts, id: string, facts: Facts): SeenContact | null {
  const contact = facts.record<Contact>('contacts', id);
  if (contact === undefined) return null;
  const merged_into = facts.record<MergedContact>('merged', id)?.into ?? null;
  return { ...shown(state, id, contact), merged_into, voice: voiceView(facts.range<Voice>(voicesOf(id))) };
}

/** Makes a contact the account's own person in place of another. */
export function moveSelf(state: Contacts, contact_id: string, facts: Facts): { state: Contacts; effects: Effect[] } {
  const next = { ...state, self_id: contact_id };
  if (state.self_id === null) return { state: next, effects: [] };
  const former = facts.record<Contact>('contacts', state.self_id);
  if (former === undefined) return { state: next, effects: [] };
  const effects = [
    putContact(state.self_id, { ...former, updated_at_ms: facts.now_ms }),
    updated(facts.self, state.self_id, ['is_self']),
  ];
  return { state: next, effects };
}

/** Gives the aliases of a merged contact its name. */
export function renameAliases(into: string, { aliases, name }: Contact): Effect[] {
  const value: MergedContact = { into, name };
  return aliases.map((id): Effect => ({ effect: 'put_record', collection: 'merged', id, value }));
}

export function merge(state: Contacts, { contact_id, into }: Merge, facts: Facts): Decision<Contacts, SeenContact> {
  const contact = facts.record<Contact>('contacts', contact_id);
  const target = facts.record<Contact>('contacts', into);
  const merged_into = facts.record<MergedContact>('merged', contact_id)?.into;
  if (contact === undefined) return { reply: NO_CONTACT };
  if (contact_id === into) return { reply: INTO_ITSELF };
  if (target === undefined) return { reply: refuse('NOT_FOUND', 'There is no contact to merge into.') };
  if (merged_into === into) return { reply: seen(state, contact_id, facts) ?? NO_CONTACT };
  if (contact.merged) return { reply: IS_MERGED };
  if (target.merged) return { reply: INTO_MERGED };
  const moved = [contact_id, ...contact.aliases];
  if (target.aliases.length + moved.length > LIMITS.contact_aliases_max) return { reply: TOO_MANY_MERGED };
  const announced = announce(state, moved, facts);
  if (isRefusal(announced)) return { reply: announced };
  // From here on it succeeds.
  const { now_ms, self } = facts;
  const was_self = state.self_id === contact_id;
  const voices = mergeVoices(announced.state, { contact_id, into }, facts);
  const name = target.name ?? contact.name;
  const next: Contacts = { ...announced.state, voices: voices.voices, self_id: was_self ? into : state.self_id };
  const after: Contact = { ...contact, merged: true, aliases: [], updated_at_ms: now_ms };
  const grown: Contact = { ...target, name, aliases: [...target.aliases, ...moved], updated_at_ms: now_ms };
  const of_target = [
    ...(name === target.name ? [] : ['name']),
    ...(was_self ? ['is_self'] : []),
    ...(voices.is_seen ? ['voice'] : []),
  ];
  const effects: Effect[] = [
    putContact(contact_id, after),
    putContact(into, grown),
    ...renameAliases(into, grown),
    ...voices.effects,
    ...moved.map((id) =>
      updated(self, id, was_self && id === contact_id ? ['is_self', 'merged_into'] : ['merged_into']),
    ),
    ...(of_target.length === 0 ? [] : [updated(self, into, of_target)]),
    ...announced.effects,
  ];
  return { reply: { ...shown(next, contact_id, after), merged_into: into }, next, effects };
}

/** Moves a contact's voices to another. Beyond the bound, those that were not heard for longest are removed. */
function mergeVoices(
  state: Contacts,
  { contact_id, into }: Merge,
  facts: Facts,
): { voices: Contacts['voices']; effects: Effect[]; is_seen: boolean } {
  const kept = facts.range<Voice>(voicesOf(into));
  // A voice that expired here and was learned again since may be the other's by now: its trace here says nothing any more.
  const learned_again = new Set(kept.filter(({ value }) => value.removed_at_ms === undefined).map(({ id }) => id));
  const given = facts
    .range<Voice>(voicesOf(contact_id))
    .filter(({ id, value }) => value.removed_at_ms === undefined || !learned_again.has(id));
  const all: VoiceRow[] = [...given, ...kept].sort((a, b) => a.order - b.order);
  const gone = all.slice(0, Math.max(0, all.length - LIMITS.voices_per_contact_max));
  const dropped = dropVoices(state.voices, gone, facts);
  const effects = [...dropped.effects];
  for (const { id } of gone.filter((row) => kept.includes(row)))
    effects.push({ effect: 'delete_record', collection: voicesOf(into), id });
  for (const { id, value } of given.filter((row) => !gone.includes(row))) {
    const voice = { ...value, contact_id: into };
    effects.push(...(voice.removed_at_ms === undefined ? putVoice(id, voice) : [putOwnVoice(into, id, voice)]));
  }
  if (facts.range<Voice>(voicesOf(contact_id)).length > 0)
    effects.push({ effect: 'delete_collection', collection: voicesOf(contact_id) });
  return { voices: dropped.voices, effects, is_seen: given.length > 0 };
}

export function remove(
  state: Contacts,
  { contact_id, merged_into }: Deletion,
  facts: Facts,
): Decision<Contacts, typeof DONE> {
  const contact = facts.record<Contact>('contacts', contact_id);
  if (contact === undefined) return { reply: NO_CONTACT };
  if ((facts.record<MergedContact>('merged', contact_id)?.into ?? null) !== merged_into) return { reply: CHANGED };
  const gone = [contact_id, ...contact.aliases];
  const announced = announce(state, gone, facts);
  if (isRefusal(announced)) return { reply: announced };
  // From here on it succeeds.
  const dropped = dropVoices(announced.state.voices, facts.range<Voice>(voicesOf(contact_id)), facts);
  const whole = merged_into === null ? undefined : facts.record<Contact>('contacts', merged_into);
  const effects: Effect[] = gone.flatMap((id): Effect[] => [
    { effect: 'delete_record', collection: 'contacts', id },
    { effect: 'delete_record', collection: 'merged', id },
    { effect: 'append_event', account_id: facts.self, type: 'contact.deleted', resource_id: id },
  ]);
  if (merged_into !== null && whole !== undefined)
    effects.push(putContact(merged_into, { ...whole, aliases: whole.aliases.filter((id) => id !== contact_id) }));
  effects.push({ effect: 'delete_collection', collection: voicesOf(contact_id) });
  const next: Contacts = {
    ...announced.state,
    count: state.count - gone.length,
    self_id: state.self_id === contact_id ? null : state.self_id,
    voices: dropped.voices,
  };
  return { reply: DONE, next, effects: [...effects, ...dropped.effects, ...announced.effects] };
}

/** Queues the announcement of changes to the turns that show these contacts; refused if too many wait. */
function announce(state: Contacts, ids: string[], facts: Facts): { state: Contacts; effects: Effect[] } | Refusal {
  const before = state.announcing.filter(({ contact_id }) => !ids.includes(contact_id));
  if (before.length + ids.length > LIMITS.contact_changes_max) return BUSY;
  const added = ids.map((contact_id, index) => ({ number: state.changes + index + 1, contact_id, after: null }));
  const next = { ...state, changes: state.changes + ids.length, announcing: [...before, ...added] };
  const is_listed = state.announcing.length > 0;
  const effects: Effect[] = is_listed
    ? []
    : [{ ...announcing(facts.self), effect: 'add_to_index', order: facts.now_ms }];
  return { state: next, effects };
}

/** Gives the worker that announces changes more time, within which no other worker takes them. */
export function hold({ held, ...state }: Contacts, { self, now_ms }: Facts): { next: Contacts; effects: Effect[] } {
  if (state.announcing.length === 0)
    return { next: state, effects: [{ ...announcing(self), effect: 'remove_from_index' }] };
  const until_ms = now_ms + LIMITS.announcing_lease_ms;
  return {
    next: held === undefined ? state : { ...state, held: { ...held, until_ms } },
    effects: [{ ...announcing(self), effect: 'add_to_index', order: until_ms }],
  };
}

function announcing(account_id: string) {
  return { ...ANNOUNCEMENT_INDEX, member: `${CONTACTS_MEMBER}${account_id}` };
}

export function eraseRest({ voices }: Contacts, account_id: string): Effect[] {
  const of_workspaces = Object.keys(voices).flatMap((workspace_id): Effect[] => [
    { effect: 'delete_collection', collection: knownIn(workspace_id) },
    { effect: 'delete_collection', collection: heardIn(workspace_id) },
    { effect: 'remove_from_index', owner: account_id, index: dueIndex('voices', workspace_id), member: account_id },
  ]);
  const collections = ['contacts', 'merged', 'embeddings'];
  return [
    ...of_workspaces,
    ...collections.map((collection): Effect => ({ effect: 'delete_collection', collection })),
    { ...announcing(account_id), effect: 'remove_from_index' },
    { effect: 'delete' },
  ];
}
