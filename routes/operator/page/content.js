import { watchBand } from './band.js';
import { byId, fill, h, section, table } from './dom.js';
import { ask, live } from './live.js';
import { DROPPED } from './terms.js';
import { ago, digits, duration, span } from './words.js';

/** What becomes of recordings: who makes text and suggestions of them, what waits, what fails, and what is removed. */

/** @type {Record<string, string>} */
const BY = {
  server: 'a server',
  program: 'a program here',
  workers: 'own workers',
  nobody: 'nobody',
};

/** @type {Record<string, string>} */
const INSIGHTS_BY = {
  server: 'a language model',
  built_in: 'the server',
  workers: 'own workers',
  nobody: 'nobody',
};

const parts = h('div', {});
fill(byId('view'), parts);
watchBand();

live({
  load: () => ask('/ops/content'),
  show: (content) => fill(parts, transcription(content), failures(content), insights(content), retention(content)),
});

/** @param {[string, string | number][]} rows */
function facts(rows) {
  return h(
    'dl',
    { class: 'facts' },
    ...rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

/** @param {any} content */
function transcription({ transcriber, in_hand, waiting, last_hour }) {
  const { due, later, oldest_due_s, beyond } = waiting;
  const { windows, turns, lag_s } = last_hour;
  const more = beyond ? ' or more' : '';
  return section(
    {
      id: 'transcription',
      title: 'Transcription',
      hint: 'What waits is of all processes; the rest is what this one has seen in the last hour.',
    },
    facts([
      ['Transcribed by', BY[transcriber.by] ?? transcriber.by],
      ['Audio goes to', goesTo(transcriber.hosts)],
      ['Streams with a window due', `${digits(due)}${more}`],
      ['The first is due for', oldest_due_s === null ? '–' : span(oldest_due_s)],
      ['Streams that wait', `${digits(later)}${more}`],
      ['Windows in hand here', digits(in_hand)],
      ['Windows transcribed', digits(windows)],
      ['Turns published', digits(turns)],
      [
        'Audio to turns, p50, p99',
        lag_s === null ? '–' : `${duration(lag_s.p50 * 1000)}, ${duration(lag_s.p99 * 1000)}`,
      ],
    ]),
  );
}

/** @param {any} content */
function failures({ failing, last_hour }) {
  return section(
    {
      id: 'failures',
      title: 'Failures',
      hint:
        failing === null
          ? 'A window that fails rests for 1, 4, 16 and 60 minutes. After five tries it is left; spool content retry has it tried again.'
          : `It fails here: ${digits(failing.tries)} in a row, the first ${ago(failing.since)}.`,
    },
    failed('Failures of the last hour', last_hour.failures),
  );
}

/** @param {any} content */
function insights({ insights: { by, hosts, in_hand, waiting, failing, last_hour } }) {
  const { due, later, oldest_due_s, beyond } = waiting;
  const more = beyond ? ' or more' : '';
  return section(
    {
      id: 'insights',
      title: 'Insights',
      hint:
        failing === null
          ? 'Conversations are looked into when they are over. What fails rests for 1, 4, 16 and 60 minutes. After five tries it is left; spool content retry has it tried again.'
          : `It fails here: ${digits(failing.tries)} in a row, the first ${ago(failing.since)}.`,
    },
    facts([
      ['Looked into by', INSIGHTS_BY[by] ?? by],
      ['Text goes to', goesTo(hosts)],
      ['Accounts with something due', `${digits(due)}${more}`],
      ['The first is due for', oldest_due_s === null ? '–' : span(oldest_due_s)],
      ['Accounts that wait', `${digits(later)}${more}`],
      ['Conversations in hand here', digits(in_hand)],
      ['Conversations looked into', digits(last_hour.conversations)],
      ['Suggestions made', digits(last_hour.suggestions)],
      ['Memories made', digits(last_hour.memories)],
    ]),
    table({
      caption: 'Dropped in the last hour',
      columns: ['Why', 'How many', 'What that means'],
      rows: /** @type {any[]} */ (last_hour.dropped),
      empty: 'Nothing was dropped.',
      cells: ({ reason, count }) => [h('span', { class: 'mono' }, reason), digits(count), DROPPED[reason] ?? ''],
    }),
    failed('Conversations that failed in the last hour', last_hour.failures),
  );
}

/**
 * @param {string} caption
 * @param {any[]} rows
 */
function failed(caption, rows) {
  return table({
    caption,
    columns: ['Code', 'Tries', 'Last'],
    rows,
    empty: 'No try failed.',
    cells: ({ code, tries, last_at }) => [h('span', { class: 'mono' }, code), digits(tries), ago(last_at)],
  });
}

/** @param {string[]} hosts */
function goesTo(hosts) {
  return hosts.length === 0 ? 'nowhere else' : hosts.join(', ');
}

/** @param {any} content */
function retention({ retention: { failing_s, parts: ended, removed } }) {
  return section(
    {
      id: 'retention',
      title: 'Retention',
      hint:
        failing_s === null
          ? `Sweeps run every hour. ${digits(ended)} parts of sweeps ended here, each of one account in one workspace.`
          : `A part of a sweep has failed here for ${span(failing_s)} and is tried again; the log says why.`,
    },
    table({
      caption: 'Removed since this process started',
      columns: ['What', 'Records'],
      rows: /** @type {any[]} */ (removed),
      empty: 'Nothing was removed.',
      cells: ({ list, records }) => [list, digits(records)],
    }),
  );
}
