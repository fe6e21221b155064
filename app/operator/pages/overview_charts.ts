import type { ChartRow } from '../parts/chart.js';

/** The charts of the overview; `lines` are series of its history. */
export const CHART_GROUPS: readonly { id: string; title: string; hint: string; charts: readonly ChartRow[] }[] = [
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
    hint: 'Messages wait in mailboxes; a batch decides some and saves them with one commit.',
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
          ['deliveries_retryable', 'will retry'],
          ['deliveries_refused', 'refused'],
        ],
      },
      { id: 'due', title: 'Endpoints due, not taken up', unit: 'count', lines: [['endpoints_due', 'endpoints']] },
      { id: 'due-age', title: 'Oldest overdue by', unit: 's', lines: [['endpoints_due_s', 'time']] },
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

function latency(id: string, title: string, series: string): ChartRow {
  return { id, title, unit: 'ms', lines: ['p50', 'p95', 'p99'].map((share) => [`${series}_${share}_ms`, share]) };
}
