import type { ClusterView } from '../cluster/cluster_processes.js';
import type { DuePoll } from '../jobs/due_poll.js';
import { DueTask } from '../jobs/due_task.js';
import type { Metrics } from '../metrics/metrics.js';
import type { ServerKeys } from '../secrets/server_keys.js';
import { decodeStored } from '../store/codec.js';
import type { Queued, Store } from '../store/store.js';
import type { MailSender } from './mail_sender.js';
import { openMail } from './sealed_mail.js';

const RUN_EVERY_MS = 1_000;
/** A leased mail that nobody took away comes back after this: longer than the sender's deadline. */
const LEASE_MS = 30_000;
const PER_PARTITION_MAX = 50;

type MailWorkerDeps = {
  store: Store;
  mail: MailSender;
  keys: ServerKeys;
  poll: DuePoll;
  members: ClusterView;
  metrics: Metrics;
  now: () => number;
};

/** Sends the mails that commits left in the partitions; a lease keeps two processes from sending one at the same time. */
export class MailWorker {
  readonly #deps: MailWorkerDeps;
  readonly #task: DueTask<void>;

  constructor(deps: MailWorkerDeps) {
    this.#deps = deps;
    const asked = { poll: deps.poll, queue: 'mails', every_ms: RUN_EVERY_MS } as const;
    this.#task = new DueTask(asked, async (partitions) => {
      await Promise.all(partitions.map((partition) => this.sendDue(partition)));
    });
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Sends what is due in all partitions. Never rejects. */
  look(): Promise<void> {
    return this.#task.runOnce();
  }

  /** Sends what is due in one partition, right after a commit has put something there. Never rejects. */
  async sendDue(partition: number): Promise<void> {
    const { store, members, now } = this.#deps;
    try {
      const now_ms = now();
      const leased = await store.lease(
        { partition, queue: 'mails' },
        { now_ms, again_ms: now_ms + LEASE_MS, limit: PER_PARTITION_MAX, holder: members.id },
      );
      await Promise.all(leased.map((mail) => this.#send(partition, mail)));
    } catch {
      // storage is away: the next run sends
    }
  }

  async #send(partition: number, { id, content }: Queued): Promise<void> {
    const { store, mail, keys, metrics, now } = this.#deps;
    const { sealed, give_up_at_ms } = decodeStored(content) as { sealed: Uint8Array; give_up_at_ms: number };
    if (now() >= give_up_at_ms) {
      metrics.mails.inc({ outcome: 'given_up' });
      return store.removeQueued({ partition, queue: 'mails' }, id);
    }
    const opened = openMail(keys, sealed);
    if (opened === null) return void metrics.mails.inc({ outcome: 'unreadable' }); // perhaps another process can
    const outcome = await mail.send(opened);
    metrics.mails.inc({ outcome: outcome.sent ? 'sent' : outcome.failure });
    const final = outcome.sent || outcome.failure === 'recipient' || outcome.failure === 'mail';
    if (final) await store.removeQueued({ partition, queue: 'mails' }, id);
  }
}
