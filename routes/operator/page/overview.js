import { showBand } from './band.js';
import { Chart } from './chart.js';
import { byId, fill, h, section, table } from './dom.js';
import { ask, live } from './live.js';
import { ago, bytes, dateTime, digits, duration, followClock, span } from './words.js';

/** How it is doing, in figures and charts over a range of time, as far back as the server keeps it. */

/** @type {[range: string, words: string, ms: number][]} */
const RANGES = [
  ['15m', '15 min', 900_000],
  ['1h', '1 h', 3_600_000],
  ['6h', '6 h', 21_600_000],
  ['24h', '24 h', 86_400_000],
];
const asked = new URLSearchParams(location.search).get('range');
const [range, range_words, range_ms] = RANGES.find(([name]) => name === asked) ?? ['15m', '15 min', 900_000];

/** @type {{ id: string, title: string, hint: string, charts: import('./chart.js').ChartRow[] }[]} */
const GROUPS = [
  {
    id: 'requests',
    title: 'Requests',
    hint: 'By listener. Errors are answers of 5xx, refusals for load among them.',
    charts: [
      {
        id: 'rate',
        title: 'Requests',
        unit: 'per_s',
        lines: [
          ['requests_public', 'public'],
          ['requests_device', 'devices'],
          ['requests_operator', 'ops'],
        ],
      },
      {
        id: 'errors',
        title: 'Errors',
        unit: 'per_s',
        lines: [
          ['errors_public', 'public'],
          ['errors_device', 'devices'],
          ['errors_operator', 'ops'],
        ],
      },
      latency('time-public', 'Time, public', 'requests_public'),
      latency('time-device', 'Time, devices', 'requests_device'),
      latency('time-operator', 'Time, ops', 'requests_operator'),
    ],
  },
  {
    id: 'recording',
    title: 'Devices and uploads',
    hint: 'Refusals are of certificates and for load.',
    charts: [
      { id: 'upload-bytes', title: 'Audio stored', unit: 'bytes_per_s', lines: [['upload_bytes', 'bytes']] },
      { id: 'uploads', title: 'Chunks stored', unit: 'per_s', lines: [['uploads', 'chunks']] },
      { id: 'connections', title: 'Device connections', unit: 'count', lines: [['device_connections', 'open']] },
      {
        id: 'handshakes',
        title: 'Handshakes',
        unit: 'per_s',
        lines: [
          ['handshakes', 'done'],
          ['handshakes_failed', 'failed'],
          ['device_refusals', 'refused'],
        ],
      },
    ],
  },
  {
    id: 'actors',
    title: 'Actors',
    hint: 'Messages wait in mailboxes; a turn decides some and saves them with one commit.',
    charts: [
      {
        id: 'commits',
        title: 'Commits',
        unit: 'per_s',
        lines: [
          ['commits', 'commits'],
          ['conflicts', 'conflicts'],
        ],
      },
      latency('commit-time', 'Commit', 'commit'),
      {
        id: 'waiting',
        title: 'Messages waiting',
        unit: 'count',
        lines: [
          ['waiting', 'messages'],
          ['outbox_waiting', 'outbox'],
        ],
      },
      { id: 'oldest', title: 'Oldest message', unit: 'ms', lines: [['oldest_ms', 'age']] },
      {
        id: 'late',
        title: 'Reminders and outbox, p99',
        unit: 'ms',
        lines: [
          ['reminder_lateness_p99_ms', 'reminders late by'],
          ['outbox_lag_p99_ms', 'outbox after'],
        ],
      },
      { id: 'dead-letters', title: 'Dead letters', unit: 'count', lines: [['dead_letters', 'waiting']] },
    ],
  },
  {
    id: 'deliveries',
    title: 'Webhook deliveries',
    hint: 'Failures that may pass will be retried, refusals will not.',
    charts: [
      {
        id: 'attempts',
        title: 'Requests by verdict',
        unit: 'per_s',
        lines: [
          ['deliveries_accepted', 'accepted'],
          ['deliveries_passing', 'will retry'],
          ['deliveries_refused', 'refused'],
        ],
      },
      { id: 'due', title: 'Endpoints due, not taken up', unit: 'count', lines: [['endpoints_due', 'endpoints']] },
      { id: 'due-age', title: 'The first is due for', unit: 's', lines: [['endpoints_due_s', 'time']] },
    ],
  },
  {
    id: 'storage',
    title: 'Storage',
    hint: 'A gap: Redis did not answer.',
    charts: [
      { id: 'storage-time', title: 'Redis answers in', unit: 'ms', lines: [['storage_ms', 'time']] },
      { id: 'storage-memory', title: 'Redis memory', unit: 'bytes', lines: [['storage_bytes', 'used']] },
      { id: 'disk', title: 'Disk of DATA_DIR', unit: 'bytes', lines: [['disk_free_bytes', 'free']] },
    ],
  },
  {
    id: 'process',
    title: 'Process',
    hint: 'The event loop serves everybody: what delays it delays all. Of several processes the longest delay, and all memory.',
    charts: [
      { id: 'cpu', title: 'CPU, of one core', unit: 'share', lines: [['cpu_share', 'used']] },
      { id: 'loop', title: 'Event loop delay, p99', unit: 'ms', lines: [['loop_delay_ms', 'delay']] },
      {
        id: 'memory',
        title: 'Memory',
        unit: 'bytes',
        lines: [
          ['rss_bytes', 'process'],
          ['heap_bytes', 'heap'],
        ],
      },
    ],
  },
];

/**
 * @param {string} id
 * @param {string} title
 * @param {string} series
 * @returns {import('./chart.js').ChartRow}
 */
function latency(id, title, series) {
  const lines = ['p50', 'p95', 'p99'].map(
    (share) => /** @type {[string, string]} */ ([`${series}_${share}_ms`, share]),
  );
  return { id, title, unit: 'ms', lines };
}

const PROCESS_COLUMNS = [
  'Process',
  'Up for',
  'CPU',
  'Memory',
  'Loop delay',
  'Connections',
  'Requests a second',
  'Refuses',
];
const SHEDDING = { nothing: 'nothing', first: 'what may wait', all: 'all' };

const LISTENERS = { public: 'Public', device: 'Devices', operator: 'Operators' };

const summary = h('div');
const signals = h('dl', { class: 'facts' });
const facts = h('dl', { class: 'facts' });
const members = h('div');
const processes = h('div');
const charts = GROUPS.flatMap((group) => group.charts.map((row) => new Chart(row)));
const of = new Map(charts.map((chart) => [chart.row.id, chart]));
fill(
  byId('view'),
  h(
    'nav',
    { class: 'ranges', 'aria-label': 'Time range' },
    ...RANGES.map(([name, words]) =>
      h('a', { href: name === '15m' ? '/' : `/?range=${name}`, 'aria-current': name === range ? 'true' : null }, words),
    ),
  ),
  section({ id: 'summary', title: `The last ${range_words}` }, summary, signals),
  section({ id: 'server', title: 'Server' }, facts),
  section(
    {
      id: 'processes',
      title: 'Processes on this machine',
      hint: 'Those that serve these ports. Charts show all of them together.',
    },
    processes,
  ),
  ...GROUPS.map(({ id, title, hint, charts: rows }) =>
    section({ id, title, hint }, h('div', { class: 'charts' }, ...rows.map((row) => of.get(row.id)?.element ?? null))),
  ),
  section(
    { id: 'members', title: 'Processes on this Redis', hint: 'Each looks first at what is due in its partitions.' },
    members,
  ),
);

/** @type {import('./chart.js').History} */
const history = { kept_ms: 0, at_ms: [], series: {} };

/** @param {import('./chart.js').History} more */
function append(more) {
  history.kept_ms = more.kept_ms;
  // Of longer ranges all comes each time: their last row is of a step that still goes on.
  if (range !== '15m') clear();
  const last_ms = history.at_ms.at(-1) ?? 0;
  // The server began anew when its samples are older than ours, or far apart.
  if ((more.at_ms[0] ?? last_ms) < last_ms) clear();
  history.at_ms.push(...more.at_ms);
  const surplus = history.at_ms.findIndex((ms) => ms >= (history.at_ms.at(-1) ?? 0) - more.kept_ms);
  history.at_ms.splice(0, Math.max(0, surplus));
  for (const [name, row] of Object.entries(more.series)) {
    const kept = history.series[name] ?? [];
    kept.push(...row);
    kept.splice(0, Math.max(0, surplus));
    history.series[name] = kept;
  }
}

function clear() {
  history.at_ms = [];
  history.series = {};
}

/** @param {any} overview */
function showSummary({ summary: told, now }) {
  const kept_s = (Date.parse(now) - Date.parse(told.since)) / 1000;
  fill(
    summary,
    kept_s * 1000 < range_ms * 0.98
      ? h(
          'p',
          { class: 'hint' },
          `Kept since ${dateTime(told.since)}, for ${span(kept_s)}: before that this server did not run.`,
        )
      : null,
    table({
      caption: `Requests of the last ${range_words}`,
      columns: ['Listener', 'Throughput', 'Requests', 'Error rate', 'p50', 'p95', 'p99'],
      rows: [...told.listeners, { listener: 'commits', ...told.commits }],
      cells: (/** @type {any} */ row) => [
        row.listener === 'commits' ? 'Commits' : (LISTENERS[/** @type {'public'} */ (row.listener)] ?? ''),
        `${digits(row.per_s ?? row.count / Math.max(1, kept_s))}/s`,
        digits(row.requests ?? row.count),
        row.listener === 'commits' ? '–' : errorRate(row),
        ...[row.p50_ms, row.p95_ms, row.p99_ms].map((ms) => (ms === null ? '–' : duration(ms))),
      ],
      empty: '',
    }),
  );
}

/** @param {{ requests: number, errors: number }} row */
function errorRate({ requests, errors }) {
  return requests === 0 ? '–' : `${digits((errors / requests) * 100)} %`;
}

/** @param {any} overview */
function showSignals({ summary: told, storage }) {
  const last = (/** @type {string} */ name) => (history.series[name] ?? []).findLast((value) => value !== null) ?? null;
  const shown = (/** @type {number | null} */ value, /** @type {(value: number) => string} */ words) =>
    value === null ? '–' : words(value);
  const rows = [
    ['Saturation: CPU', shown(last('cpu_share'), (share) => `${digits(share * 100)} % of a core`)],
    ['Saturation: event loop', shown(last('loop_delay_ms'), duration)],
    ['Lag: outbox, p99', shown(told.outbox_p99_ms, duration)],
    ['Lag: reminders, p99', shown(told.reminders_p99_ms, duration)],
    ['Backlog: messages', shown(last('waiting'), digits)],
    ['Backlog: outbox', shown(last('outbox_waiting'), digits)],
    ['Backlog: endpoints due', shown(last('endpoints_due'), digits)],
    ['Dead letters', shown(storage.dead_letters, digits)],
  ];
  fill(signals, ...rows.map(([name, value]) => h('div', {}, h('dt', {}, name ?? ''), h('dd', {}, value ?? ''))));
}

/** @param {any} overview */
function showFacts({ now, process, storage, disk }) {
  const rows = [
    ['Version', process.version],
    ['Up for', span(process.up_s)],
    [
      'Redis',
      { away: 'does not answer', refusing: 'takes no writes' }[/** @type {'away'} */ (storage.status)] ??
        `answers in ${duration(storage.round_trip_ms ?? 0)}`,
    ],
    [
      'Append-only file',
      storage.log_healthy === null ? 'unknown' : storage.log_healthy ? 'written' : 'can’t be written',
    ],
    ['Disk free', disk === null ? 'unknown' : `${bytes(disk.free_bytes)} of ${bytes(disk.size_bytes)}`],
    ['Refused for load', SHEDDING[/** @type {'nothing'} */ (process.shedding)] ?? ''],
    ['Clock', dateTime(now)],
  ];
  fill(facts, ...rows.map(([name, value]) => h('div', {}, h('dt', {}, name ?? ''), h('dd', {}, value ?? ''))));
}

/** @param {any} overview */
function showMembers({ processes: rows }) {
  fill(
    members,
    table({
      caption: 'Processes that are alive',
      columns: ['Process', 'Machine', 'Pid', 'Started', 'Partitions'],
      rows,
      cells: (/** @type {any} */ { id, host, pid, since, partitions, answers }) => [
        h('span', { class: 'mono' }, answers ? `${id} (this one)` : id),
        ...[host, pid, ago(since), partitions],
      ],
      empty: 'Which are alive is not known at the moment.',
    }),
  );
}

/** @param {any[]} rows */
function showProcesses(rows) {
  fill(
    processes,
    table({
      caption: 'Processes that serve these ports',
      columns: PROCESS_COLUMNS,
      rows,
      cells: (/** @type {any} */ { number, pid, row }) => [
        number === null ? `${pid}` : `${number} (${pid})`,
        ...(row === null ? ['does not answer', '', '', '', '', '', ''] : cellsOf(row)),
      ],
      empty: 'None has answered.',
    }),
  );
}

/** @param {any} row */
function cellsOf(row) {
  return [
    span(row.up_s),
    row.cpu_share === null ? '' : `${Math.round(row.cpu_share * 100)} %`,
    bytes(row.rss_bytes),
    duration(row.loop_delay_ms),
    String(row.connections),
    row.requests_per_s.toFixed(1),
    SHEDDING[/** @type {'nothing'} */ (row.shedding)] ?? '',
  ];
}

live({
  load: () => ask(`/ops/overview?range=${range}&after_ms=${range === '15m' ? (history.at_ms.at(-1) ?? 0) : 0}`),
  show(overview) {
    showBand(overview);
    showFacts(overview);
    followClock(overview.now);
    showMembers(overview);
    showProcesses(overview.processes_here);
    append(overview.history);
    showSummary(overview);
    showSignals(overview);
    for (const chart of charts) chart.show(history);
  },
});
