import { watchBand } from './band.js';
import { byId, entityLink, fill, h, section, table } from './dom.js';
import { listing } from './listing.js';
import { ask, live } from './live.js';
import { ago, clockTime, dateTime, digits, span } from './words.js';

/** Which device stopped uploading, and which devices there are. */

const LIMIT = 100;

const minutes = /** @type {HTMLInputElement} */ (
  h('input', { id: 'silent', type: 'number', min: '0', max: '100000', step: '1', value: '10', inputmode: 'numeric' })
);
const recording = /** @type {HTMLInputElement} */ (h('input', { id: 'recording', type: 'checkbox', checked: true }));
const list = h('div', {});
const filter = h(
  'form',
  { class: 'filter' },
  h('div', {}, h('label', { for: 'silent' }, 'Silent for at least, minutes'), minutes),
  h(
    'label',
    { class: 'check', for: 'recording' },
    recording,
    h('span', {}, 'Only with an open stream or an announced chunk'),
  ),
);
const provisioned = listing({
  ...{ id: 'provisioned', title: 'All devices', path: '/ops/devices/provisioned' },
  hint: 'What is stored, so also of devices that have not called since this process began. By an id or a part of one, or by the email or id of the account.',
  fields: [
    { name: 'find', label: 'Device, or email or id of an account' },
    {
      name: 'state',
      label: 'How it stands',
      options: [
        ['', 'any'],
        ['bound', 'bound'],
        ['unbound', 'bound to nobody'],
        ['revoked', 'revoked'],
      ],
    },
    { name: 'unseen_min', label: 'Has not called for, minutes', number: true },
  ],
  caption: 'Devices that were provisioned',
  columns: ['Device', 'State', 'Account', 'Last call', 'Certificate until', 'Provisioned'],
  cells: (row) => [
    h('span', { class: 'entity' }, `${row.kind} `, entityLink({ kind: 'device', id: row.device_id })),
    row.state === 'unbound' ? 'bound to nobody' : row.state,
    row.account_id === null ? '–' : entityLink({ kind: 'account', id: row.account_id }),
    ago(row.last_seen_at),
    row.certificate_until === null ? '–' : dateTime(row.certificate_until),
    dateTime(row.provisioned_at),
  ],
  empty: 'There is no such device.',
});
fill(byId('view'), filter, list, provisioned.element);

const look = live({
  load() {
    const query = new URLSearchParams({
      silent_min: /^\d{1,6}$/.test(minutes.value) ? minutes.value : '0',
      recording: recording.checked ? '1' : '0',
      limit: String(LIMIT),
    });
    return ask(`/ops/devices?${query}`);
  },
  show: ({ items, seen, seen_max, watched_since }) =>
    fill(
      list,
      section(
        {
          ...{ id: 'silent-devices', title: `By silence, as seen since ${clockTime(watched_since)}` },
          hint: `The processes of this machine have watched since ${dateTime(watched_since)}, and ${digits(seen)} devices have called since (${digits(seen_max)} are kept). Silence counts from the last upload, or from when there was something to upload since.`,
        },
        table({
          caption: 'Devices',
          columns: ['Device', 'Silent for', 'Last request', 'Last upload', 'Waits for', 'Last refusal'],
          rows: items,
          empty:
            seen === 0
              ? `No device has called since ${clockTime(watched_since)}. All devices are below.`
              : 'No device is silent like that.',
          cells: (row) => [
            h(
              'span',
              { class: 'entity' },
              `${row.kind ?? 'device'} `,
              entityLink({ kind: 'device', id: row.device_id }),
            ),
            span(row.silent_s),
            ago(row.last_request_at),
            row.uploads === 0 ? 'never' : `${ago(row.last_upload_at)}, ${digits(row.uploads)} in all`,
            waitsFor(row),
            row.last_refusal === null
              ? '–'
              : `${row.last_refusal.reason}, ${ago(row.last_refusal.at)} (${row.last_refusal.route})`,
          ],
        }),
      ),
    ),
});
filter.addEventListener('submit', (event) => event.preventDefault());
filter.addEventListener('input', () => void look());
void provisioned.begin().catch(() => {}); // the part above says that the server is away
watchBand();

/** @param {{ open_streams: string[], awaited_chunks: number }} row */
function waitsFor({ open_streams, awaited_chunks }) {
  const parts = [
    ...(open_streams.length > 0
      ? [`${open_streams.length} open ${open_streams.length === 1 ? 'stream' : 'streams'}`]
      : []),
    ...(awaited_chunks > 0 ? [`${awaited_chunks} announced ${awaited_chunks === 1 ? 'chunk' : 'chunks'}`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : 'nothing';
}
