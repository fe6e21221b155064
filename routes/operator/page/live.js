import { byId, h } from './dom.js';
import { clockTime, followClock } from './words.js';

/** Asks the server again and again while the page is looked at, and says when it does not answer. */

const EVERY_MS = 5_000;

/** Signed out, or the server refused; `status` is HTTP's. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * @param {string} path
 * @param {{ method?: string, body?: unknown }} [options]
 * @returns {Promise<any>}
 */
export async function ask(path, { method = 'GET', body } = {}) {
  const answer = await fetch(path, {
    method,
    cache: 'no-store',
    credentials: 'same-origin',
    signal: AbortSignal.timeout(15_000),
    ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (answer.status === 204) return null;
  const parsed = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, parsed.error?.message ?? `The server answered ${answer.status}.`);
  if (typeof parsed.now === 'string') followClock(parsed.now);
  return parsed;
}

/**
 * Loads now and every five seconds, or once until it succeeds, and shows what came. What was shown stays while the server is
 * away. Gives what loads at once.
 * @param {{ load: () => Promise<any>, show: (answer: any) => void, repeats?: boolean }} page
 */
export function live({ load, show, repeats = true }) {
  let answered_ms = 0;
  let asking = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const look = async () => {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    try {
      const answer = await load();
      const is_first = answered_ms === 0;
      answered_ms = Date.now();
      show(answer);
      // What the address names is there only now.
      if (is_first && location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView();
      say('live', `As of ${clockTime(answered_ms)}`);
      if (!repeats) return;
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return signedOut();
      sayAway(error);
    } finally {
      asking = false;
    }
    timer = setTimeout(look, EVERY_MS);
  };

  /** @param {unknown} error */
  const sayAway = (error) => {
    if (error instanceof Refused) say('away', `${error.message} Trying again.`);
    else if (answered_ms === 0) say('away', 'No answer from the server yet, trying again.');
    else say('away', `No answer since ${clockTime(answered_ms)}, trying again.`);
  };

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) clearTimeout(timer);
    else if (repeats || answered_ms === 0) void look();
  });
  void look();
  return look;
}

/**
 * @param {'live' | 'away'} state
 * @param {string} text
 */
function say(state, text) {
  const place = byId('state');
  place.dataset.state = state;
  place.textContent = text;
}

function signedOut() {
  const to = encodeURIComponent(location.pathname + location.search);
  const place = byId('state');
  place.dataset.state = 'away';
  place.replaceChildren('You are signed out. ', h('a', { href: `/sign-in?to=${to}` }, 'Sign in again'));
}

/**
 * A button that asks for something, says how that went, and looks again.
 * @param {{ text: string, id: string, label: string, run: () => Promise<unknown>, after: () => Promise<void> }} button
 */
export function actionButton({ text, id, label, run, after }) {
  const press = async (/** @type {Event} */ event) => {
    const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
    button.disabled = true;
    try {
      await run();
      await after();
    } catch (error) {
      button.disabled = false;
      byId('state').textContent = error instanceof Error ? error.message : String(error);
    }
  };
  return h(
    'button',
    { id, class: 'small', type: 'button', 'aria-label': label, click: (event) => void press(event) },
    text,
  );
}
