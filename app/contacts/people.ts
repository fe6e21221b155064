import { api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';

const CONTACTS = 100;

/** Named contacts as options of a choice: id and name. */
export function usePeople(): readonly (readonly [id: string, name: string])[] {
  const contacts = useLoaded(() => api('GET /contacts', { query: { limit: CONTACTS } }), []);
  return (contacts.data?.items ?? []).flatMap(({ id, name, is_self, merged_into }) =>
    name === null || merged_into !== null ? [] : [[id, is_self ? `${name} (me)` : name] as const],
  );
}
