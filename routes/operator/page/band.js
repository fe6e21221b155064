import { byId, fill, h } from './dom.js';
import { ask } from './live.js';

/** What is wrong now, on top of every page. */

const EVERY_MS = 5_000;
/** Later than any sample: only what is wrong is wanted. */
const NO_HISTORY = 'after_ms=999999999999999';

/** @typedef {{ name: string, severity: 'grave' | 'mild', text: string, link: string }} Trouble */

let shown = '';

/** @param {Trouble[]} troubles */
export function showBand(troubles) {
  const text = JSON.stringify(troubles);
  if (text === shown) return; // a screen reader would say it again
  shown = text;
  const items = troubles.map(({ name, severity, text: words, link }) =>
    h('p', { class: `trouble ${severity}`, 'data-name': name }, words, ' ', h('a', { href: link }, 'See why')),
  );
  fill(
    byId('band'),
    ...(items.length > 0 ? items : [h('p', { class: 'trouble fine' }, 'Nothing is wrong that this process knows of.')]),
  );
}

/** Keeps the band up to date on pages that load something else. */
export function watchBand() {
  const look = async () => {
    if (!document.hidden) {
      await ask(`/ops/overview?${NO_HISTORY}`).then(
        ({ troubles }) => showBand(troubles),
        () => {}, // the page says that the server is away
      );
    }
    setTimeout(look, EVERY_MS);
  };
  void look();
}
