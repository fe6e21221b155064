import type { Logger } from 'pino';
import type { Authority } from '../certs/authority.js';
import type { AccountConcurrencyLimiter } from './admission/account_concurrency.js';
import type { DeviceBudgets } from './admission/device_budgets.js';
import type { Overload } from './admission/overload.js';
import type { RateLimits } from './admission/rate_limits.js';
import type { BlobStore } from './blobs/blob_store.js';
import type { Clock } from './clock.js';
import type { DeviceActivity } from './devices/activity.js';
import type { DeviceConnections } from './devices/connections.js';
import type { DeviceProxies } from './devices/proxies.js';
import type { MailSender } from './mail/mail_sender.js';
import type { Clients } from './oauth/clients/clients.js';
import type { Metrics } from './runtime/metrics.js';
import type { Asks } from './runtime/runtime.js';
import type { AccessTokens } from './secrets/access_tokens.js';
import type { ServerKeyRotation } from './secrets/server_key_rotation.js';
import type { ServerKeys } from './secrets/server_keys.js';
import type { SigningKeys } from './secrets/signing_keys.js';
import type { publicAddresses, Settings } from './settings.js';
import type { IssuedCertificates } from './store/issued_certificates.js';
import type { StorageHealth } from './store/storage_health.js';
import type { Store } from './store/store.js';
import type { Tracing } from './tracing/tracing.js';
import type { Watch } from './watch/watch.js';
import type { ChunkProcessing } from './workers/chunk_processing.js';
import type { DeliveryWorker } from './workers/deliveries.js';
import type { ErasureWorker } from './workers/erasures.js';
import type { MailWorker } from './workers/mail_worker.js';

/** What routes and workers work with; made once at the start. */
export type Services = {
  settings: Settings;
  /** Ours, once the public listener has its port. */
  addresses(): ReturnType<typeof publicAddresses>;
  /** Bearer token of the operator port. */
  ops_token: string;
  /** Tries at signing in to the operators' page; also where RATE_LIMITS is off. */
  operator_tries: RateLimits<'operator_sign_ins' | 'operator_tokens'>;
  log: Logger;
  metrics: Metrics;
  clock: Clock;
  keys: ServerKeys;
  signing_keys: SigningKeys;
  server_key_rotation: ServerKeyRotation;
  access_tokens: AccessTokens;
  store: Store;
  runtime: Asks;
  blobs: BlobStore;
  mail: MailSender;
  mails: MailWorker;
  erasures: ErasureWorker;
  deliveries: DeliveryWorker;
  processing: ChunkProcessing;
  rates: RateLimits;
  account_concurrency: AccountConcurrencyLimiter;
  authority: Authority;
  certificates: IssuedCertificates;
  clients: Clients;
  connections: DeviceConnections;
  device_activity: DeviceActivity;
  device_budgets: DeviceBudgets;
  device_proxies: DeviceProxies;
  overload: Overload;
  /** Null where traces go nowhere. */
  tracing: Tracing | null;
  /** What operators see of how this process is doing. */
  watch: Watch;
  /** Whether storage does what requests ask of it. */
  storage_health: StorageHealth;
  /** Handles all that is due by now: reminders, tells, mails, deliveries, old events. For the test clock. */
  handleDue(): Promise<void>;
};
