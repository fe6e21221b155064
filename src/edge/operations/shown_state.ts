import { ENTITY_FIELDS, type Fields, type Hidden, S, type States } from './entity_fields.js';

const ITEMS_SHOWN_MAX = 50;
const TEXT_SHOWN_MAX = 300;

/** A state as operators see it. */
export function shownState(kind: string, state: unknown): unknown {
  const fields = Object.hasOwn(ENTITY_FIELDS, kind) ? ENTITY_FIELDS[kind as keyof States] : undefined;
  return shown(state, fields as Fields | undefined);
}

function shown(value: unknown, fields: Fields | undefined): unknown {
  if (value === null || value === undefined) return null;
  if (fields === undefined) return hidden(value);
  if (fields === S) {
    if (typeof value === 'number' || typeof value === 'boolean') return value;
    return typeof value === 'string' ? value.slice(0, TEXT_SHOWN_MAX) : hidden(value);
  }
  if (isListed(fields)) {
    if (!Array.isArray(value)) return hidden(value);
    const items = value.slice(0, ITEMS_SHOWN_MAX).map((one) => shown(one, fields[0]));
    const more = value.length - items.length;
    return more > 0 ? [...items, { hidden: 'list', size: more } satisfies Hidden] : items;
  }
  if (typeof value !== 'object' || Array.isArray(value) || ArrayBuffer.isView(value)) return hidden(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      shown(one, Object.hasOwn(fields, name) ? fields[name] : fields['*']),
    ]),
  );
}

function isListed(fields: Fields): fields is readonly [Fields] {
  return Array.isArray(fields);
}

function hidden(value: unknown): Hidden {
  switch (typeof value) {
    case 'string':
      return { hidden: 'text', size: [...value].length };
    case 'number':
    case 'bigint':
      return { hidden: 'number' };
    case 'boolean':
      return { hidden: 'yes or no' };
    default:
      if (ArrayBuffer.isView(value)) return { hidden: 'bytes', size: value.byteLength };
      if (Array.isArray(value)) return { hidden: 'list', size: value.length };
      return { hidden: 'object', size: Object.keys(value as object).length };
  }
}

/** The name of an entity on a page: its id, unless that is an address or made of a secret. */
export function shownName({ kind, id }: { kind: string; id: string }): string {
  if (kind === 'email') return `an address at ${id.slice(id.lastIndexOf('@') + 1)}`;
  if (kind === 'imported_token') return `${id.slice(0, 4)}…`;
  return id;
}
