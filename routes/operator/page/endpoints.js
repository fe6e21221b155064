import { watchBand } from './band.js';
import { byId, entityLink, fill, h, section, table } from './dom.js';
import { ask, live, Refused } from './live.js';
import { ago, clockTime, digits, span } from './words.js';

/** Endpoints: those of an account, and those that get nothing, or do not accept what they get, as it is stored. */

/** @type {{ id: 'circuit_open' | 'failing' | 'disabled' | 'stopped', title: string, hint: string, empty: string, probes: boolean }[]} */
const TROUBLES = [
  {
    ...{ id: 'circuit_open', title: 'Circuit open', probes: true, empty: 'No circuit is open.' },
    hint: 'They failed five times in a row or more: single requests probe them, until one is accepted.',
  },
  {
    ...{ id: 'failing', title: 'Failing', probes: false, empty: 'No endpoint is failing.' },
    hint: 'The last request was not accepted; their circuits are closed.',
  },
  {
    ...{ id: 'disabled', title: 'Disabled after failures', probes: false, empty: 'None was disabled.' },
    hint: 'Ten deliveries in a row failed. They get nothing until the owner sets them active.',
  },
  {
    ...{ id: 'stopped', title: 'Stopped by their owners', probes: false, empty: 'None is paused or disabled.' },
    hint: 'Paused or disabled.',
  },
];

const LIMIT = 50;

const field = /** @type {HTMLInputElement} */ (
  h('input', { id: 'account', type: 'search', maxlength: '300', autocomplete: 'off', spellcheck: 'false' })
);
field.value = new URLSearchParams(location.search).get('account') ?? '';
const found = h('div', {});
const list = h('div', {});
const form = h(
  'form',
  { class: 'filter' },
  h('div', {}, h('label', { for: 'account' }, 'Endpoints of an account by its id or email, or one by its id'), field),
  h('button', {}, 'Show'),
);
fill(byId('view'), form, found, list);

const look = live({
  async load() {
    const account = new URLSearchParams(location.search).get('account');
    const [all, own] = await Promise.all([
      ask(`/ops/endpoints?limit=${LIMIT}`),
      account === null ? null : named(account),
    ]);
    return { ...all, own };
  },
  show({ own, due, in_flight, watched_since, ...lists }) {
    fill(found, own === null ? null : ownPart(own));
    fill(
      list,
      ...TROUBLES.map((trouble) => troublePart(trouble, lists[trouble.id], watched_since)),
      duePart(due, in_flight),
    );
  },
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const text = field.value.trim();
  window.history.replaceState(
    null,
    '',
    text === '' ? '/endpoints' : `/endpoints?${new URLSearchParams({ account: text })}`,
  );
  void look();
});
watchBand();

/**
 * Those of an account, or the one of this id.
 * @param {string} wanted
 */
async function named(wanted) {
  const text = encodeURIComponent(wanted);
  try {
    return await ask(`/ops/accounts/${text}/endpoints`);
  } catch (error) {
    if (!(error instanceof Refused && error.status === 404)) throw error;
  }
  return ask(`/ops/endpoints/${text}`).then(
    (one) => ({ items: [one] }),
    (error) => {
      if (error instanceof Refused && error.status === 404)
        return { problem: 'There is no such account, and no such endpoint.' };
      throw error;
    },
  );
}

/** @param {any} own */
function ownPart(own) {
  const title = 'Found';
  if (own.problem !== undefined) return section({ id: 'own', title }, h('p', { class: 'empty' }, own.problem));
  return section(
    { id: 'own', title },
    table({
      caption: title,
      columns: ['Endpoint', 'Host', 'Status', 'In words', 'Last accepted'],
      rows: /** @type {any[]} */ (own.items),
      empty: 'The account has no endpoint: nothing is subscribed.',
      cells: (row) => [
        entityLink({ kind: 'endpoint', id: row.endpoint_id }),
        row.host,
        row.status,
        h(
          'span',
          {},
          row.headline,
          ...row.reasons.map((/** @type {any} */ reason) => h('span', { class: 'reason' }, reason.text)),
        ),
        ago(row.last_success_at),
      ],
    }),
  );
}

/**
 * @param {any[]} rows
 * @param {number} in_flight
 */
function duePart(rows, in_flight) {
  return section(
    {
      id: 'due',
      title: 'Due and not taken up',
      hint: `Of each partition the one that waits for longest. ${digits(in_flight)} requests are under way here.`,
    },
    table({
      caption: 'Endpoints that are due',
      columns: ['Endpoint', 'Due for'],
      rows,
      empty: 'No endpoint is due.',
      cells: ({ endpoint_id, due_s }) => [entityLink({ kind: 'endpoint', id: endpoint_id }), span(due_s)],
    }),
  );
}

/**
 * @param {(typeof TROUBLES)[number]} trouble
 * @param {any[]} rows
 * @param {string} watched_since
 */
function troublePart({ id, title, hint, empty, probes }, rows, watched_since) {
  return section(
    { id, title, hint },
    table({
      caption: title,
      columns: [
        'Endpoint',
        'Host',
        'Since',
        'Failed in a row',
        'Last request',
        'Last accepted',
        ...(probes ? ['Next probe'] : []),
      ],
      rows,
      empty,
      cells: (row) => [
        entityLink({ kind: 'endpoint', id: row.endpoint_id }),
        row.host,
        ago(row.since),
        digits(row.failures),
        row.last === null
          ? `none since ${clockTime(watched_since)}`
          : `${row.last.status_code ?? row.last.error}, ${ago(row.last.at)}`,
        ago(row.last_success_at),
        ...(probes ? [row.next_probe_at === null ? '–' : clockTime(row.next_probe_at)] : []),
      ],
    }),
  );
}
