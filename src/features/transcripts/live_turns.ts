import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Principal } from '../../access/principal.js';
import { LIMITS } from '../../domain/limits.js';
import type { FeatureServices } from '../services.js';
import { pagesFrom, type ReadableTranscript } from './transcript_pages.js';
import { viewTurns } from './transcript_reading.js';
import type { TurnView } from './turn_shape.js';

/** All turns that begin at `from_ms` or later, and before `to_ms`, of the stream's timeline. */
export type ChangedTurns = { from_ms: number; to_ms: number; turns: TurnView[] };

type ShownTurn = { start_ms: number; digest: string };

/** The turns that one reader has been shown, so that only what is different follows. */
export class ShownTurns {
  /** By the number of their page. */
  #pages = new Map<number, ShownTurn[]>();

  /** Gives the changes since the last call, in the order of the timeline, at most one for each page of the transcript. */
  async *changes(
    services: Pick<FeatureServices, 'actors' | 'runtime'>,
    who: Principal,
    readable: ReadableTranscript,
  ): AsyncGenerator<ChangedTurns> {
    const before = this.#pages;
    const now = new Map<number, ShownTurn[]>();
    for await (const { number, turns: of_page } of pagesFrom(services, readable, { page: 0 })) {
      const turns = of_page.map((turn) => ({ page: number, turn }));
      const views = await viewTurns(services, who, { readable, turns });
      const shown = views.map((view) => ({ start_ms: view.start_ms, digest: digestOf(view) }));
      const from_ms = firstDifference(before.get(number) ?? [], shown);
      now.set(number, shown);
      if (from_ms !== null) {
        const to_ms = (number + 1) * LIMITS.transcript_page_ms;
        yield { from_ms, to_ms, turns: views.filter(({ start_ms }) => start_ms >= from_ms) };
      }
      await setImmediate(); // a long recording holds nobody up
    }
    for (const [number, shown] of before) {
      const [first] = shown;
      if (now.has(number) || first === undefined) continue;
      yield { from_ms: first.start_ms, to_ms: (number + 1) * LIMITS.transcript_page_ms, turns: [] };
    }
    this.#pages = now;
  }
}

/** Where the first turn begins that one has and the other has not, ms; null where they are the same. */
function firstDifference(before: readonly ShownTurn[], now: readonly ShownTurn[]): number | null {
  let at = 0;
  while (at < before.length && before[at]?.digest === now[at]?.digest) at++;
  const starts = [before[at], now[at]].flatMap((one) => one?.start_ms ?? []);
  return starts.length === 0 ? null : Math.min(...starts);
}

function digestOf(view: TurnView): string {
  return createHash('sha1').update(JSON.stringify(view)).digest('base64');
}
