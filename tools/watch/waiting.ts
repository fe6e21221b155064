import { CallRefused, NoAnswer } from '../../kits/typescript/src/call.js';
import { Patience, pause } from '../../kits/typescript/src/retries.js';
import { wordsFor } from '../listen/feed.js';
import { UserError } from '../user_error.js';

const SAY_EVERY_MS = 60_000;
const AWAY = { pause_ms: 1_000, pause_max_ms: 30_000 };

type WaitingOptions = {
  say: (text: string) => void;
  signal: AbortSignal;
  /** Waiting for longer ends the program; null for never. */
  give_up_ms?: number | null;
  now?: () => number;
  rest?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** Repeats work until the server takes it, for hours where it must, and says each minute what it waits for. */
export class Waiting {
  readonly #options: Required<WaitingOptions>;
  readonly #patience = new Patience(AWAY);
  /** Since when nothing succeeds, and what was said of it. */
  #waits: { since_ms: number; said_ms: number; reason: string } | null = null;

  constructor(options: WaitingOptions) {
    this.#options = { give_up_ms: null, now: Date.now, rest: pause, ...options };
  }

  /**
   * `work` must be safe to repeat. Throws what no waiting mends, UserError after `give_up_ms`, and the signal's reason.
   * `too_much`: refusals with these statuses mean "not now" as well.
   */
  async until<T>(work: () => Promise<T>, { too_much = [] }: { too_much?: readonly number[] } = {}): Promise<T> {
    const { signal, rest } = this.#options;
    for (let failures = 1; ; failures++) {
      signal.throwIfAborted();
      try {
        const done = await work();
        this.#goOn();
        return done;
      } catch (error) {
        if (signal.aborted || !willPass(error, too_much)) throw error;
        this.#note(wordsFor(error));
        await rest(this.#patience.waitMs(error, failures), signal);
      }
    }
  }

  #note(reason: string): void {
    const { now, say, give_up_ms } = this.#options;
    const now_ms = now();
    const { since_ms, said_ms, reason: said } = this.#waits ?? { since_ms: now_ms, said_ms: 0, reason: '' };
    if (give_up_ms !== null && now_ms - since_ms >= give_up_ms)
      throw new UserError(`Given up for now: ${reason}. The next run goes on from here.`);
    const is_due = reason !== said || now_ms - said_ms >= SAY_EVERY_MS;
    if (is_due) say(`waiting: ${reason}`);
    this.#waits = { since_ms, said_ms: is_due ? now_ms : said_ms, reason };
  }

  #goOn(): void {
    if (this.#waits !== null) this.#options.say('going on');
    this.#waits = null;
  }
}

function willPass(error: unknown, too_much: readonly number[]): boolean {
  if (error instanceof CallRefused)
    return error.status === 429 || error.status >= 500 || too_much.includes(error.status);
  return error instanceof NoAnswer || error instanceof SyntaxError;
}
