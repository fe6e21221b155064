import { byId, fill, h } from './dom.js';
import { ask } from './live.js';
import { dateTime } from './words.js';

/** What is wrong now, on top of every page. */

const EVERY_MS = 5_000;
/** Later than any sample: only what is wrong is wanted. */
const NO_HISTORY = 'after_ms=999999999999999';

/** @typedef {{ name: string, severity: 'grave' | 'mild', text: string, link: string }} HealthProblem */

let shown = '';

/** @param {{ health_problems: HealthProblem[], watched_since: string }} overview */
export function showBand({ health_problems, watched_since }) {
  const text = JSON.stringify(health_problems);
  if (text === shown) return; // a screen reader would say it again
  shown = text;
  const items = health_problems.map(({ name, severity, text: words, link }) =>
    h('p', { class: `problem ${severity}`, 'data-name': name }, words, ' ', h('a', { href: link }, 'See why')),
  );
  fill(
    byId('band'),
    ...(items.length > 0
      ? items
      : [
          h(
            'p',
            { class: 'problem fine' },
            `Nothing is known to be wrong. What devices do is known since ${dateTime(watched_since)}.`,
          ),
        ]),
  );
}

/** Keeps the band up to date on pages that load something else. */
export function watchBand() {
  const look = async () => {
    if (!document.hidden) {
      await ask(`/ops/overview?${NO_HISTORY}`).then(
        (overview) => showBand(overview),
        () => {}, // the page says that the server is away
      );
    }
    setTimeout(look, EVERY_MS);
  };
  void look();
}
