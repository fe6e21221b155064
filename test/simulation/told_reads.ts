import type { Address } from '../../actors/actor.js';
import { isRefusal, type Refusal } from '../../src/domain/refusals.js';
import { makeMetrics } from '../../src/engine/metrics/metrics.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { Runtime } from '../../src/engine/runtime/runtime.js';
import { decodeStored } from '../../src/engine/store/codec.js';
import { ToldVersions } from '../../src/engine/store/told_versions.js';
import { type Ledger, ledger, ledgerOf } from '../fixtures/ledger.js';
import { Connection, type Weather } from './connection.js';
import { ModelStore } from './model_store.js';
import { seedCrypto } from './seeded_crypto.js';
import { ProcessTellings, STALE_MAX_MS, TellingModel } from './tellings.js';
import { VirtualTime } from './virtual_time.js';

const LASTS_MS = 20_000;
const GAP_MAX_MS = 12;
const MEDDLES_MAX_MS = 400;
const FROZEN_MAX_MS = 1_000;
const AWAY_MAX_MS = 800;
const PARTITIONS = [0, 51, 102];
const metrics = makeMetrics();

type Sum = { address: Address; committed: { at_ms: number; n: number }[] };
type Process = { runtime: Runtime; told: ToldVersions; connection: Connection; tellings: ProcessTellings };

export type ReadsOutcome = { violations: string[]; reads: number; unasked: number; writes: number };

/**
 * Sums that several processes raise and read, while what Redis tells them is late, lost or handled late. No answer may be
 * older than is allowed, whatever process gave it.
 */
export async function simulateReads(seed: number): Promise<ReadsOutcome> {
  const random = new SeededRandom(seed);
  const time = new VirtualTime(random);
  const unseed = seedCrypto({ bytes: (count) => random.bytes(count), below: (limit) => random.below(limit) });
  time.enter();
  try {
    return await new Reads(random, time).run();
  } finally {
    time.leave();
    unseed();
  }
}

class Reads {
  readonly #random: SeededRandom;
  readonly #time: VirtualTime;
  readonly #tellings: TellingModel;
  readonly #model: ModelStore;
  readonly #weather: Weather;
  readonly #sums: Sum[] = PARTITIONS.map((partition) => ({ address: ledgerOf(partition), committed: [] }));
  readonly #processes: Process[] = [];
  readonly #outcome: ReadsOutcome = { violations: [], reads: 0, unasked: 0, writes: 0 };
  #asked = 0;

  constructor(random: SeededRandom, time: VirtualTime) {
    this.#random = random;
    this.#time = time;
    const record = (line: string) => {
      if (process.env.SIMULATION_HISTORY !== undefined) console.error(`${time.elapsed_ms.toFixed(3)} ${line}`);
    };
    this.#tellings = new TellingModel({ random, time, record });
    const bad = random.pick([0, 0.5, 1]) * 0.03;
    const lost = { read_lost: bad, lost_before: bad, lost_after: bad, late: bad };
    this.#weather = { ...lost, slow: 0.05, slow_max_ms: random.pick([20, 300]) };
    this.#model = new ModelStore(() => 'log');
    this.#model.onApplied = (applied) => {
      this.#tellings.committed(applied);
      const sum = this.#sums.find(({ address }) => address.id === applied.place.address.id) as Sum;
      const { s: state } = decodeStored(applied.commit.snapshot) as { s: Ledger };
      sum.committed.push({ at_ms: time.elapsed_ms, n: state.n });
    };
    for (let count = 2 + random.below(2); count > 0; count--) this.#processes.push(this.#open(`p${count}`, record));
  }

  #open(name: string, record: (line: string) => void): Process {
    const [random, time, model] = [this.#random, this.#time, this.#model];
    const connection = new Connection({ model, time, random, weather: () => this.#weather, record, name });
    const tellings = new ProcessTellings({ random, time, record, connection, model: this.#tellings });
    const store = new Proxy(connection.store, {
      get: (of, call) => {
        if (call === 'load' || call === 'probe') this.#asked += 1;
        return Reflect.get(of, call) as unknown;
      },
    });
    const told: ToldVersions = new ToldVersions({
      tellings,
      poll: tellings.poll,
    });
    const log = { info() {}, warn() {}, error() {} };
    const runtime = new Runtime({ store, metrics, log, now: Date.now, trust_memory: false, told, kinds: [ledger] });
    return { runtime, told, connection, tellings };
  }

  async run(): Promise<ReadsOutcome> {
    this.#every(GAP_MAX_MS, () => void this.#ask());
    this.#every(MEDDLES_MAX_MS, () => this.#meddle());
    await this.#time.runUntil(() => false, LASTS_MS);
    for (const { runtime, told, connection } of this.#processes) {
      connection.cut();
      told.stop();
      void runtime.shutdown(0);
    }
    await this.#time.runUntil(() => false, 1_000);
    return this.#outcome;
  }

  #every(gap_max_ms: number, run: () => void): void {
    this.#time.after(this.#random.between(0, gap_max_ms), () => {
      run();
      if (this.#time.elapsed_ms < LASTS_MS) this.#every(gap_max_ms, run);
    });
  }

  /** Raises a sum through one process and reads it through others, or only reads. */
  async #ask(): Promise<void> {
    const random = this.#random;
    const sum = random.pick(this.#sums);
    if (random.chance(0.2)) {
      const n = await this.#send<number>(sum, { type: 'add', by: 1 });
      if (isRefusal(n)) return;
      this.#outcome.writes += 1;
    }
    for (let looks = 1 + random.below(2); looks > 0; looks--) await this.#read(sum);
  }

  async #read(sum: Sum): Promise<void> {
    const random = this.#random;
    const allowed_ms = this.#tellings.is_prompt ? 0 : STALE_MAX_MS;
    const from_ms = this.#time.elapsed_ms - allowed_ms;
    const least = sum.committed.findLast(({ at_ms }) => at_ms <= from_ms)?.n ?? 0;
    const before = this.#asked;
    const view = await this.#send<Ledger>(sum, { type: random.chance(0.8) ? 'look' : 'view' });
    if (isRefusal(view)) return;
    this.#outcome.reads += 1;
    if (this.#asked === before) this.#outcome.unasked += 1;
    if (view.n >= least) return;
    this.#outcome.violations.push(`${this.#time.elapsed_ms} read ${view.n} where ${least} was committed`);
  }

  #send<Reply>({ address }: Sum, message: unknown): Promise<Reply | Refusal> {
    const { connection, runtime } = this.#random.pick(this.#processes);
    return new Promise((resolve) => {
      connection.whenAwake(() => void runtime.ask<Reply>(address, message).then(resolve));
    });
  }

  #meddle(): void {
    const random = this.#random;
    this.#tellings.meddle();
    const { connection } = random.pick(this.#processes);
    if (random.chance(0.2)) connection.freeze(random.between(10, FROZEN_MAX_MS));
    if (random.chance(0.05)) {
      connection.away = true;
      this.#time.after(random.between(0, AWAY_MAX_MS), () => {
        connection.away = false;
      });
    }
  }
}
