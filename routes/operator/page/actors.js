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
  show({ kinds, parked, lately, set_aside }) {
    const within = span(lately.within_ms / 1000);
    fill(
      byId('view'),
      parkedPart(parked),
      asidePart(set_aside),
      kindsPart(kinds),
      latelyPart('slow', lately.slowest, within),
      latelyPart('busy', lately.busiest, within),
    );
  },
});
watchBand();

/** @param {any[]} rows */
function parkedPart(rows) {
  return section(
    {
      id: 'parked',
      title: 'Parked',
      hint: 'What is stored of them can’t be used. Repair it, then retry; without that they are tried again every 30 seconds.',
    },
    table({
      caption: 'Parked entities',
      columns: ['Entity', 'Reason', 'For', ''],
      rows,
      empty: 'None is parked.',
      cells: ({ kind, id, name, parked }) => [
        entity({ kind, id: name === id ? id : null, name }),
        parked.reason,
        span((serverNow() - parked.since_ms) / 1000),
        actionButton({
          ...{ text: 'Retry', id: `retry-${kind}-${name}`, label: `Retry ${kind} ${name}` },
          run: () => ask('/ops/parked/retry', { method: 'POST', body: { kind, id } }),
          after: look,
        }),
      ],
    }),
  );
}

/** @param {any[]} rows */
function asidePart(rows) {
  return section(
    {
      id: 'set-aside',
      title: 'Set aside',
      hint: 'Tells and reminders whose decision threw five times. A retry hands one over again.',
    },
    table({
      caption: 'Messages that were set aside',
      columns: ['Message', 'For', ''],
      rows,
      empty: 'Nothing is set aside.',
      cells: ({ partition, name, to, type }) => [
        `${name.startsWith('reminder') ? 'reminder' : 'tell'} ${type ?? ''}`,
        `${to.kind} ${to.name}`,
        actionButton({
          ...{
            text: 'Retry',
            id: `aside-${partition}-${name}`,
            label: `Retry ${type ?? 'message'} for ${to.kind} ${to.name}`,
          },
          run: () => ask('/ops/set-aside/retry', { method: 'POST', body: { partition, name } }),
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
      columns: ['Kind', 'In memory', 'Waiting', 'Oldest', 'Turns', 'Mean', '99 of 100', 'Parked'],
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
        digits(row.parked),
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
