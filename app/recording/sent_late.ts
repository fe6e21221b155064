import { effect, untracked } from '@preact/signals';
import { say } from '../language/say.js';
import { dismiss, showToast } from '../parts/toast_queue.js';
import { accessToken, presentToken, session } from '../session/session.js';

/** Requests that are sent in ten seconds, so that whoever asked for them can undo that. */

const UNDO_MS = 10_000;

type LateRequest = { method: string; path: string; body?: object };

type LateWork<Content> = {
  /** In the tab's storage: what has begun to be sent. */
  storage_key: string;
  /** Sends it and says what came of it. Never rejects. */
  send: (content: Content) => Promise<void>;
  /** Sends once more what a page that was left had begun: such requests are lost now and then. Never rejects. */
  sendAgain: (content: Content) => Promise<void>;
  /** The same as requests that a page sends as it is left. */
  requestsOf: (content: Content) => LateRequest[];
  /** It is not sent after all. */
  putBack?: (content: Content) => void;
};

type Waiting<Content> = {
  content: Content;
  onEnd: () => void;
  timer: ReturnType<typeof setTimeout>;
  toast: number;
  token: string | null;
};

/** Requests of one kind, of which one waits at most. It is sent at once when the page is left or the session ends. */
export class SentLate<Content> {
  readonly #work: LateWork<Content>;
  #waiting: Waiting<Content> | null = null;
  /** The page is being left: what its requests come to says nothing any more. */
  #is_left = false;
  #has_finished = false;

  constructor(work: LateWork<Content>) {
    this.#work = work;
    addEventListener('pagehide', () => {
      if (this.#waiting !== null) this.#keep(this.#waiting.content);
      this.#is_left = true;
      this.#sendAtOnce();
    });
    addEventListener('pageshow', () => {
      this.#is_left = false;
    });
    effect(() => {
      if (session.value.is === 'out') this.#sendAtOnce();
      if (session.value.is !== 'in' || this.#has_finished) return;
      this.#has_finished = true;
      untracked(() => this.#finish());
    });
  }

  get waiting(): Content | null {
    return this.#waiting?.content ?? null;
  }

  /** Sends it in ten seconds. `text`: what the toast says. `onEnd`: called once an answer came, or none will. */
  start(content: Content, { text, onEnd = () => {} }: { text: string; onEnd?: () => void }): void {
    const undo = () => {
      if (this.stop() !== null) this.#work.putBack?.(content);
    };
    const toast = showToast(text, 'good', { words: say('Undo'), run: undo }, UNDO_MS);
    const timer = setTimeout(() => void this.sendNow(), UNDO_MS);
    const mine: Waiting<Content> = { content, onEnd, timer, toast, token: presentToken() };
    this.#waiting = mine;
    // Whoever leaves the page waits for no token.
    accessToken().then(
      (token) => {
        mine.token = token;
      },
      () => {}, // the request itself says so
    );
  }

  /** Takes back what waits; null where nothing does. */
  stop(): Content | null {
    return this.#take()?.content ?? null;
  }

  /** Sends what waits. */
  async sendNow(): Promise<void> {
    const was = this.#take();
    if (was === null) return;
    this.#keep(was.content);
    await this.#work.send(was.content);
    this.#keep(null);
    was.onEnd();
  }

  #take(): Waiting<Content> | null {
    const was = this.#waiting;
    this.#waiting = null;
    if (was === null) return null;
    clearTimeout(was.timer);
    dismiss(was.toast);
    return was;
  }

  #keep(content: Content | null): void {
    if (this.#is_left) return;
    if (content === null) sessionStorage.removeItem(this.#work.storage_key);
    else sessionStorage.setItem(this.#work.storage_key, JSON.stringify(content));
  }

  /** Sends what the tab's last page had begun when it was left. */
  #finish(): void {
    const begun = sessionStorage.getItem(this.#work.storage_key);
    if (begun !== null) void this.#work.sendAgain(JSON.parse(begun) as Content).then(() => this.#keep(null));
  }

  /** The page goes, or whoever is signed in: no answer can be waited for. */
  #sendAtOnce(): void {
    const was = this.#take();
    if (was === null) return;
    const bearer = presentToken() ?? was.token;
    if (bearer === null) {
      this.#work.putBack?.(was.content);
      return;
    }
    for (const { method, path, body } of this.#work.requestsOf(was.content)) {
      const headers = {
        Authorization: `Bearer ${bearer}`,
        'X-API-Version': '1',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      };
      const sent = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
      void fetch(path, { ...sent, credentials: 'omit', keepalive: true }).catch(() => {});
    }
  }
}
