import type { Display, EventRow, Terminal } from './display.js';
import { printable } from './printable.js';

/** A line an event, for files and pipes. */
export class PlainLines implements Display {
  readonly #out: Terminal;

  constructor(out: Terminal) {
    this.#out = out;
  }

  say(text: string): void {
    this.#out.write(`${text}\n`);
  }

  show({ at, type, event_id, is_again, outcome }: EventRow): void {
    if (outcome === null) return;
    const { ok, says, duration_ms } = outcome;
    const words = [at.toISOString(), type, event_id, ok ? 'forwarded' : 'failed', `${says},`, `${duration_ms} ms`];
    this.say(printable(`${words.join(' ')}${is_again ? ' (again)' : ''}`));
  }

  body(text: string): void {
    this.say(printable(text));
  }

  note(text: string): void {
    this.say(printable(`${new Date().toISOString()} ${text}`));
  }

  status(): void {}

  end(): void {}
}
