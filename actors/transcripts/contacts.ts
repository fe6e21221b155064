import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import {
  type Decision,
  DONE,
  defineActor,
  type Effect,
  type MessageOf,
  type RangeQuery,
  type RecordQuery,
} from '../actor.js';
import {
  type Deletion,
  eraseRest,
  hold,
  IS_MERGED,
  type Merge,
  merge,
  mergedRecord,
  moveSelf,
  ownVoices,
  remove,
  renameAliases,
  type SeenContact,
  seen,
  shown,
  wholeContact,
} from './contact_merges.js';
import {
  type Contact,
  type ContactChange,
  type Contacts,
  contactRecord,
  type MergedContact,
  NO_CONTACT,
  NONE,
  newContact,
  putContact,
  updated,
  type Voice,
  voicesOf,
  voiceView,
} from './contacts_state.js';
import { voiceMessages } from './contacts_voices.js';

const CONTACTS_RESOLVED_MAX = 200; // ours: asked for at once

export type ContactsMessage = MessageOf<typeof contacts>;

const TOO_MANY = refuse('CONFLICT', `An account has at most ${LIMITS.contacts_per_account_max} contacts.`);

/** Rule K-006; docs/areas.md, "Contacts and voices". */
export const contacts = defineActor<Contacts>()({
  kind: 'contacts',
  home: 'id',
  schema: 1,
  messages: {
    view: {
      reads: true,
      records: ({ contact_id }: { contact_id: string }) => wholeContact(contact_id),
      decide: (state, { contact_id }: { contact_id: string }, facts) => ({
        reply: seen(state ?? NONE, contact_id, facts) ?? NO_CONTACT,
      }),
    },

    /**
     * A page of contacts, without merged ones and without voices. `looked`: the number that the page was chosen from.
     */
    list: {
      records: ({ range }: { range: RangeQuery }) => [{ collection: 'contacts', range }],
      decide(state, _: { range: RangeQuery }, facts) {
        const rows = facts.range<Contact>('contacts');
        const last = rows.at(-1);
        const listed = rows.flatMap(({ id, order, value }) =>
          value.merged ? [] : [{ ...shown(state ?? NONE, id, value), order, member: id }],
        );
        return {
          reply: { contacts: listed, looked: rows.length, last: last && { order: last.order, id: last.id } },
        };
      },
    },

    /** Reads the voices of these contacts. */
    voice_views: {
      reads: true,
      records: ({ ids }: { ids: string[] }) => ids.map(ownVoices),
      decide: (_, { ids }: { ids: string[] }, facts) => ({
        reply: { voices: Object.fromEntries(ids.map((id) => [id, voiceView(facts.range<Voice>(voicesOf(id)))])) },
      }),
    },

    /** The contact that is the account's own person. */
    own: {
      reads: true,
      decide: (state, _: unknown) => ({ reply: { contact_id: state?.self_id ?? null } }),
    },

    /**
     * The present contacts behind these ids: a merged contact is the one that it was merged into, a deleted one is
     * null.
     */
    resolve: {
      reads: true,
      records: ({ ids }: { ids: string[] }) =>
        ids.slice(0, CONTACTS_RESOLVED_MAX).flatMap((id) => [contactRecord(id), mergedRecord(id)]),
      decide(_, { ids }: { ids: string[] }, facts) {
        const found = ids.slice(0, CONTACTS_RESOLVED_MAX).map((id): [string, ResolvedContact | null] => {
          const contact = facts.record<Contact>('contacts', id);
          const merged = facts.record<MergedContact>('merged', id);
          if (contact === undefined) return [id, null];
          return [id, merged === undefined ? { id, name: contact.name } : { id: merged.into, name: merged.name }];
        });
        return { reply: { contacts: Object.fromEntries(found) } };
      },
    },

    create: {
      records: ({ contact_id, is_self }: NewContact, state) => [
        contactRecord(contact_id),
        ...formerSelf(state, is_self),
      ],
      decide(state, input: NewContact, facts): Decision<Contacts, SeenContact> {
        const before = state ?? NONE;
        const { contact_id, name, is_self } = input;
        const known = facts.record<Contact>('contacts', contact_id);
        if (known !== undefined) return { reply: shown(before, contact_id, known) };
        if (before.count >= LIMITS.contacts_per_account_max) return { reply: TOO_MANY };
        const { contact, effects } = newContact(contact_id, name, facts);
        const moved = is_self ? moveSelf(before, contact_id, facts) : { state: before, effects: [] };
        const next = { ...moved.state, count: before.count + 1 };
        return { reply: shown(next, contact_id, contact), next, effects: [...effects, ...moved.effects] };
      },
    },

    change: {
      records: ({ contact_id, is_self }: ContactEdit, state) => [
        ...wholeContact(contact_id),
        ...formerSelf(state, is_self === true),
      ],
      decide(state, { contact_id, name, is_self }: ContactEdit, facts): Decision<Contacts, SeenContact> {
        const contact = facts.record<Contact>('contacts', contact_id);
        if (state === null || contact === undefined) return { reply: NO_CONTACT };
        if (contact.merged) return { reply: IS_MERGED };
        const was_self = state.self_id === contact_id;
        const changed_fields = [
          ...(name === undefined || name === contact.name ? [] : ['name']),
          ...(is_self === undefined || is_self === was_self ? [] : ['is_self']),
        ];
        if (changed_fields.length === 0) return { reply: seen(state, contact_id, facts) ?? NO_CONTACT };
        const changed: Contact = { ...contact, name: name ?? contact.name, updated_at_ms: facts.now_ms };
        const moved =
          is_self === true && !was_self
            ? moveSelf(state, contact_id, facts)
            : { state: is_self === false && was_self ? { ...state, self_id: null } : state, effects: [] };
        return {
          reply: { ...shown(moved.state, contact_id, changed), voice: voiceView(facts.range(voicesOf(contact_id))) },
          next: { ...moved.state },
          effects: [
            putContact(contact_id, changed),
            ...(changed_fields.includes('name') ? renameAliases(contact_id, changed) : []),
            updated(facts.self, contact_id, changed_fields),
            ...moved.effects,
          ],
        };
      },
    },

    /** Merges a contact into another, which gets its turns and voices. */
    merge: {
      records: ({ contact_id, into }: Merge) => [...wholeContact(contact_id), ...wholeContact(into)],
      decide: (state, input: Merge, facts): Decision<Contacts, SeenContact> => merge(state ?? NONE, input, facts),
    },

    /** Deletes a contact; its turns show nobody. `merged_into`: as the caller saw it; absent if it was not merged. */
    delete: {
      records: ({ contact_id, merged_into }: Deletion) => [
        ...wholeContact(contact_id),
        ...(merged_into === null ? [] : [contactRecord(merged_into)]),
      ],
      decide: (state, input: Deletion, facts): Decision<Contacts, typeof DONE> => remove(state ?? NONE, input, facts),
    },

    /** The first change that is not announced, for the worker that comes back with `announced`. */
    take_change(state, { holder }: { holder: string }, facts): Decision<Contacts, { change: ContactChange | null }> {
      const [change = null] = state?.announcing ?? [];
      const { held } = state ?? {};
      const is_held = held !== undefined && held.holder !== holder && facts.now_ms < held.until_ms;
      if (state === null || change === null || is_held) return { reply: { change: null } };
      return { reply: { change }, ...hold({ ...state, held: { holder, until_ms: 0 } }, facts) };
    },

    /** A change is announced to all transcripts, or (`after`) up to there. */
    announced(
      state,
      { number, after }: Pick<ContactChange, 'number' | 'after'>,
      facts,
    ): Decision<Contacts, typeof DONE> {
      const [first, ...others] = state?.announcing ?? [];
      // Where it began anew meanwhile, what was told was something else.
      if (state === null || first === undefined || first.number !== number) return { reply: DONE };
      const announcing = after === null ? others : [{ ...first, after }, ...others];
      return { reply: DONE, ...hold({ ...state, announcing }, facts) };
    },

    ...voiceMessages,

    /** Erases an account's contacts, a part with each message, until nothing is left. */
    erase: {
      records: () => [{ collection: 'contacts', range: { limit: LIMITS.contacts_erased_per_commit_max } }],
      decide(state, _: unknown, facts): Decision<Contacts, Left> {
        if (state === null) return { reply: { left: false } };
        const rows = facts.range<Contact>('contacts');
        const effects = rows.flatMap(({ id }): Effect[] => [
          { effect: 'delete_record', collection: 'contacts', id },
          { effect: 'delete_collection', collection: voicesOf(id) },
        ]);
        if (rows.length === LIMITS.contacts_erased_per_commit_max)
          return { reply: { left: true }, next: { ...state, count: state.count - rows.length }, effects };
        return { reply: { left: false }, next: null, effects: [...effects, ...eraseRest(state, facts.self)] };
      },
    },
  },

  invariant({ count, voices, announcing }) {
    if (count < 0) return 'fewer than no contacts';
    if (Object.keys(voices).length > LIMITS.voice_workspaces_max) return 'voices of too many workspaces';
    return announcing.length > LIMITS.contact_changes_max ? 'too many changes to announce' : null;
  },
});

type Left = { left: boolean };
type ResolvedContact = { id: string; name: string | null };
type NewContact = { contact_id: string; name: string; is_self: boolean };
type ContactEdit = { contact_id: string; name?: string | undefined; is_self?: boolean | undefined };

/** The contact that is no longer the account's own person once another is. */
function formerSelf(state: Contacts | null, is_self: boolean): RecordQuery[] {
  return is_self && state !== null && state.self_id !== null ? [contactRecord(state.self_id)] : [];
}
