import { setTimeout as pause } from 'node:timers/promises';
import { LIMITS } from '../../src/domain/limits.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { Cleanup } from '../driver/cleanup.js';
import { Servers, type ServersOptions } from '../driver/servers.js';
import { appendOnlyFiles, secretsIn } from '../fixtures/stored_secrets.js';
import { until } from '../fixtures/until.js';
import { deliveryFaults, storedFaults } from './equalities.js';
import type { Counts, EntityKind, Load } from './load.js';

/** How large a run is: seconds of load for each fault, and how long Redis is away at the longest. */
export type Size = { seconds: number; away_ms: number };

const PROBLEMS_SHOWN = 12;
/** Calls that come to something beside a fault, where nothing else is said. */
export const LEAST_OK = 100;
const CLOCK_MAX_MS = 40_000;
/** A slow machine may take so many times as long to do as much. */
const LONGER_MAX = 10;

/** One fault that is being tried: what was done and what was found. */
export class Trial {
  tries = 0;
  invariants = 0;
  readonly counts: Counts = { ok: 0, refused: 0, unknown: 0 };
  readonly problems: string[] = [];
  readonly notes: string[] = [];

  readonly #cleanup = new Cleanup();

  constructor(
    readonly random: SeededRandom,
    readonly size: Size,
  ) {}

  /** Servers as in production, on a storage behind a proxy unless it is said otherwise. They run until the trial ends. */
  open(options: ServersOptions = {}): Promise<Servers> {
    return Servers.open(this.#cleanup, { is_production: true, receives: true, ...options });
  }

  /** When the trial ends. */
  teardown(undo: () => unknown): void {
    this.#cleanup.teardown(undo);
  }

  end(): Promise<void> {
    return this.#cleanup.run();
  }

  must(holds: boolean, text: string): void {
    this.invariants += 1;
    if (!holds) this.problems.push(text);
  }

  /** A list that must be empty. */
  none(what: string, found: readonly string[]): void {
    this.must(found.length === 0, `${what}: ${found.slice(0, PROBLEMS_SHOWN).join('; ')}`);
  }

  /** Does this once, and again until the time of the run is over and, for so many times as long, enough was done. */
  async repeat(act: () => Promise<unknown>, isEnough = () => true): Promise<void> {
    const began_ms = performance.now();
    const isOver = (times: number) => performance.now() >= began_ms + times * this.size.seconds * 1_000;
    do {
      await act();
      this.tries += 1;
    } while (!isOver(1) || (!isEnough() && !isOver(LONGER_MAX)));
  }

  between(least_ms: number, most_ms: number): Promise<unknown> {
    return pause(this.random.between(least_ms, most_ms));
  }

  /** After the fault: everything serves again, every answer is explained, and the equalities hold. */
  async settle(
    rig: Servers,
    load: Load,
    { kinds, least = LEAST_OK }: { kinds?: readonly EntityKind[]; least?: number } = {},
  ): Promise<void> {
    await rig.back();
    const { counts, done, problems } = load;
    for (const name of ['ok', 'refused', 'unknown'] as const) this.counts[name] += counts[name];
    this.none('answers', problems);
    this.must(counts.ok >= least, `only ${counts.ok} calls came to something, ${least} at least must`);
    this.none('kinds of which no call came to anything', done.rare(kinds ?? []));
    const { judged, wrong } = load.judge();
    this.invariants += judged;
    this.none('no order explains', wrong);

    this.notes.push(load.speech.summary);
    await load.speech.finish();
    // Claims of deliveries whose process ended come back when their lease is over; mails and mirrors with them.
    for (let n = 0; n < 3; n++)
      await until(
        'the clock moves',
        () =>
          rig.operator.advanceClock(LIMITS.delivery_lease_ms + 1_000).then(
            () => true,
            () => false,
          ),
        CLOCK_MAX_MS,
      );
    this.none('stored', await storedFaults(await rig.connect()));
    this.none('speech', await load.speech.faults());
    for (const witness of load.witnesses) this.none('deliveries', await deliveryFaults(rig, witness));
    this.noSecrets(rig);
  }

  /** None of what was issued rests in Redis' files. */
  noSecrets(rig: Servers): void {
    const stored = appendOnlyFiles(rig.storage.folderIn(rig.folder));
    this.must(stored.includes('owner@x.test'), 'what is no secret is found in the append-only file');
    this.none('secrets at rest', secretsIn(stored, rig.secrets));
  }
}

/** Whether so many calls came to something, of each of these kinds one. */
export function didEnough({ counts, done }: Load, { kinds, least }: { kinds: readonly EntityKind[]; least: number }) {
  return counts.ok >= least && done.rare(kinds).length === 0;
}
