import { byId, fill, h } from './dom.js';
import { ask } from './live.js';

/** What is wrong now, on top of every page. */

const EVERY_MS = 5_000;
/** Later than any sample: only what is wrong is wanted. */
const NO_HISTORY = 'after_ms=999999999999999';

/** @typedef {{ name: string, severity: 'grave' | 'mild', text: string, link: string }} HealthProblem */

let shown = '';

/** @param {HealthProblem[]} health_problems */
export function showBand(health_problems) {
  const text = JSON.stringify(health_problems);
  if (text === shown) return; // a screen reader would say it again
  shown = text;
  const items = health_problems.map(({ name, severity, text: words, link }) =>
    h('p', { class: `problem ${severity}`, 'data-name': name }, words, ' ', h('a', { href: link }, 'See why')),
  );
  fill(
    byId('band'),
    ...(items.length > 0 ? items : [h('p', { class: 'problem fine' }, 'Nothing is wrong that this process knows of.')]),
  );
}

/** Keeps the band up to date on pages that load something else. */
export function watchBand() {
  const look = async () => {
    if (!document.hidden) {
      await ask(`/ops/overview?${NO_HISTORY}`).then(
        ({ health_problems }) => showBand(health_problems),
        () => {}, // the page says that the server is away
      );
    }
    setTimeout(look, EVERY_MS);
  };
  void look();
}
