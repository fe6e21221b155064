import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { type NoteDue, noteDue } from '../../src/engine/store/due_notes.js';
import {
  type Commit,
  type CommitVerdict,
  type Store,
  StoreUnavailable,
  type TimedQueue,
} from '../../src/engine/store/store.js';
import type { ModelStore } from './model_store.js';
import type { VirtualTime } from './virtual_time.js';

/** How bad a run's storage is; probabilities per call. */
export type Weather = {
  /** A read is not answered. */
  read_lost: number;
  /** A write never arrives. */
  lost_before: number;
  /** A write takes effect and its answer is lost. */
  lost_after: number;
  /** A write is given up, and takes effect later. */
  late: number;
  /** Slow, each way. */
  slow: number;
  slow_max_ms: number;
};

export const FAIR: Weather = { read_lost: 0, lost_before: 0, lost_after: 0, late: 0, slow: 0, slow_max_ms: 1 };

const USUAL_MAX_MS = 2;
const GIVEN_UP_MAX_MS = 300;
const LATE_MAX_MS = 3_000;

type Parts = {
  model: ModelStore;
  time: VirtualTime;
  random: SeededRandom;
  weather: () => Weather;
  record: (line: string) => void;
  name: string;
};

const READS = [
  'load',
  'probe',
  'query',
  'epochs',
  'list',
  'listDue',
  'dueReminders',
  'firstDue',
  'outbox',
  'listDeadLetters',
  'listQueued',
  'logHead',
  'events',
  'listDeliveryQueue',
  'backlogs',
  'endpointsBetween',
] as const;
const WRITES = [
  'commit',
  'removeReminder',
  'removeFromOutbox',
  'lease',
  'takeBack',
  'removeQueued',
  'addDeadLetter',
  'removeDeadLetter',
  'leaseEndpoints',
  'trimEvents',
] as const;

/** One process' way to the store: when its calls arrive and are answered is drawn, and whether they are. */
export class Connection {
  readonly store: Store;
  readonly #parts: Parts;
  #cut = false;
  #asleep_until_ms = 0;
  away = false;
  /** Called when a commit of this process has made deliveries to these endpoints. */
  onDeliveries: (endpoint_ids: ReadonlySet<string>) => void = () => {};
  /** Called for all that a commit of this process has made due. */
  onDue: NoteDue = () => {};

  constructor(parts: Parts) {
    this.#parts = parts;
    const calls: Record<string, unknown> = {};
    for (const name of READS) calls[name] = (...args: unknown[]) => this.#read(name, args);
    for (const name of WRITES) calls[name] = (...args: unknown[]) => this.#write(name, args);
    this.store = calls as unknown as Store;
  }

  get is_cut(): boolean {
    return this.#cut;
  }

  /** The process is gone: nothing is answered any more, but what it sent may still arrive. */
  cut(): void {
    this.#cut = true;
  }

  /** The process stands still: what comes for it lies there. */
  freeze(ms: number): void {
    const { time, record, name } = this.#parts;
    record(`${name} stands still for ${ms} ms`);
    this.#asleep_until_ms = Math.max(this.#asleep_until_ms, time.elapsed_ms + ms);
  }

  whenAwake(run: () => void): void {
    const { time } = this.#parts;
    const left_ms = this.#asleep_until_ms - time.elapsed_ms;
    if (this.#cut) return;
    if (left_ms <= 0) run();
    else time.after(left_ms, () => this.whenAwake(run));
  }

  #read(name: (typeof READS)[number], args: unknown[]): Promise<unknown> {
    const { model, time, random, weather } = this.#parts;
    if (this.#cut) return new Promise(() => {});
    // Nearly all of these look at a partition where nothing is; they would only make runs long.
    if (!this.away && name === 'outbox' && !model.hasTells(args[0] as number)) return Promise.resolve([]);
    if (!this.away && name === 'listDue' && !model.hasDue(args[0] as TimedQueue, args[1] as number))
      return Promise.resolve([]);
    if (!this.away && name === 'dueReminders' && !model.hasDue('reminders', args[0] as number))
      return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      if (this.away || random.chance(weather().read_lost)) return this.#refuse(name, reject);
      time.after(this.#way(), () => {
        const answer = this.#apply(name, args);
        time.after(this.#way(), () => this.#unlessCut(() => answer.then(resolve, reject)));
      });
    });
  }

  #write(name: (typeof WRITES)[number], args: unknown[]): Promise<unknown> {
    const { model, time, random, weather, record } = this.#parts;
    if (this.#cut) return new Promise(() => {});
    if (!this.away && name === 'leaseEndpoints' && !model.hasDue('endpoints', args[0] as number))
      return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const { lost_before, lost_after, late } = weather();
      const fate = random.fraction();
      if (this.away || fate < lost_before) return this.#refuse(name, reject);
      if (fate < lost_before + late) {
        record(`${this.#parts.name} ${name} late`);
        time.after(random.between(0, LATE_MAX_MS), () => void this.#apply(name, args).catch(() => {}));
        return this.#refuse(name, reject);
      }
      time.after(this.#way(), () => {
        let delivered_to: ReadonlySet<string> = new Set();
        model.onDeliveries = (endpoint_ids) => {
          delivered_to = endpoint_ids;
        };
        const answer = this.#apply(name, args); // takes effect at once
        model.onDeliveries = () => {};
        if (fate < lost_before + late + lost_after) {
          void answer.catch(() => {});
          return this.#refuse(name, reject);
        }
        time.after(this.#way(), () =>
          this.#unlessCut(() => {
            if (delivered_to.size > 0) this.onDeliveries(delivered_to);
            void answer.then(resolve, reject);
            if (name === 'commit')
              void answer.then(
                (verdict) => this.#noteDue(args, verdict, delivered_to.size > 0),
                () => {},
              );
          }),
        );
      });
    });
  }

  #apply(name: keyof Store, args: unknown[]): Promise<unknown> {
    const { model, record } = this.#parts;
    const call = model[name] as (...args: unknown[]) => Promise<unknown>;
    const answer = call.apply(model, args);
    if (name === 'commit') {
      const { place, commit_id } = args[0] as { place: { address: { kind: string; id: string } }; commit_id: string };
      const said = (verdict: unknown) =>
        record(
          `${this.#parts.name} commit ${commit_id} ${place.address.kind} ${place.address.id} ${JSON.stringify(verdict)}`,
        );
      void answer.then(said, () => {});
    } else {
      record(`${this.#parts.name} ${name}`);
    }
    return answer;
  }

  #noteDue([commit]: unknown[], verdict: unknown, has_deliveries: boolean): void {
    const is_saved = ['applied', 'repeated'].includes((verdict as CommitVerdict).verdict);
    if (is_saved) noteDue(commit as Commit, has_deliveries, this.onDue);
  }

  /** One way over the network. */
  #way(): number {
    const { random, weather } = this.#parts;
    const { slow, slow_max_ms } = weather();
    return random.chance(slow) ? random.between(0, slow_max_ms) : random.between(0.02, USUAL_MAX_MS);
  }

  #refuse(name: string, reject: (error: Error) => void): void {
    const { time, random, record } = this.#parts;
    time.after(random.between(0, GIVEN_UP_MAX_MS), () =>
      this.#unlessCut(() => {
        record(`${this.#parts.name} ${name} unanswered`);
        reject(new StoreUnavailable('simulated'));
      }),
    );
  }

  #unlessCut(run: () => void): void {
    this.whenAwake(run);
  }
}
