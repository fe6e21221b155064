import type { Logger } from 'pino';
import { account } from '../../actors/accounts/account.js';
import { appSession } from '../../actors/accounts/app_session.js';
import { exports } from '../../actors/accounts/exports.js';
import { files } from '../../actors/accounts/files.js';
import { personalAccessToken } from '../../actors/accounts/personal_access_token.js';
import { binding } from '../../actors/devices/binding.js';
import { bleAddress } from '../../actors/devices/ble_address.js';
import { claim } from '../../actors/devices/claim.js';
import { device } from '../../actors/devices/device.js';
import { deviceSession } from '../../actors/devices/device_session.js';
import { email } from '../../actors/emails/email.js';
import { context } from '../../actors/insights/context.js';
import { library } from '../../actors/insights/library.js';
import { authSession } from '../../actors/oauth/auth_session.js';
import { grant } from '../../actors/oauth/grant.js';
import { imports } from '../../actors/recordings/imports.js';
import { omi } from '../../actors/recordings/omi.js';
import { signals } from '../../actors/recordings/signals.js';
import { source } from '../../actors/recordings/source.js';
import { stream } from '../../actors/recordings/stream.js';
import { contacts } from '../../actors/transcripts/contacts.js';
import { transcript } from '../../actors/transcripts/transcript.js';
import { endpoint } from '../../actors/webhooks/endpoint.js';
import { sweep } from '../../actors/workspaces/sweep.js';
import { workspace } from '../../actors/workspaces/workspace.js';
import type { BlobStore } from '../../src/engine/blobs/blob_store.js';
import type { ClusterView, Ownership } from '../../src/engine/cluster/cluster_processes.js';
import { DuePoll } from '../../src/engine/jobs/due_poll.js';
import { makeMetrics } from '../../src/engine/metrics/metrics.js';
import { actorsOf } from '../../src/engine/runtime/actors.js';
import { OutboxRelay } from '../../src/engine/runtime/outbox_relay.js';
import { reminderWorker } from '../../src/engine/runtime/reminder_worker.js';
import { Runtime } from '../../src/engine/runtime/runtime.js';
import type { ServerKeys } from '../../src/engine/secrets/server_keys.js';
import { ToldVersions } from '../../src/engine/store/told_versions.js';
import { ErasureWorker } from '../../src/features/accounts/erasures.js';
import { DeliveryWorker } from '../../src/features/webhooks/delivery_worker.js';
import { Takeover } from '../../src/features/webhooks/takeover.js';
import type { WebhookSender } from '../../src/features/webhooks/webhook_sender.js';
import type { Connection } from './connection.js';
import { tally } from './tally.js';
import type { ProcessTellings } from './tellings.js';
import type { ProcessTimers, VirtualTime } from './virtual_time.js';

const KINDS = [
  ...[
    email,
    account,
    appSession,
    authSession,
    device,
    claim,
    binding,
    bleAddress,
    deviceSession,
    grant,
    signals,
    source,
    stream,
  ],
  ...[workspace, personalAccessToken, endpoint, tally],
  ...[contacts, context, exports, files, imports, library, omi, sweep, transcript],
];

/** No bytes are uploaded here. */
const NO_BLOBS = { removeFolder: async () => {} } as unknown as BlobStore;

/** Seals nothing: that is tested elsewhere. */
const NO_KEYS = {
  seal: (_purpose: string, plaintext: Uint8Array) => plaintext,
  unseal: (_purpose: string, sealed: Uint8Array) => sealed,
} as unknown as ServerKeys;

/** Nobody reads them here, and a registry costs more than a run. */
const metrics = makeMetrics();

type Parts = {
  connection: Connection;
  time: VirtualTime;
  timers: ProcessTimers;
  now: () => number;
  trust_memory: boolean;
  /** How it is told what others commit. */
  tellings: ProcessTellings;
  active_max: number;
  onError: (text: string) => void;
  /** Posts deliveries when it is given. */
  poster: WebhookSender | null;
  members: Ownership & ClusterView;
  /** A reminder is tried. */
  onTry: (name: string) => void;
};

/** A server process without its listeners: the real runtime and workers on a connection of their own. */
export class SimulatedProcess {
  readonly connection: Connection;
  readonly member_id: string;
  readonly runtime: Runtime;
  readonly #told: ToldVersions | null;
  readonly reminders: ReturnType<typeof reminderWorker>;
  readonly #relay: OutboxRelay;
  readonly erasures: ErasureWorker;
  readonly deliveries: DeliveryWorker | null;
  readonly #time: VirtualTime;
  readonly #timers: ProcessTimers;
  readonly crashed: Promise<void>;
  #onCrash: () => void = () => {};
  alive = true;

  constructor(parts_of: Parts) {
    const { connection, time, timers, now, trust_memory, tellings, active_max, onError, poster, members, onTry } =
      parts_of;
    this.connection = connection;
    this.member_id = members.id;
    this.#time = time;
    this.#timers = timers;
    this.crashed = new Promise((resolve) => {
      this.#onCrash = resolve;
    });
    const error = ({ err, ...fields }: { err?: unknown }, text: string) =>
      onError(`${text} ${JSON.stringify(fields)} ${err instanceof Error ? err.stack : ''}`);
    const log = { info() {}, warn() {}, error, isLevelEnabled: () => false } as unknown as Logger;
    const { store } = connection;
    this.#told = trust_memory
      ? null
      : new ToldVersions({
          tellings,
          poll: tellings.poll,
        });
    this.runtime = new Runtime({
      ...{ store, metrics, log, now, trust_memory, active_max },
      told: this.#told,
      kinds: KINDS,
    });
    const poll = new DuePoll({ store, ownership: members, log, now });
    connection.onDue = (queue, partition, at_ms) => poll.note(queue, partition, at_ms);
    poll.start();
    this.#relay = new OutboxRelay({ store, runtime: this.runtime, poll, metrics, log });
    const { runtime } = this;
    const deliver: Runtime['deliver'] = (to, incoming) => {
      const { source } = incoming;
      if (source.from === 'reminder') onTry(`${to.kind}:${to.id} ${source.member}@${source.at_ms}`);
      return runtime.deliver(to, incoming);
    };
    this.reminders = reminderWorker({ store, runtime: { deliver }, poll, metrics, log, now });
    const rewriteDisk = async () => true;
    this.erasures = new ErasureWorker({
      ...{ store, actors: actorsOf(this.runtime), poll, members, metrics, log, now },
      blobs: NO_BLOBS,
      rewriteDisk,
      deletePart: async () => {},
    });
    this.erasures.worker.start();
    this.#relay.start();
    this.reminders.start();
    const parts = {
      store,
      actors: actorsOf(this.runtime),
      poll,
      members,
      keys: NO_KEYS,
      metrics,
      log,
      now,
      tracing: null,
    };
    this.deliveries = poster === null ? null : new DeliveryWorker({ ...parts, poster });
    connection.onDeliveries = (endpoint_ids) => this.deliveries?.wake(endpoint_ids);
    this.deliveries?.start();
    const deliveries = this.deliveries ?? { takeBack: async () => {} };
    new Takeover({ store, poll, members, deliveries, log, now }).start();
  }

  /** Ends without warning: no answer comes in or goes out any more. */
  crash(): void {
    if (!this.alive) return;
    this.alive = false;
    this.connection.cut();
    this.#time.end(this.#timers);
    this.#told?.stop();
    void this.#relay.stop();
    void this.erasures.worker.stop();
    void this.reminders.stop();
    // The delivery worker is not stopped: that would wait for requests that never come back.
    void this.runtime.shutdown(0);
    this.#onCrash();
  }

  /** Tells whose senders wait for them. */
  get unsettled(): number {
    return this.#relay.waiters;
  }

  /** Messages that wait for their turn. */
  get waiting(): number {
    return Object.values(this.runtime.inspect(0).kinds).reduce((sum, { waiting }) => sum + waiting, 0);
  }
}
