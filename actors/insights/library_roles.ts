import { DONE, type DoneDecision, given, messagesOf, type Read, type RecordQuery } from '../actor.js';
import { itemIn, itemRecord } from './item_records.js';
import { NO_LIBRARY, Writing } from './library_items.js';
import type { Library, Roles, Suggestion } from './library_state.js';

/** Owners and requesters of suggestions follow speakers as these are named, until a person chooses another. */

/** A suggestion whose roles may have changed. */
export type HeardRoles = Pick<Suggestion, 'roles' | 'role_speakers' | 'revision'> & { number: number };
export type FoundRoles = { number: number; revision: number; roles: Roles };

const ofLibrary = given((state: Library | null) => state ?? NO_LIBRARY);

export const roleMessages = messagesOf<Library>()({
  /** The suggestions of a conversation whose roles no person has set. */
  heard_roles: {
    reads: true,
    records: ({ conversation }: { conversation: number }) => [itemRecord('conversation', conversation)],
    further: ({ conversation }: { conversation: number }, _state, read: Read): RecordQuery[] =>
      suggestionsOf(conversation, read).map((number) => itemRecord('suggestion', number)),
    decide(_, { conversation }: { conversation: number }, facts) {
      const heard = suggestionsOf(conversation, facts).flatMap((number): HeardRoles[] => {
        const item = itemIn(facts, 'suggestion', number);
        if (item === undefined || item.protected_fields.includes('roles')) return [];
        const { roles, role_speakers, revision } = item;
        return [{ number, roles, revision, role_speakers }];
      });
      return { reply: { heard } };
    },
  },

  /** Sets the roles by who the speakers are now. A suggestion that has changed since it was read stays as it is. */
  set_roles: {
    records: ({ found }: { found: FoundRoles[] }) => found.map(({ number }) => itemRecord('suggestion', number)),
    decide: ofLibrary((state, { found }: { found: FoundRoles[] }, facts): DoneDecision<Library> => {
      const writing = new Writing(state, facts);
      for (const { number, revision, roles } of found) {
        const was = itemIn(facts, 'suggestion', number);
        if (was?.revision !== revision) continue;
        const changed_fields = ['roles'];
        const state_version = was.state_version + 1;
        const fields = { roles, state_version };
        const item = writing.change('suggestion', number, { was, fields, by: 'pipeline', changed_fields });
        writing.suggestionEvent('suggestion.updated', number, { item, data: { changed_fields, state_version } });
      }
      return writing.effects.length === 0 ? { reply: DONE } : writing.done(DONE);
    }),
  },
});

function suggestionsOf(conversation: number, read: Pick<Read, 'record'>): number[] {
  return itemIn(read, 'conversation', conversation)?.suggestions ?? [];
}
