import type { Contact, Suggestion } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import { say } from '../language/say.js';

const PAGE_ITEMS = 100;
const PAGES_MAX = 10;

/** The newest named contacts as options of a choice: id and name. */
export function usePeople({ with_self = true } = {}): readonly (readonly [id: string, name: string])[] {
  const contacts = useLoaded(() => api('GET /contacts', { query: { limit: PAGE_ITEMS } }), []);
  return (contacts.data?.items ?? []).flatMap(({ id, name, is_self, merged_into }) =>
    name === null || merged_into !== null || (is_self && !with_self)
      ? []
      : [[id, is_self ? say('{name} (me)', { name }) : name] as const],
  );
}

/** The name of whoever is to do something; null where nobody is named. */
export function useOwnerNames(): (suggestion: Pick<Suggestion, 'roles'>) => string | null {
  const names = new Map(usePeople());
  return ({ roles }) => names.get(roles.owner_contact_id ?? '') ?? null;
}

/** Contacts whose name holds `q`, the newest first; `is_cut`: there are more. */
export async function loadContacts({ q }: { q?: string } = {}): Promise<{ items: Contact[]; is_cut: boolean }> {
  const items: Contact[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = await api('GET /contacts', { query: { limit: PAGE_ITEMS, cursor, q } });
    items.push(...page.items.filter(({ merged_into }) => merged_into === null));
    if (page.cursor === null) return { items, is_cut: false };
    cursor = page.cursor;
  }
  return { items, is_cut: true };
}
