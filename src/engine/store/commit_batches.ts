import { Cluster, type Redis } from 'ioredis';
import { MsgpackWriter } from './msgpack_writer.js';
import { slotOf } from './partitions.js';
import { StoreUnavailable } from './store.js';

/** The most commits of one call, and the most bytes: others wait while Redis runs them. */
const TOGETHER_MAX = 128;
const BYTES_MAX = 256 * 1024;
/**
 * Calls in progress to one server: it runs one while the next is on its way. While calls take long, as on a slow disk,
 * one more is allowed for each ms that they take: a commit that waited here for two calls would wait for two more
 * syncs.
 */
const CALLS = { least: 2, most: 16 };
/** The verdict on a commit whose keys are on another node of the cluster. */
const ELSEWHERE = 'elsewhere';

/** Calls the commit function on the node that has these keys; resolves with two values for each commit. */
type Call = (keys: readonly string[], commits: Buffer) => Promise<unknown>;
/** Writes one commit and gives the names of its keys. */
type Write = (out: MsgpackWriter) => readonly string[];
type VerdictReply = [verdict: string, number: string | number];
type Sent = { resolve: (said: VerdictReply) => void; reject: (error: unknown) => void };
type Batch = { sent: Sent[]; keys: readonly string[]; commits: Buffer };

/**
 * Sends commits. All commits made for a server while its calls are in progress share the next call: the more commits
 * there are, the more of them share a call and its wait for the disk.
 */
export class CommitBatches {
  readonly #redis: Redis;
  readonly #call: Call;
  readonly #queues = new Map<string, CommitQueue>();

  constructor(redis: Redis, call: Call) {
    this.#redis = redis;
    this.#call = call;
  }

  /** Sends a commit and returns the function's verdict. Rejects with StoreUnavailable if the verdict is unknown. */
  async send(partition: number, write: Write): Promise<VerdictReply> {
    if (this.#redis.status !== 'ready') throw NO_CONNECTION;
    const said = await this.#queueOf(partition).send(write);
    if (said[0] !== ELSEWHERE) return said;
    const out = new MsgpackWriter();
    return (await this.#call(write(out), out.take())) as VerdictReply;
  }

  /** The queue of a partition's node, as far as the node is known. */
  #queueOf(partition: number): CommitQueue {
    const redis = this.#redis as unknown;
    const node = redis instanceof Cluster ? (redis.slots[slotOf(partition)]?.[0] ?? '') : '';
    let queue = this.#queues.get(node);
    if (queue === undefined) {
      queue = new CommitQueue(this.#call);
      this.#queues.set(node, queue);
    }
    return queue;
  }
}

/** The commits of one server. */
class CommitQueue {
  readonly #call: Call;
  readonly #out = new MsgpackWriter();
  #sent: Sent[] = [];
  /** The keys of the first commit that was written. */
  #keys: readonly string[] = [];
  /** Full batches that wait behind the calls in progress. */
  #full: Batch[] = [];
  #calls = 0;
  #calls_max = CALLS.least;

  constructor(call: Call) {
    this.#call = call;
  }

  send(write: Write): Promise<VerdictReply> {
    return new Promise((resolve, reject) => {
      this.#take(write);
      this.#sent.push({ resolve, reject });
      if (this.#calls >= this.#calls_max) return;
      this.#calls += 1;
      // With all that others make in this turn of the event loop.
      setImmediate(() => void this.#sendAll());
    });
  }

  #take(write: Write): void {
    if (this.#sent.length === TOGETHER_MAX || this.#out.length > BYTES_MAX) this.#fill();
    const { length } = this.#out;
    try {
      const keys = write(this.#out);
      if (this.#sent.length === 0) this.#keys = keys;
    } catch (error) {
      this.#out.cut(length);
      throw error;
    }
  }

  #fill(): void {
    this.#full.push({ sent: this.#sent, keys: this.#keys, commits: this.#out.take() });
    this.#sent = [];
  }

  async #sendAll(): Promise<void> {
    while ((this.#sent.length > 0 || this.#full.length > 0) && this.#calls <= this.#calls_max) {
      if (this.#full.length === 0) this.#fill();
      const { sent, keys, commits } = this.#full.shift() as Batch;
      const began_ms = performance.now();
      try {
        const said = (await this.#call(keys, commits)) as (string | number)[];
        for (const [index, { resolve }] of sent.entries())
          resolve([said[index * 2] as string, said[index * 2 + 1] as string | number]);
      } catch (error) {
        for (const { reject } of sent) reject(error);
        if (error instanceof StoreUnavailable) this.#refuseWaiting();
      }
      const took_ms = Math.round(performance.now() - began_ms);
      this.#calls_max = Math.min(CALLS.most, Math.max(CALLS.least, took_ms));
    }
    this.#calls -= 1;
  }

  /** Refuses the waiting commits after a call has failed: the next call would only make them wait as long again. */
  #refuseWaiting(): void {
    if (this.#sent.length > 0) this.#fill();
    for (const { sent } of this.#full.splice(0)) for (const { reject } of sent) reject(NO_CONNECTION);
  }
}

const NO_CONNECTION = new StoreUnavailable('storage: no connection', { sent: false });
