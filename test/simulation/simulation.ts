import { createHash, randomBytes } from 'node:crypto';
import { PARTITIONS } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { MEMBER_ID_CHARS } from '../../src/domain/webhooks.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import type { Successes } from '../driver/successes.js';
import { Checker, checkStep } from './checker.js';
import { type About, Clients, isUnknown } from './clients.js';
import { Connection, FAIR, type Weather } from './connection.js';
import { DeliveryHistory } from './delivery_history.js';
import { Ledger } from './ledger.js';
import { checkMemberships, MembershipHistory } from './membership_checker.js';
import { MemberViews } from './membership_views.js';
import { ModelStore } from './model_store.js';
import { Receivers } from './receivers.js';
import { seedCrypto } from './seeded_crypto.js';
import { checkSessions, SessionHistory } from './session_checker.js';
import { SESSION_PASSES_MS } from './session_hosts.js';
import { SimulatedProcess } from './simulated_process.js';
import { ProcessTellings, STALE_MAX_MS, TellingModel } from './tellings.js';
import { VirtualTime } from './virtual_time.js';

const BEGAN_MS = Date.UTC(2026, 0, 1);
const HISTORY_KEPT = 60;
/** Homes of drawn ids are few, so that entities share partitions, outboxes and reminders. */
const HOMES = 5;
const ATTENDED_MAX = 10;
const GAP_MAX_MS = 60;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Together longer than a delivery epochs; and, between them, long enough for requests to end and everybody to look. */
const DELIVERED_HOURS = [1, 1, 2, 4, 8, 10];
const DELIVERED_MS = 13_000;
const RETRIES_MS = [5_000, 15_000, 40_000, 60_000, 200_000, 700_000, 10_000_000];
const SKEW_MAX_MS = 40;
/** Long enough for late writes to come in. */
const QUIET_MS = 4_000;
/** Long enough for a look at reminders. */
const LOOK_MS = 1_100;
/** Long enough for a look at erasures that a crashed process had begun. */
const ERASED_MS = 140_000;
const SLOW_MS = 1_500;
const FROZEN_MAX_MS = 1_500;
const STOPPED_MAX_MS = 1_000;
const ERASURES_MAX_MS = 1_000;
/** Another process may have applied what a sender waits for: the sender's own finds out when it looks, every second. */
const SETTLED_MAX_MS = 1_200;
const DRAIN_MAX_MS = 180_000;
/** While all agree who looks where, all that falls due is done within this: others' commits are looked for every 5 s. */
const IN_TIME_MS = 6_000;
/** Of the operations asked for, the least that must have been acknowledged. */
const ACKNOWLEDGED_LEAST: Record<About, number> = { devices: 0.25, workspaces: 0.1, endpoints: 0.2, sessions: 0.1 };

/** How often a reminder may be tried, on average, while all agree who looks where. */
export const TRIES_EACH_MAX = 1.1;

/** Kinds that can be asked for themselves without any more words. */
const VIEWED = ['email', 'account', 'device', 'claim', 'source', 'stream', 'tally'];
const ANSWERED_MAX_MS = 2_000;

export type Outcome = {
  seed: number;
  violations: string[];
  /** SHA-256 over the whole history. */
  history_hash: string;
  last_lines: string[];
  acknowledged: Successes;
  crashes: number;
  steps: number;
  undecided: number;
  /** Reminders that fell due when all views agreed, and how often they were tried. */
  reminders: number;
  reminder_tries: number;
};

/**
 * One run: clients, staff and devices work against one to three processes over one store that loses, delays and
 * repeats, while processes crash and the clock jumps; then all comes to rest and is checked. The same seed gives the
 * same run.
 */
export async function simulate(
  seed: number,
  { operations = 150, about = 'devices' }: { operations?: number; about?: About } = {},
): Promise<Outcome> {
  const random = new SeededRandom(seed);
  const time = new VirtualTime(random);
  const unseed = seedCrypto({
    bytes: (count) => random.bytes(count),
    below: (limit) => (limit === PARTITIONS ? random.below(HOMES) * 51 : random.below(limit)),
  });
  time.enter();
  try {
    return await new Simulation({ seed, random, time, operations, about }).run();
  } finally {
    time.leave();
    unseed();
  }
}

class Simulation {
  readonly #seed: number;
  readonly #random: SeededRandom;
  readonly #time: VirtualTime;
  readonly #operations: number;
  readonly #about: About;
  readonly #ledger: Ledger;
  readonly #model: ModelStore;
  readonly #memberships: MembershipHistory;
  readonly #sessions: SessionHistory;
  readonly #deliveries: DeliveryHistory;
  readonly #receivers: Receivers;
  readonly #hash = createHash('sha256');
  readonly #lines: string[] = [];
  readonly #processes: SimulatedProcess[] = [];
  readonly #views: MemberViews;
  #started = 0;
  /** Of reminders that were tried while all is calm and all views agree. */
  readonly #tried = { reminders: new Set<string>(), tries: 0 };
  readonly #trust_memory: boolean;
  readonly #tellings: TellingModel;
  readonly #usual: Weather;
  #weather: Weather = FAIR;
  #offset_ms = 0;
  #crashes = 0;
  #begun = 0;
  #attended = 0;
  #calm = false;

  constructor({
    seed,
    random,
    time,
    operations,
    about,
  }: { seed: number; random: SeededRandom; time: VirtualTime; operations: number; about: About }) {
    this.#seed = seed;
    this.#random = random;
    this.#time = time;
    this.#operations = operations;
    this.#about = about;
    this.#ledger = new Ledger(() => time.elapsed_ms);
    this.#memberships = new MembershipHistory(this.#ledger);
    this.#sessions = new SessionHistory(this.#ledger);
    const slots = 1 + random.below(3);
    this.#trust_memory = slots === 1 && random.chance(0.5);
    this.#usual = drawWeather(random);
    this.#views = new MemberViews(random);
    this.#tellings = new TellingModel({ random, time, record: (line) => this.#record(line) });
    this.#model = new ModelStore(
      () => Buffer.from(randomBytes(4)).toString('hex'),
      () => time.elapsed_ms,
    );
    this.#model.onApplied = (applied) => {
      this.#tellings.committed(applied);
      checkStep(applied, (holds, text) => this.#must(holds, text));
      this.#memberships.see(applied);
      this.#sessions.see(applied);
      this.#deliveries.see(applied);
    };
    this.#deliveries = new DeliveryHistory(this.#model, this.#ledger);
    this.#receivers = new Receivers({ random, time, history: this.#deliveries });
    for (let slot = 0; slot < slots; slot++) this.#processes.push(this.#start());
  }

  async run(): Promise<Outcome> {
    const clients = new Clients({
      random: this.#random,
      time: this.#time,
      now: () => this.#now(),
      ledger: this.#ledger,
      processes: () => this.#processes,
      record: (line) => this.#record(line),
      about: this.#about,
      expireDeletions: () => this.#expireDeletions(),
      slowDown: () => this.#slowDown(),
      stale_max_ms: this.#tellings.is_prompt ? 0 : STALE_MAX_MS,
    });
    const provisioned = settledFlag(clients.provision());
    this.#must(await this.#time.runUntil(provisioned.isDone, DRAIN_MAX_MS), 'devices were not provisioned');
    this.#weather = this.#usual;
    this.#plan(200, () => this.#meddle());
    this.#plan(GAP_MAX_MS, () => this.#attend(clients));
    if (this.#about === 'workspaces') this.#plan(ERASURES_MAX_MS, () => this.#lookAtErasures());
    const isWorked = () => this.#begun >= this.#operations && this.#attended === 0;
    this.#must(await this.#time.runUntil(isWorked, this.#operations * 10_000), 'operations did not end');
    await this.#rest(QUIET_MS);
    // Deletions that nobody answered are given up, and workspaces ask what came of them.
    if (this.#about === 'workspaces') {
      this.#advance(LIMITS.leaving_max_ms + LIMITS.hold_asks_after_ms);
      await this.#rest(QUIET_MS);
      this.#checkMemberships();
    }
    if (this.#about === 'endpoints') await this.#deliverAll();
    if (this.#about === 'sessions') checkSessions(this.#model, this.#sessions, { ledger: this.#ledger });
    await this.#viewAll();
    const checker = new Checker(this.#model, this.#ledger);
    await checker.check();
    for (const days of [1, 1, 2, 31, 31]) {
      this.#advance(days * DAY_MS);
      await this.#rest(LOOK_MS, IN_TIME_MS);
    }
    if (this.#about === 'sessions') checkSessions(this.#model, this.#sessions, { ledger: this.#ledger });
    if (this.#about === 'workspaces') {
      await this.#rest(ERASED_MS);
      this.#checkMemberships();
    }
    if (this.#about === 'endpoints') {
      await this.#rest(ERASED_MS);
      this.#deliveries.checkRest(this.#now(), { is_well: true, is_over: true });
      await this.#stopDeliveries();
      this.#ledger.acknowledge('delivered', this.#deliveries.deliveries);
      this.#ledger.acknowledge('posted', this.#deliveries.posts);
      this.#ledger.acknowledge('disabled by failures', this.#deliveries.disabled);
    }
    await new Checker(this.#model, this.#ledger).checkEnd();
    for (const process of this.#processes) process.crash();
    await this.#time.runUntil(() => false, 1_000);
    const { total } = this.#ledger.acknowledged;
    this.#must(
      total >= this.#operations * ACKNOWLEDGED_LEAST[this.#about],
      `only ${total} of ${this.#operations} operations were acknowledged`,
    );
    return {
      seed: this.#seed,
      violations: [...new Set(this.#ledger.violations)],
      history_hash: this.#hash.digest('hex'),
      last_lines: this.#lines,
      acknowledged: this.#ledger.acknowledged,
      crashes: this.#crashes,
      steps: this.#time.steps,
      undecided: checker.undecided,
      reminders: this.#tried.reminders.size,
      reminder_tries: this.#tried.tries,
    };
  }

  /** For a while some of what goes to storage and back takes its time. */
  #slowDown(): void {
    if (this.#calm) return;
    this.#weather = { ...this.#usual, slow: 0.3, slow_max_ms: 600 };
    this.#time.after(SLOW_MS, () => {
      if (!this.#calm) this.#weather = this.#usual;
    });
  }

  /** Their questions are still under way. */
  #expireDeletions(): void {
    this.#advance(LIMITS.leaving_max_ms + SKEW_MAX_MS);
    for (const { alive, reminders } of this.#processes) if (alive) void reminders.look().catch(() => {}); // storage may be away
  }

  /** All receivers are well, and time goes on until nothing is left to deliver. */
  async #deliverAll(): Promise<void> {
    this.#receivers.are_well = true;
    for (const [rests, hours] of DELIVERED_HOURS.entries()) {
      await this.#rest(DELIVERED_MS);
      this.#deliveries.checkRest(this.#now(), { is_well: rests > 1, is_over: false });
      this.#advance(hours * HOUR_MS);
    }
    await this.#rest(DELIVERED_MS);
    this.#deliveries.checkRest(this.#now(), { is_well: true, is_over: true });
  }

  /** Nothing is under way: nobody waits for anything. */
  async #stopDeliveries(): Promise<void> {
    const stopped = settledFlag(Promise.all(this.#processes.map(({ deliveries }) => deliveries?.stop())));
    const is_done = await this.#time.runUntil(stopped.isDone, STOPPED_MAX_MS);
    this.#must(is_done, 'a worker waits for deliveries that are not under way');
  }

  /** More often than a process does by itself, so that some come to their end before the run does. */
  #lookAtErasures(): void {
    const { alive, erasures } = this.#random.pick(this.#processes);
    if (alive) void erasures.worker.look();
  }

  #checkMemberships(): void {
    const mustHold = (holds: boolean, text: string) => this.#must(holds, text);
    checkMemberships(this.#model, this.#memberships, { now_ms: this.#now(), mustHold });
  }

  #must(holds: boolean, text: string): void {
    this.#ledger.mustHold(holds, text);
  }

  #now(): number {
    return Math.floor(BEGAN_MS + this.#time.elapsed_ms + this.#offset_ms);
  }

  #record(line: string): void {
    const full = `${this.#time.elapsed_ms.toFixed(3)} ${line}`;
    this.#hash.update(`${full}\n`);
    if (this.#lines.push(full) > HISTORY_KEPT && this.#ledger.violations.length === 0) this.#lines.shift();
    if (process.env.SIMULATION_HISTORY !== undefined) console.error(full);
  }

  #start(): SimulatedProcess {
    const [random, time] = [this.#random, this.#time];
    const name = `p${this.#crashes}.${this.#processes.length}`;
    const id = `m${this.#started++}`.padEnd(MEMBER_ID_CHARS, '.');
    const record = (line: string) => this.#record(line);
    const connection = new Connection({ model: this.#model, time, random, weather: () => this.#weather, record, name });
    const skew_ms = random.between(-SKEW_MAX_MS, SKEW_MAX_MS);
    const timers = time.newProcess();
    const parts = {
      connection,
      time,
      timers,
      now: () => Math.floor(this.#now() + skew_ms),
      trust_memory: this.#trust_memory,
      tellings: new ProcessTellings({ random, time, record, connection, model: this.#tellings }),
      active_max: random.chance(0.3) ? 4 : 1_000,
      onError: (text: string) => this.#must(false, `logged: ${text}`),
      poster: this.#about === 'endpoints' ? this.#receivers.posterOf(connection) : null,
      members: this.#views.joined(id),
      onTry: (name: string) => this.#noteTry(name),
    };
    return time.within(timers, () => new SimulatedProcess(parts));
  }

  /** Runs something again and again, at intervals drawn up to this, until the faults stop. */
  #plan(every_max_ms: number, run: () => void): void {
    this.#time.after(this.#random.between(0, every_max_ms), () => {
      if (this.#calm) return;
      run();
      this.#plan(every_max_ms, run);
    });
  }

  #attend(clients: Clients): void {
    if (this.#begun >= this.#operations || this.#attended >= ATTENDED_MAX) return;
    this.#begun += 1;
    this.#attended += 1;
    void clients
      .operate()
      .catch((error: unknown) =>
        this.#must(false, `a client failed: ${error instanceof Error ? error.stack : String(error)}`),
      )
      .then(() => {
        this.#attended -= 1;
      });
  }

  #noteTry(name: string): void {
    if (!this.#calm) return;
    this.#tried.reminders.add(name);
    this.#tried.tries += 1;
  }

  /** A fault, or a jump of the clock. */
  #meddle(): void {
    const random = this.#random;
    const roll = random.fraction();
    this.#views.meddle();
    this.#tellings.meddle();
    if (random.chance(0.1))
      random.pick(this.#processes).connection.freeze(Math.floor(random.between(10, FROZEN_MAX_MS)));
    if (roll < 0.05) {
      this.#crash(random.below(this.#processes.length));
      return;
    }
    if (roll < 0.07) {
      for (let slot = 0; slot < this.#processes.length; slot++) this.#crash(slot);
      return;
    }
    if (roll < 0.1) {
      const { connection } = random.pick(this.#processes);
      connection.away = true;
      this.#record('storage away');
      this.#time.after(random.between(100, 12_000), () => {
        connection.away = false;
      });
      return;
    }
    // Seven days pass now and then: what was deleted is erased while others go on.
    if (this.#about === 'workspaces' && roll > 0.985) {
      this.#advance(LIMITS.erase_after_ms);
      return;
    }
    // Deletions are given up in the middle of their questions.
    if (this.#about === 'workspaces' && roll > 0.95) {
      this.#advance(LIMITS.leaving_max_ms);
      return;
    }
    // Waits, ends and drains fall due in between.
    if (this.#about === 'sessions' && roll > 0.85) {
      this.#advance(Math.floor(random.pick(SESSION_PASSES_MS) * random.fraction()));
      return;
    }
    // Retries fall due and leases run out in between.
    if (this.#about === 'endpoints' && roll > 0.8) {
      this.#advance(Math.floor(random.pick(RETRIES_MS) * random.fraction()));
      return;
    }
    if (roll < 0.14) {
      const ms = Math.floor(random.pick([1_000, 90_000, 1_800_000, DAY_MS]) * random.fraction());
      this.#advance(ms);
    }
  }

  #crash(slot: number): void {
    const before = this.#processes[slot] as SimulatedProcess;
    if (!before.alive) return;
    this.#record(`crash of ${slot}`);
    before.crash();
    this.#views.crashed(before.member_id);
    this.#crashes += 1;
    this.#time.after(this.#random.between(10, 3_000), () => {
      this.#record(`start of ${slot}`);
      this.#processes[slot] = this.#start();
    });
  }

  #advance(ms: number): void {
    this.#record(`clock moves on by ${ms} ms`);
    this.#offset_ms += ms;
  }

  /** Faults end, and everything that is under way or due comes to its end. */
  async #rest(quiet_ms: number, drain_max_ms = DRAIN_MAX_MS): Promise<void> {
    this.#calm = true;
    this.#weather = FAIR;
    this.#tellings.rest();
    this.#views.agree();
    for (const { connection } of this.#processes) connection.away = false;
    await this.#time.runUntil(() => false, quiet_ms);
    const idle = () => this.#processes.every(({ alive, waiting }) => alive && waiting === 0) && !this.#isAnythingDue();
    this.#must(
      await this.#time.runUntil(idle, drain_max_ms),
      'outbox messages, reminders or messages were left waiting',
    );
    // The last answer of storage may be on its way to them.
    await this.#time.runUntil(() => this.#processes.every(({ unsettled }) => unsettled === 0), SETTLED_MAX_MS);
    for (const { unsettled } of this.#processes)
      this.#must(unsettled === 0, `${unsettled} outbox messages were applied and their senders wait`);
  }

  /** Every process serves every entity again, all at once and without anybody's help. */
  async #viewAll(): Promise<void> {
    const addresses = [...this.#model.entities()]
      .map(({ address }) => address)
      .filter(({ kind }) => VIEWED.includes(kind));
    const replies: unknown[] = [];
    for (const { runtime } of this.#processes) {
      for (const address of addresses) void runtime.ask(address, { type: 'view' }).then((reply) => replies.push(reply));
    }
    const all = () => replies.length === addresses.length * this.#processes.length;
    this.#must(
      await this.#time.runUntil(all, ANSWERED_MAX_MS),
      `${replies.length} views of ${addresses.length} entities were answered`,
    );
    for (const reply of replies) this.#must(!isUnknown(reply), `a view was answered ${JSON.stringify(reply)}`);
  }

  #isAnythingDue(): boolean {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (this.#model.hasTells(partition) || this.#model.isReminderDue(partition, this.#now() - SKEW_MAX_MS))
        return true;
    }
    return false;
  }
}

function drawWeather(random: SeededRandom): Weather {
  const bad = random.pick([0, 0.3, 1, 2]);
  return {
    read_lost: 0.02 * bad * random.fraction(),
    lost_before: 0.03 * bad * random.fraction(),
    lost_after: 0.05 * bad * random.fraction(),
    late: 0.04 * bad * random.fraction(),
    slow: 0.05 * random.fraction(),
    slow_max_ms: random.pick([20, 300, 2_500]),
  };
}

function settledFlag(work: Promise<unknown>): { isDone: () => boolean } {
  let done = false;
  void work.finally(() => {
    done = true;
  });
  return { isDone: () => done };
}
