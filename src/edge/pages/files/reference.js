/* Searches the reference over all of its areas. Without it all is there. */
const SHOWN_MAX = 60;

const box = document.querySelector('.filter');
const input = document.getElementById('search');
const told = document.getElementById('search-count');
const found = document.getElementById('found');

/** Rows of the index: address, method, path, summary, area, other words. Loaded when somebody is about to search. */
let index = null;

async function load() {
  index ??= fetch(box.dataset.index).then((answer) => answer.json());
  return index;
}

async function search() {
  const typed = input.value;
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return show([], words);
  const rows = await load().catch(() => {
    index = null;
    return null;
  });
  if (input.value !== typed) return undefined;
  if (rows === null) {
    told.textContent = 'The search does not answer. Type again to try again.';
    return undefined;
  }
  return show(matching(rows, words), words);
}

/** The rows that hold every word; those that hold them in their path or summary come first. */
function matching(rows, words) {
  const holdsAll = (text) => words.every((word) => text.includes(word));
  const ranked = rows.flatMap((row) => {
    const [, method, path, summary, area, more] = row;
    const head = `${method} ${path}`.toLowerCase();
    const rank = [head, `${head} ${summary} ${area}`.toLowerCase()].findIndex(holdsAll);
    if (rank >= 0) return [{ row, rank }];
    return holdsAll(`${head} ${summary} ${area} ${more}`.toLowerCase()) ? [{ row, rank: 2 }] : [];
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ row }) => row);
}

function show(rows, words) {
  const is_searching = words.length > 0;
  document.body.classList.toggle('searching', is_searching);
  found.hidden = !is_searching;
  const heading = element('h2', '', 'Found');
  const list = element('ul', 'results');
  for (const [address, method, path, summary, area] of rows.slice(0, SHOWN_MAX)) {
    const link = element('a', 'result');
    link.href = address;
    link.append(
      element('span', `method ${method.toLowerCase()}`, method),
      element('span', 'path', path),
      element('span', 'about', `${summary} ${area}.`),
    );
    const item = element('li', '');
    item.append(link);
    list.append(item);
  }
  found.replaceChildren(...(rows.length > 0 ? [heading, list] : [heading]));
  const more = rows.length > SHOWN_MAX ? `, the first ${SHOWN_MAX} are shown` : '';
  told.textContent = is_searching ? `${rows.length} ${rows.length === 1 ? 'operation' : 'operations'}${more}` : '';
  if (is_searching) scrollTo({ top: 0 });
}

function element(tag, name, text = '') {
  const made = document.createElement(tag);
  if (name !== '') made.className = name;
  made.textContent = text;
  return made;
}

function clear() {
  input.value = '';
  void search();
  input.focus();
}

/** Down and up lead through what was found, Escape out of it. */
function step(event) {
  if (event.key === 'Escape') return clear();
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return undefined;
  const places = [input, ...found.querySelectorAll('a')];
  const next = places[places.indexOf(document.activeElement) + by];
  if (next === undefined) return undefined;
  event.preventDefault();
  return next.focus();
}

if (box !== null) {
  box.hidden = false;
  input.addEventListener('focus', () => void load().catch(() => {}), { once: true });
  input.addEventListener('input', () => void search());
  for (const place of [input, found]) place.addEventListener('keydown', step);
  found.addEventListener('click', (event) => {
    // A link to this very page loads nothing: what was searched goes away.
    if (event.target.closest('a') !== null) {
      input.value = '';
      show([], []);
    }
  });
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || document.activeElement !== document.body) return;
    event.preventDefault();
    input.focus();
  });
  // Back and forward bring what was typed back without saying so.
  if (input.value !== '') void search();
}

/** Unfolds what the address names. */
function unfold() {
  const wanted = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
  const folded = wanted?.closest('details');
  if (folded !== null && folded !== undefined) {
    folded.open = true;
    folded.scrollIntoView();
  }
}

addEventListener('hashchange', unfold);
unfold();
