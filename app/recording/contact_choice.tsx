import { useEffect, useState } from 'preact/hooks';
import type { Contact } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import { say } from '../language/say.js';
import { TextField } from '../parts/field.js';
import { account } from '../shell/account.js';

const SHOWN = 6;
const TYPED_MS = 200;
const PAGE_ITEMS = 100;
const PAGES_MAX = 20;

/** Chooses a person: by name among those known, or a new one by that name. */
export function PersonField({
  label,
  value,
  onValue,
  error,
  without = [],
}: {
  label: string;
  value: string;
  onValue: (name: string) => void;
  error?: string | null;
  /** Names that are offered elsewhere already. */
  without?: readonly (string | null)[];
}) {
  const [asked, setAsked] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(value.trim()), TYPED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  const known = useLoaded(
    () => api('GET /contacts', { query: { limit: SHOWN, ...(asked === '' ? {} : { q: asked }) } }),
    [asked],
  );
  const names = (known.data?.items ?? []).flatMap(({ id, name, merged_into }) =>
    name === null || merged_into !== null || name === value || without.includes(name) ? [] : [{ id, name }],
  );
  return (
    <>
      <TextField
        label={label}
        value={value}
        onValue={onValue}
        error={error}
        required
        maxLength={100}
        autoComplete="off"
        hint={say('A new name becomes a contact.')}
      />
      {names.length > 0 && (
        <ul class="choices" aria-label={say('People you know')}>
          {names.map(({ id, name }) => (
            <li key={id}>
              <button type="button" class="choice" onClick={() => onValue(name)}>
                <bdi>{name}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The account's own person; null where no contact is. */
export async function selfContact(): Promise<Contact | null> {
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = await api('GET /contacts', { query: { limit: PAGE_ITEMS, cursor } });
    const self = page.items.find(({ is_self, merged_into }) => is_self && merged_into === null);
    if (self !== undefined) return self;
    if (page.cursor === null) break;
    cursor = page.cursor;
  }
  return null;
}

/** The account's own person; where no contact is, the one of that name becomes it. */
export async function selfContactNamed(name: string): Promise<Contact> {
  const self = await selfContact();
  if (self !== null) return self;
  const wanted = name.trim() || account.value?.name || say('Me');
  const { id } = await contactNamed(wanted);
  return api('PATCH /contacts/{id}', { path: { id }, body: { is_self: true } });
}

/** The contact of that name, made where there is none. */
export async function contactNamed(name: string): Promise<Contact> {
  const wanted = name.trim();
  const { items } = await api('GET /contacts', { query: { q: wanted, limit: SHOWN } });
  const same = items.find((one) => one.merged_into === null && one.name?.toLowerCase() === wanted.toLowerCase());
  return same ?? api('POST /contacts', { body: { name: wanted } });
}
