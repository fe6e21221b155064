import { fill, h, section, table } from './dom.js';
import { ask } from './live.js';
import { digits } from './words.js';

/** Lists that come in pages, each when somebody asks for it. */

/**
 * A field of the form above a list; its name is that of the parameter. Of a choice, `options` are value and words.
 * @typedef {{ name: string, label: string, hint?: string, options?: [value: string, words: string][], number?: true }} Field
 */

/**
 * A page of a list, as the server answers it.
 * @typedef {{ items: any[], cursor: string | null, looked_at?: number, keys?: number }} Page
 */

/** @typedef {{ id: string, caption: string, columns: string[], cells: (row: any) => import('./dom.js').Child[], empty: string }} Columns */

/**
 * A table with a button that gets the next page. `begin` shows the first page.
 * @param {Columns & { path: () => string }} list
 */
export function paged({ id, path, ...columns }) {
  const place = h('div', {});
  /** @type {any[]} */
  let rows = [];
  let [address, looked_at] = ['', 0];

  /** @param {Page} page */
  const show = ({ items, cursor, looked_at: more, keys }) => {
    rows.push(...items);
    looked_at += more ?? 0;
    const empty = cursor === null ? columns.empty : 'Nothing so far.';
    const looked = keys === undefined || cursor === null ? null : lookedAt({ looked_at, keys });
    fill(
      place,
      table({ ...columns, rows, empty }),
      cursor === null ? null : h('p', { class: 'further' }, moreButton(cursor), looked),
    );
  };

  /** @param {string | null} cursor */
  const load = async (cursor) => {
    const asked = address;
    const page = await ask(cursor === null ? asked : `${asked}${asked.includes('?') ? '&' : '?'}cursor=${cursor}`);
    // Somebody may have asked for something else meanwhile.
    if (asked === address) show(page);
  };

  /** @param {string} cursor */
  const moreButton = (cursor) => {
    const press = async (/** @type {Event} */ event) => {
      const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
      button.disabled = true;
      await load(cursor).catch((error) => {
        button.disabled = false;
        button.textContent = `${error.message} Try again`;
      });
    };
    return h('button', { id: `${id}-more`, type: 'button', click: (event) => void press(event) }, 'Show more');
  };

  return {
    place,
    async begin() {
      address = path();
      [rows, looked_at] = [[], 0];
      await load(null);
    },
  };
}

/** @param {{ looked_at: number, keys: number }} looked */
function lookedAt({ looked_at, keys }) {
  return h('span', { class: 'hint' }, `Looked through ${digits(Math.min(looked_at, keys))} of ${digits(keys)} keys.`);
}

/**
 * A part of a page with a form that says what is looked for. What was looked for stands in the address.
 * @param {Columns & { title: string, hint: string, path: string, fields: Field[] }} list
 */
export function listing({ id, title, hint, path, fields, ...columns }) {
  const query = new URLSearchParams(location.search);
  const inputs = fields.map((field) => ({ field, input: inputOf(id, field, query.get(field.name) ?? '') }));
  const asked = () => {
    const given = inputs.flatMap(({ field, input }) =>
      input.value.trim() === '' ? [] : [[field.name, input.value.trim()]],
    );
    return new URLSearchParams(given);
  };
  const list = paged({ id, ...columns, path: () => `${path}?${asked()}` });
  const form = h(
    'form',
    { class: 'filter', role: 'search', 'aria-label': title },
    ...inputs.map(({ field, input }) => h('div', {}, h('label', { for: input.id }, field.label), input)),
    h('button', {}, 'Show'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = String(asked());
    window.history.replaceState(null, '', location.pathname + (text === '' ? '' : `?${text}`));
    void list.begin().catch((error) => fill(list.place, h('p', { class: 'empty' }, error.message)));
  });
  return { element: section({ id, title, hint }, form, list.place), begin: list.begin };
}

/**
 * @param {string} list
 * @param {Field} field
 * @param {string} value
 * @returns {HTMLInputElement | HTMLSelectElement}
 */
function inputOf(list, { name, options, number }, value) {
  const id = `${list}-${name}`;
  if (options === undefined) {
    /** @type {import('./dom.js').Attributes} */
    const sort = number ? { type: 'number', min: '0', max: '999999', inputmode: 'numeric' } : { type: 'search' };
    const input = h('input', { id, ...sort, value, maxlength: '300', autocomplete: 'off', spellcheck: 'false' });
    return /** @type {HTMLInputElement} */ (input);
  }
  const choices = options.map(([one, words]) => h('option', { value: one, selected: one === value }, words));
  return /** @type {HTMLSelectElement} */ (h('select', { id }, ...choices));
}
