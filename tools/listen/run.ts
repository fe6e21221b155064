import { readIfThere, writeDurably } from '../../kits/typescript/src/durable_files.js';
import { backoffAfter } from '../../src/domain/backoff.js';
import { EVENT_TYPES } from '../../src/domain/event_types.js';
import { UserError } from '../user_error.js';
import type { AccountAccess } from './access.js';
import type { Display, EventRow } from './display.js';
import { AWAY, delayMs, type FeedListener, follow, type ListenedEvent } from './feed.js';
import { type Forwarded, Forwarder, type Forwarding } from './forwarder.js';
import type { ListenOptions } from './options.js';

/** So long an event that is in progress may keep a person who wants to quit. */
const QUIT_MAX_MS = 1_000;

export type Summary = { forwarded: number; failed: number; seconds: number };

/** One run: the feed on one side, the local program on the other, and the keys. */
export class Run implements FeedListener {
  readonly #display: Display;
  readonly #options: ListenOptions;
  readonly #forwarder: Forwarder;
  readonly #ending = new AbortController();
  readonly #began = performance.now();
  #last: Forwarding | null = null;
  #is_resending = false;
  #is_away = false;
  #forwarded = 0;
  #failed = 0;
  #position = 'from now on';
  #problem: string | null = null;

  constructor(options: ListenOptions, display: Display) {
    this.#options = options;
    this.#display = display;
    this.#forwarder = new Forwarder(options.forward, options.secret.key);
  }

  /** Listens until `quit`; throws when it can't begin or go on. */
  async listen(access: AccountAccess): Promise<Summary> {
    const { type, state } = this.#options;
    const { signal } = this.#ending;
    const after = (state === null ? null : await readIfThere(state).catch(unusable(state)))?.trim() || 'latest';
    const quitting = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => setTimeout(resolve, QUIT_MAX_MS).unref());
    });
    try {
      await Promise.race([follow(access, { type, after, signal, listener: this }), quitting]);
    } finally {
      this.#ending.abort();
      await this.#forwarder.close();
    }
    const seconds = (performance.now() - this.#began) / 1000;
    return { forwarded: this.#forwarded, failed: this.#failed, seconds };
  }

  quit(): void {
    this.#ending.abort();
  }

  /** Sends the last event once more, for the person who has just mended their program. */
  async again(): Promise<void> {
    if (this.#is_resending) return;
    if (this.#last === null) {
      this.#display.note('nothing to send again yet');
      return;
    }
    this.#is_resending = true;
    await this.#forward(this.#last, { is_again: true });
    this.#is_resending = false;
  }

  present(): void {
    if (!this.#is_away) {
      const { type, forward } = this.#options;
      const what = type === null ? 'all events' : `events of type ${type}`;
      this.#display.say(`forwarding ${what} to ${forward.href}\n`);
      if (type !== null && !EVENT_TYPES.some((known) => known === type))
        this.#display.note(`no event type ${type} is known here; maybe the server knows it`);
    } else this.#display.note('the server is back');
    this.#is_away = false;
    this.#problem = null;
    this.#showStatus();
  }

  async event(event: ListenedEvent): Promise<void> {
    this.#last = this.#forwarder.prepare(event);
    if (this.#options.print_json) this.#display.body(this.#last.body);
    let outcome = await this.#forward(this.#last, { is_again: false });
    for (let tries = 1; this.#options.state !== null && outcome.again; tries++) {
      await delayMs(backoffAfter(tries, AWAY), this.#ending.signal);
      // The next run begins with it.
      if (this.#ending.signal.aborted) return;
      outcome = await this.#forward(this.#last, { is_again: true });
    }
    this.#position = `at event ${event.sequence}`;
    this.#showStatus();
  }

  away(why: string, again_ms: number): void {
    // Said once; how it goes on, the line below the table says.
    if (!this.#is_away) this.#display.note(`${why}; trying again`);
    this.#is_away = true;
    this.#problem = `next try in ${Math.ceil(again_ms / 1000)} s`;
    this.#showStatus();
  }

  lost(): void {
    this.#position = 'from now on';
    this.#display.note(
      'the server does not know the position any more (was its database restored?); continuing with what happens from now on',
    );
  }

  /** Resolves once the position lies on disk. */
  async moved(cursor: string): Promise<void> {
    const { state } = this.#options;
    if (state !== null) await writeDurably(state, `${cursor}\n`).catch(unusable(state));
  }

  async #forward(forwarding: Forwarding, { is_again }: { is_again: boolean }): Promise<Forwarded> {
    const { type, id: event_id, sequence } = forwarding.event;
    const row: EventRow = { at: new Date(), type, event_id, sequence, is_again, outcome: null };
    const outcome = await this.#forwarder.send(forwarding, () => {
      row.at = new Date();
      this.#display.show(row);
    });
    // Cut off by whoever quit: nobody knows what would have come of it.
    const is_cut_off = this.#ending.signal.aborted && !outcome.ok;
    row.outcome = is_cut_off ? { ...outcome, says: 'not waited for' } : outcome;
    if (is_cut_off) return outcome;
    if (outcome.ok) this.#forwarded += 1;
    else this.#failed += 1;
    this.#display.show(row);
    this.#showStatus();
    return outcome;
  }

  #showStatus(): void {
    this.#display.status({
      forwarded: this.#forwarded,
      failed: this.#failed,
      position: this.#position,
      problem: this.#problem,
    });
  }
}

/** Throws UserError for a file that cannot be read or written. */
function unusable(file: string): (error: NodeJS.ErrnoException) => never {
  return ({ code = 'UNKNOWN' }) => {
    throw new UserError(`--state: ${file} can not be used (${code}).`);
  };
}
