import { watchBand } from './band.js';
import { byId, entityLink, fill, h, section, table } from './dom.js';
import { ask, live } from './live.js';
import { ago, dateTime, digits, span } from './words.js';

/** Which device stopped uploading. */

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
fill(byId('view'), filter, list);

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
          ...{ id: 'silent-devices', title: 'By silence, the longest first' },
          hint: `This process has watched since ${dateTime(watched_since)} and knows the ${digits(seen_max)} devices that asked last: ${digits(seen)} so far. Silence counts from the last upload, or from when there was something to upload since.`,
        },
        table({
          caption: 'Devices',
          columns: ['Device', 'Silent for', 'Last request', 'Last upload', 'Waits for', 'Last refusal'],
          rows: items,
          empty: seen === 0 ? 'No device has asked anything of this process yet.' : 'No device is silent like that.',
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
