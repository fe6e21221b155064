/** Builds what pages show. Whatever comes from the server becomes text, never markup. */

/** @typedef {Node | string | number | null | false} Child */
/** @typedef {Record<string, string | number | boolean | null | ((event: Event) => void)>} Attributes */

/**
 * An element; functions among the attributes are listeners.
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== null && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...nodes(children));
  return element;
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children.flatMap((child) =>
    child === null || child === false ? [] : [child instanceof Node ? child : String(child)],
  );
}

/** @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`no element ${id}`);
  return found;
}

const FOCUSABLE = 'a[href], button, input, select, summary';

/**
 * Puts new content in. The focus stays where it was, and while somebody selects text nothing is put in at all.
 * @param {HTMLElement} place
 * @param {...Child} children
 */
export function fill(place, ...children) {
  const selection = document.getSelection();
  if (selection !== null && !selection.isCollapsed && place.contains(selection.anchorNode)) return;
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const at = focused === null ? -1 : [...place.querySelectorAll(FOCUSABLE)].indexOf(focused);
  place.replaceChildren(...nodes(children));
  if (focused === null) return;
  const now = [...place.querySelectorAll(FOCUSABLE)];
  const same = now.find((element) => element.id !== '' && element.id === focused.id) ?? now[at];
  if (same instanceof HTMLElement && same.textContent === focused.textContent) same.focus({ preventScroll: true });
}

/**
 * A table that becomes a list of cards where it is narrow. `cells` gives one cell for each column.
 * @template Row
 * @param {{ caption: string, columns: string[], rows: Row[], cells: (row: Row) => Child[], empty: string }} table
 */
export function table({ caption, columns, rows, cells, empty }) {
  if (rows.length === 0) return h('p', { class: 'empty' }, empty);
  const body = rows.map((row) =>
    h('tr', {}, ...cells(row).map((cell, at) => h('td', { 'data-label': columns[at] ?? '' }, h('span', {}, cell)))),
  );
  return h(
    'table',
    {},
    h('caption', {}, caption),
    h('thead', {}, h('tr', {}, ...columns.map((column) => h('th', { scope: 'col' }, column)))),
    h('tbody', {}, ...body),
  );
}

/**
 * A part of a page, with its heading.
 * @param {{ id: string, title: string, hint?: string | null }} part
 * @param {...Child} children
 */
export function section({ id, title, hint = null }, ...children) {
  const heading = `${id}-heading`;
  return h(
    'section',
    { id, 'aria-labelledby': heading },
    h('h2', { id: heading }, title),
    hint === null ? null : h('p', { class: 'hint' }, hint),
    ...children,
  );
}

/**
 * A link to an entity's page.
 * @param {{ kind: string, id: string | null, name?: string }} entity
 */
export function entityLink({ kind, id, name }) {
  const text = name ?? id ?? '';
  if (id === null) return h('span', { class: 'mono' }, text);
  const query = new URLSearchParams({ kind, id });
  return h('a', { class: 'mono', href: `/entity?${query}` }, text);
}
