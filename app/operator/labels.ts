import { signal } from '@preact/signals';
import { ask } from './api.js';

/** Labels of entities, asked for together a moment after a page first names them. */

const KEPT_MS = 60_000;
/** The most that one request may ask for. */
const ASKED_MAX = 50;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** By `kind:id`. */
const labels = signal<ReadonlyMap<string, string | null>>(new Map());
const asked_ms = new Map<string, number>();
const wanted = new Set<string>();

/** Null until the label is there, and for an entity without one. The component that calls it is drawn again then. */
export function labelOf(kind: string, id: string): string | null {
  if (kind === '' || !ID.test(id)) return null;
  const name = `${kind}:${id}`;
  if (Date.now() - (asked_ms.get(name) ?? 0) > KEPT_MS) {
    asked_ms.set(name, Date.now());
    if (wanted.size === 0) setTimeout(askForWanted);
    wanted.add(name);
  }
  return labels.value.get(name) ?? null;
}

async function askForWanted(): Promise<void> {
  const names = [...wanted];
  wanted.clear();
  for (let from = 0; from < names.length; from += ASKED_MAX) {
    const entities = names.slice(from, from + ASKED_MAX);
    try {
      const { items } = await ask('GET /ops/labels', { query: { entities: entities.join(',') } });
      labels.value = new Map([
        ...labels.peek(),
        ...items.map(({ kind, id, label }) => [`${kind}:${id}`, label] as const),
      ]);
    } catch {
      // The page says that the server is away; whatever is drawn next asks again.
      for (const name of entities) asked_ms.delete(name);
    }
  }
}
