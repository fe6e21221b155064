import { watchBand } from './band.js';
import { byId, entityLink, fill, h, section, table } from './dom.js';
import { paged } from './listing.js';
import { actionButton, ask, live, Refused } from './live.js';
import { KINDS, meaningOf } from './terms.js';
import { ago, bytes, clockTime, dateTime, digits, duration, serverNow, span } from './words.js';

/** One entity, or those that a search found. */

const query = new URLSearchParams(location.search);
const [kind, id, wanted] = [query.get('kind'), query.get('id'), query.get('find')];

const field = /** @type {HTMLInputElement} */ (byId('find'));
field.value = wanted ?? (kind !== null && id !== null ? `${kind}:${id}` : '');
watchBand();

const look = live({
  load: async () => (kind !== null && id !== null ? load({ kind, id }) : search(wanted ?? '')),
  show: (answer) => fill(byId('view'), ...answer),
});

/** @param {string} text */
async function search(text) {
  if (text.trim() === '') return [h('p', { class: 'empty' }, 'Type an id, kind:id or an account’s email above.')];
  const { items } = await ask(`/ops/entities?find=${encodeURIComponent(text)}`);
  if (items.length === 0) return [h('p', { class: 'empty' }, 'There is nothing of this id.')];
  const [only] = items;
  const leads = items.length === 1 || only.kind === 'account';
  if (leads) {
    location.replace(`/entity?${new URLSearchParams({ kind: only.kind, id: only.id })}`);
    return [];
  }
  const row = (/** @type {any} */ one) => [one.kind, entityLink(one)];
  return [table({ caption: 'What has this id', columns: ['Kind', 'Entity'], rows: items, cells: row, empty: '' })];
}

/** @param {{ kind: string, id: string }} address */
async function load(address) {
  const view = await ask(`/ops/entity?${new URLSearchParams(address)}`).catch((error) => {
    if (error instanceof Refused && error.status === 404) return { problem: error.message };
    throw error;
  });
  if (view.problem !== undefined) return [h('p', { class: 'empty' }, view.problem)];
  byId('heading').textContent = `${words(view.kind)} ${view.name}`;
  document.title = `${words(view.kind)} · Spool operators`;
  return [
    KINDS[view.kind] === undefined ? null : h('p', { class: 'hint' }, KINDS[view.kind] ?? ''),
    factsOf(view),
    view.endpoint === null ? null : endpointPart(view.endpoint),
    view.device === null ? null : devicePart(view.device, view.stored),
    view.kind === 'account' && view.stored.is === 'kept' ? belongings(view.id) : null,
    leadsPart(view),
    statePart(view),
    recentPart(view),
    versionsPart(view),
  ];
}

/** @param {string} name */
function words(name) {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {any} view */
function factsOf({ kind: of, id: its, name, partition, stored, memory }) {
  const quarantined = memory?.quarantined ?? null;
  const rows = [
    [
      'Stored',
      {
        absent: 'nothing',
        ended: 'ended',
        kept: `version ${stored.version}, ${digits(stored.bytes ?? 0)} bytes`,
        unusable: 'can’t be used',
      }[/** @type {'kept'} */ (stored.is)],
    ],
    ['In memory', memory === null ? 'at rest' : `version ${memory.version}`],
    ['Waiting', memory === null ? '–' : digits(memory.waiting)],
    ['Turns and reads', memory === null ? '–' : digits(memory.turns)],
    ['Mean turn', memory === null || memory.turns === 0 ? '–' : duration(memory.turn_ms_mean)],
    ['Partition', digits(partition)],
  ];
  const facts = h(
    'dl',
    { class: 'facts' },
    ...rows.map(([term, value]) => h('div', {}, h('dt', {}, term ?? ''), h('dd', {}, value ?? ''))),
  );
  if (quarantined === null) return facts;
  return h(
    'div',
    {},
    h('p', { class: 'notice grave' }, `Quarantined ${ago(quarantined.since)}: ${quarantined.reason} `),
    actionButton({
      ...{ text: 'Retry', id: 'retry', label: `Retry ${of} ${name}` },
      run: () => ask('/ops/quarantined/retry', { method: 'POST', body: { kind: of, id: its } }),
      after: () => look(),
    }),
    facts,
  );
}

/** @param {any} endpoint */
function endpointPart({ headline, reasons, deliveries, host, topics, status }) {
  const blocked = reasons.some((/** @type {any} */ reason) => reason.blocks);
  return section(
    { id: 'endpoint', title: 'What it gets' },
    h('p', { class: `headline ${blocked ? 'bad' : 'good'}` }, headline),
    h(
      'ul',
      { class: 'reasons' },
      ...reasons.map((/** @type {any} */ reason) => h('li', { 'data-name': reason.name }, reason.text)),
    ),
    h(
      'p',
      { class: 'hint' },
      `Status ${status}, at ${host}, topics: ${topics.length === 0 ? 'all' : topics.join(', ')}.`,
    ),
    table({
      caption: 'Its last deliveries',
      columns: ['Event', 'Status', 'Attempts', 'Last attempt', 'Next attempt'],
      rows: /** @type {any[]} */ (deliveries),
      empty: 'Nothing was ever made for it to deliver.',
      cells: (row) => [
        row.event_type,
        row.status,
        digits(row.attempts.length),
        attempt(row.attempts.at(-1)),
        row.next_attempt_at === null ? '–' : dateTime(row.next_attempt_at),
      ],
    }),
  );
}

/** @param {any} last */
function attempt(last) {
  if (last === undefined) return '–';
  const took = last.duration_ms === null ? '' : ` after ${duration(last.duration_ms)}`;
  return `${last.status_code ?? last.error ?? 'no answer'}${took}, ${ago(last.attempted_at)}`;
}

/**
 * @param {any} device
 * @param {any} stored
 */
function devicePart({ seen, watched_since }, stored) {
  const state = stored.state ?? {};
  const certificates = state.certificates ?? { live: [], revoked_at_ms: null };
  const in_use = certificates.live.map(
    (/** @type {any} */ one) =>
      `${one.status.replace('_', ' ')}${one.not_after_ms === null ? '' : `, until ${dateTime(one.not_after_ms)}`}`,
  );
  const rows = [
    [
      'Binding',
      state.binding === null || state.binding === undefined
        ? 'bound to nobody'
        : state.binding.draining
          ? 'its session is over, uploads continue'
          : 'bound',
    ],
    [
      'Certificates',
      certificates.revoked_at_ms === null ? in_use.join('; ') : `revoked ${dateTime(certificates.revoked_at_ms)}`,
    ],
    // Stored to the minute: known of devices that have not called since this process began.
    ['Last request', ago(seen?.last_request_at ?? momentOf(state.last_seen_at_ms))],
    ['Last upload', seen === null ? `none since ${clockTime(watched_since)}` : ago(seen.last_upload_at)],
    ['Silent for', seen === null ? '–' : span(seen.silent_s)],
    [
      'Waits for',
      seen === null
        ? `not known since ${clockTime(watched_since)}`
        : `${seen.open_streams.length} open ${seen.open_streams.length === 1 ? 'stream' : 'streams'}, ${chunks(seen.awaited_chunks)} announced`,
    ],
    [
      'Last refusal',
      seen === null || seen.last_refusal === null
        ? `none since ${clockTime(watched_since)}`
        : `${seen.last_refusal.reason}, ${ago(seen.last_refusal.at)} (${seen.last_refusal.route})`,
    ],
  ];
  return section(
    {
      id: 'device',
      title: 'What it does',
      hint: `Uploads, silence and refusals are what the processes of this machine have seen since ${dateTime(watched_since)}; everything else is stored.`,
    },
    h(
      'dl',
      { class: 'facts' },
      ...rows.map(([term, value]) => h('div', {}, h('dt', {}, term ?? ''), h('dd', {}, value ?? ''))),
    ),
  );
}

/** @param {any} view */
function statePart({ kind: of, id: its, stored }) {
  const hint = 'Secrets and content are not shown: only what sort of thing is there, and how large it is.';
  const text = {
    absent: 'Nothing is stored.',
    ended: 'It has ended; nothing is left of its state.',
    unusable: stored.reason,
  };
  const shown =
    stored.is === 'kept'
      ? tree(stored.state, { kind: of, id: its, within: '' })
      : h('p', { class: 'empty' }, text[/** @type {'absent'} */ (stored.is)] ?? '');
  const size =
    stored.is === 'kept' ? `${digits(Object.keys(stored.state).length)} fields, ${digits(stored.bytes)} bytes` : '';
  const folded = h(
    'details',
    { class: 'folded', open: state_is_open, toggle: (event) => noteOpen(event) },
    h('summary', {}, 'State as it is stored', h('span', { class: 'hint' }, size)),
    h('p', { class: 'hint' }, hint),
    shown,
  );
  return h('section', { id: 'entity-state', 'aria-label': 'State' }, folded);
}

/** The page is made anew every few seconds: what somebody unfolded stays so. */
let state_is_open = false;

/** @param {Event} event */
function noteOpen(event) {
  state_is_open = /** @type {HTMLDetailsElement} */ (event.currentTarget).open;
}

/** Fields that say what an entity belongs to, or is about. @type {Record<string, string>} */
const LEADS = {
  account_id: 'Account',
  host_account_id: 'Host',
  workspace_id: 'Workspace',
  device_id: 'Device',
  source_id: 'Source',
  stream_id: 'Stream',
  client_id: 'Client',
  claim_id: 'Claim',
};

/** Where the entity leads, so that nobody has to look for it in the state. @param {any} view */
function leadsPart({ kind: of, id: its, stored }) {
  if (stored.is !== 'kept') return null;
  const found = new Map();
  const collect = (/** @type {Record<string, any>} */ state, /** @type {string} */ within) => {
    for (const [name, value] of Object.entries(state)) {
      if (value !== null && typeof value === 'object' && !Array.isArray(value) && within === '') collect(value, name);
      const label = LEADS[name];
      if (label === undefined || typeof value !== 'string' || value === its || found.has(label)) continue;
      found.set(label, shownValue(name, value, { kind: of, id: its, within }));
    }
  };
  collect(stored.state, '');
  if (found.size === 0) return null;
  return section(
    { id: 'leads', title: 'Leads to' },
    h(
      'dl',
      { class: 'facts' },
      ...[...found].map(([label, link]) => h('div', {}, h('dt', {}, label), h('dd', {}, link))),
    ),
  );
}

/** @param {number | null | undefined} ms */
function momentOf(ms) {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}

/** @param {number} count */
function chunks(count) {
  return `${digits(count)} ${count === 1 ? 'chunk' : 'chunks'}`;
}

const BELONGINGS_SHOWN = 10;

/** @type {HTMLElement | null} */
let of_account = null;

/** What belongs to the account: loaded once, page by page. @param {string} account */
function belongings(account) {
  if (of_account !== null) return of_account;
  const path = (/** @type {string} */ list) => () => `/ops/accounts/${account}/${list}?limit=${BELONGINGS_SHOWN}`;
  const lists = [
    {
      ...{ id: 'account-devices', title: 'Devices', all: `/devices?find=${account}`, path: path('devices') },
      columns: ['Device', 'Bound', 'Last call'],
      cells: (/** @type {any} */ row) => [
        h('span', { class: 'entity' }, `${row.kind} `, entityLink({ kind: 'device', id: row.device_id })),
        ago(row.bound_at),
        ago(row.last_seen_at),
      ],
      empty: 'No device is bound to it.',
    },
    {
      ...{ id: 'account-streams', title: 'Recordings', all: null, path: path('streams') },
      columns: ['Recording', 'Begins', 'Stored', 'Stands', 'From'],
      cells: (/** @type {any} */ row) => [
        entityLink({ kind: 'stream', id: row.id }),
        dateTime(row.captured_at),
        `${chunks(row.stored_chunks)}, ${bytes(row.stored_bytes)}`,
        row.end_ms === null
          ? `open${row.awaited_chunks > 0 ? `, waits for ${chunks(row.awaited_chunks)}` : ''}`
          : `ended after ${span(row.end_ms / 1000)}`,
        row.device_id === null ? 'an app' : entityLink({ kind: 'device', id: row.device_id }),
      ],
      empty: 'It has no recordings.',
    },
    {
      ...{ id: 'account-endpoints', title: 'Endpoints', all: `/endpoints?account=${account}` },
      path: () => `/ops/accounts/${account}/endpoints`,
      columns: ['Endpoint', 'Host', 'Status', 'In words'],
      cells: (/** @type {any} */ row) => [
        entityLink({ kind: 'endpoint', id: row.endpoint_id }),
        ...[row.host, row.status, row.headline],
      ],
      empty: 'Nothing is subscribed to its events.',
    },
    {
      ...{ id: 'account-grants', title: 'Grants', all: null, path: path('grants') },
      columns: ['Grant', 'Client', 'Scopes', 'Since'],
      cells: (/** @type {any} */ row) => [
        entityLink({ kind: 'grant', id: row.id }),
        entityLink({ kind: 'client', id: row.client_id }),
        row.scopes.join(' '),
        ago(row.created_at),
      ],
      empty: 'No app is connected to it.',
    },
  ];
  of_account = h('div', {});
  for (const { title, all, ...list } of lists) {
    const { place, begin } = paged({ ...list, caption: title });
    const more =
      all === null ? null : h('p', { class: 'further' }, h('a', { href: all }, `${title} on their own page`));
    of_account.append(section({ id: list.id, title }, place, more));
    begin().catch((error) => fill(place, h('p', { class: 'empty' }, error.message)));
  }
  return of_account;
}

/**
 * Whose state it is, and the field of it that is shown.
 * @typedef {{ kind: string, id: string, within: string }} Of
 */

/**
 * @param {Record<string, any>} state
 * @param {Of} of
 */
function tree(state, of) {
  const rows = Object.entries(state).map(([name, value]) => {
    const meaning = of.within === '' ? meaningOf(of.kind, name) : null;
    return h(
      'div',
      {},
      h('dt', {}, name.replace(/_ms$/, '')),
      h('dd', {}, shownValue(name, value, of), meaning === null ? null : h('p', { class: 'hint' }, meaning)),
    );
  });
  return h('dl', { class: 'tree' }, ...rows);
}

/**
 * @param {string} name
 * @param {any} value
 * @param {Of} of
 * @returns {Node | string}
 */
function shownValue(name, value, of) {
  if (value === null) return h('span', { class: 'none' }, 'none');
  if (Array.isArray(value)) {
    if (value.length === 0) return h('span', { class: 'none' }, 'empty');
    return h('ul', { class: 'items' }, ...value.map((one) => h('li', {}, shownValue(name, one, of))));
  }
  if (typeof value === 'object')
    return typeof value.hidden === 'string' ? hidden(value) : tree(value, { ...of, within: name });
  if (typeof value === 'number' && /_ms$/.test(name)) return shownTime(value);
  if (name === 'client_id') return entityLink({ kind: 'client', id: value });
  if (typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value)) return shownId(name, value, of);
  return String(value);
}

/** @param {number} ms since 1970, or how long something is */
function shownTime(ms) {
  if (ms < 1e12) return `${ms.toLocaleString('en')} ms`;
  const passed = ms > serverNow() ? `in ${span((ms - serverNow()) / 1000)}` : ago(new Date(ms).toISOString());
  return `${dateTime(ms)} (${passed})`;
}

/** Ids that no entity has: invitations lie in their workspaces, a device's own names are known to it alone. */
const LEADS_NOWHERE = ['source_stream_ref', 'invitation_id', 'invitations.id'];

/**
 * @param {string} name
 * @param {string} id
 * @param {Of} of
 */
function shownId(name, id, of) {
  const is_plain = id === of.id || LEADS_NOWHERE.some((one) => one === name || one === `${of.within}.${name}`);
  return is_plain ? h('span', { class: 'mono' }, id) : h('a', { class: 'mono', href: `/entity?find=${id}` }, id);
}

/** @param {{ hidden: string, size?: number }} value */
function hidden({ hidden: what, size }) {
  const unit = { text: 'characters', bytes: 'bytes', list: 'items', object: 'fields' }[/** @type {'text'} */ (what)];
  return h('span', { class: 'hidden' }, size === undefined ? `${what}, not shown` : `${what}, ${digits(size)} ${unit}`);
}

/** @param {any} view */
function recentPart({ recent, memory }) {
  return section(
    {
      id: 'recent',
      title: 'Recent messages',
      hint: 'Of its turns in this process: types alone, never what they say. Reads that memory answers are not among them.',
    },
    table({
      caption: 'Recent messages, the newest first',
      columns: ['At', 'Message', 'Outcome', 'Turn'],
      rows: /** @type {any[]} */ (recent).slice(0, 50),
      empty: memory === null ? 'It is at rest: none are known.' : 'None in the last 65,536 messages of this process.',
      cells: (row) => [clockTime(row.at), row.type, row.outcome, duration(row.took_ms)],
    }),
  );
}

/** @param {any} view */
function versionsPart({ versions }) {
  return section(
    { id: 'versions', title: 'Versions', hint: 'Each was saved by one commit; the message is the first of its turn.' },
    table({
      caption: 'Versions since it came into memory, the newest first',
      columns: ['Version', 'At', 'By'],
      rows: /** @type {any[]} */ (versions).slice(0, 50),
      empty: 'It was not changed since it came into memory.',
      cells: (row) => [digits(row.version), clockTime(row.at), row.type],
    }),
  );
}
