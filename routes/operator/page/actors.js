import { watchBand } from './band.js';
import { byId, entityLink, fill, h, section, table } from './dom.js';
import { actionButton, ask, live } from './live.js';
import { digits, duration, serverNow, span } from './words.js';

/** Kinds, who is busy, who is slow, and what needs somebody to look at it. */

const LIMIT = 20;

/** @param {number | null} ms */
const time = (ms) => (ms === null ? '–' : duration(ms));

const look = live({
  load: () => ask(`/ops/actors?limit=${LIMIT}`),
  show({ kinds, quarantined, lately, dead_letters }) {
    const within = span(lately.within_ms / 1000);
    fill(
      byId('view'),
      quarantinedPart(quarantined),
      deadLettersPart(dead_letters),
      kindsPart(kinds),
      latelyPart('slow', lately.slowest, within),
      latelyPart('busy', lately.busiest, within),
    );
  },
});
watchBand();

/** @param {any[]} rows */
function quarantinedPart(rows) {
  return section(
    {
      id: 'quarantined',
      title: 'Quarantined',
      hint: 'What is stored of them can’t be used. Repair it, then retry; without that they are tried again every 30 seconds.',
    },
    table({
      caption: 'Quarantined entities',
      columns: ['Entity', 'Reason', 'For', ''],
      rows,
      empty: 'None is quarantined.',
      cells: ({ kind, id, name, quarantined }) => [
        entity({ kind, id: name === id ? id : null, name }),
        quarantined.reason,
        span((serverNow() - quarantined.since_ms) / 1000),
        actionButton({
          ...{ text: 'Retry', id: `retry-${kind}-${name}`, label: `Retry ${kind} ${name}` },
          run: () => ask('/ops/quarantined/retry', { method: 'POST', body: { kind, id } }),
          after: look,
        }),
      ],
    }),
  );
}

/** @param {any[]} rows */
function deadLettersPart(rows) {
  return section(
    {
      id: 'dead-letters',
      title: 'Dead letters',
      hint: 'Outbox messages and reminders whose decision threw five times. A retry delivers one again.',
    },
    table({
      caption: 'Dead letters',
      columns: ['Message', 'For', ''],
      rows,
      empty: 'There is no dead letter.',
      cells: ({ partition, name, to, type }) => [
        `${name.startsWith('reminder') ? 'reminder' : 'outbox message'} ${type ?? ''}`,
        `${to.kind} ${to.name}`,
        actionButton({
          ...{
            text: 'Retry',
            id: `dead-letter-${partition}-${name}`,
            label: `Retry ${type ?? 'message'} for ${to.kind} ${to.name}`,
          },
          run: () => ask('/ops/dead-letters/retry', { method: 'POST', body: { partition, name } }),
          after: look,
        }),
      ],
    }),
  );
}

/** @param {Record<string, any>} kinds */
function kindsPart(kinds) {
  const rows = Object.entries(kinds).map(([kind, row]) => ({ kind, ...row }));
  rows.sort((a, b) => b.waiting - a.waiting || b.turns - a.turns || b.active - a.active);
  return section(
    {
      id: 'kinds',
      title: 'Kinds',
      hint: 'Entities in memory. Turns are those of the last minute; reads that memory answers take none.',
    },
    table({
      caption: 'Kinds of actors',
      columns: ['Kind', 'In memory', 'Waiting', 'Oldest', 'Turns', 'Mean', 'p99', 'Quarantined'],
      rows,
      empty: 'No entity is in memory.',
      cells: (row) => [
        row.kind,
        digits(row.active),
        digits(row.waiting),
        row.waiting === 0 ? '–' : duration(row.oldest_ms),
        digits(row.turns),
        time(row.turn_ms_mean),
        time(row.turn_ms_p99),
        digits(row.quarantined),
      ],
    }),
  );
}

/**
 * @param {'busy' | 'slow'} which
 * @param {any[]} rows
 * @param {string} within
 */
function latelyPart(which, rows, within) {
  const title = which === 'busy' ? 'Busiest now' : 'Slowest now';
  const hint =
    which === 'busy' ? `Most messages within the last ${within}.` : `Longest turn within the last ${within}.`;
  return section(
    { id: which, title, hint },
    table({
      caption: title,
      columns: ['Entity', 'Messages', 'Mean turn', 'Longest turn', 'Waiting'],
      rows,
      empty: `No entity took a turn within the last ${within}.`,
      cells: (row) => [
        entity(row),
        digits(row.messages),
        duration(row.turn_ms_mean),
        duration(row.turn_ms_max),
        digits(row.waiting),
      ],
    }),
  );
}

/** @param {{ kind: string, id: string | null, name: string }} one */
function entity({ kind, id, name }) {
  return h('span', { class: 'entity' }, `${kind} `, entityLink({ kind, id, name }));
}
