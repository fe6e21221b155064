/* Filters the reference by what is typed. Without this script the whole reference is there. */
const box = document.querySelector('.filter');
const input = document.getElementById('filter');
const told = document.getElementById('filter-count');

/** Those that hold every word, in their path, summary, permissions or errors. */
function filter() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const article of document.querySelectorAll('article[data-operation]')) {
    const text = `${article.querySelector('h3').textContent} ${article.dataset.words}`.toLowerCase();
    const is_found = words.every((word) => text.includes(word));
    if (is_found) shown += 1;
    article.hidden = !is_found;
    document.querySelector(`li[data-operation="${article.dataset.operation}"]`).hidden = !is_found;
  }
  for (const area of document.querySelectorAll('[data-area]')) {
    const is_empty = area.querySelector('li:not([hidden])') === null;
    area.hidden = is_empty;
    document.getElementById(area.dataset.area).hidden = is_empty;
  }
  document.body.classList.toggle('filtered', words.length > 0);
  if (words.length > 0) scrollTo({ top: 0 });
  told.textContent = words.length === 0 ? '' : `${shown} ${shown === 1 ? 'operation' : 'operations'}`;
}

/** On a phone the contents would stand before everything else. */
const contents = document.querySelector('.contents details');
if (contents !== null && !matchMedia('(min-width: 62rem)').matches) contents.open = false;

if (box !== null) {
  box.hidden = false;
  input.addEventListener('input', filter);
  input.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    input.value = '';
    filter();
  });
  // Back and forward bring what was typed back without saying so.
  if (input.value !== '') filter();
}
