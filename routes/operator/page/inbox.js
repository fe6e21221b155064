import { watchBand } from './band.js';
import { byId, fill, h, section } from './dom.js';
import { ask, live, Refused } from './live.js';
import { ago } from './words.js';

/** Mails that were not sent, for development. */

const LIMIT = 50;

/** @type {string} */
let shown = '';

live({
  load: () =>
    ask(`/inbox?limit=${LIMIT}`).catch((error) => {
      if (error instanceof Refused && error.status === 404) return { problem: error.message };
      throw error;
    }),
  show({ items, problem }) {
    const files = problem ?? items.map((/** @type {any} */ mail) => mail.file).join();
    if (files === shown && files !== '') return; // an open mail stays open
    shown = files;
    fill(
      byId('view'),
      section(
        { id: 'mails', title: 'Mails', hint: 'SMTP_URL is not set, so each mail is a file in DATA_DIR/outbox.' },
        ...content(items, problem),
      ),
    );
  },
});
watchBand();

/**
 * @param {any[]} items
 * @param {string | undefined} problem
 */
function content(items, problem) {
  if (problem !== undefined) return [h('p', { class: 'empty' }, problem)];
  if (items.length === 0) return [h('p', { class: 'empty' }, 'No mail was written yet.')];
  return items.map(({ to, subject, text, date }) =>
    h(
      'details',
      { class: 'mail' },
      h('summary', {}, h('span', { class: 'to' }, to), h('span', {}, subject), h('span', { class: 'when' }, ago(date))),
      h('pre', {}, text),
    ),
  );
}
