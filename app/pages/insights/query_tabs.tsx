import { BASE, place } from '../../router.js';

/** Tabs that set one name of the query and keep the rest; null for the tab without it. */
export function QueryTabs({
  label,
  name,
  rows,
}: {
  label: string;
  name: string;
  rows: readonly (readonly [value: string | null, words: string])[];
}) {
  const { path, query } = place.value;
  const chosen = query.get(name);
  const addressOf = (value: string | null) => {
    const next = new URLSearchParams(query);
    if (value === null) next.delete(name);
    else next.set(name, value);
    const text = next.toString();
    return `${BASE}${path}${text === '' ? '' : `?${text}`}`;
  };
  return (
    <nav class="tabs" aria-label={label}>
      {rows.map(([value, words]) => (
        <a key={words} class="tab" href={addressOf(value)} aria-current={value === chosen ? 'true' : undefined}>
          {words}
        </a>
      ))}
    </nav>
  );
}
