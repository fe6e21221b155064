import type { Logger } from 'pino';
import type { Authority } from '../../certs/authority.js';
import type { AccessDeps } from '../access/principal.js';
import type { BlobStore } from '../engine/blobs/blob_store.js';
import type { ProcessQueries } from '../engine/cluster/process_queries.js';
import type { RateLimits } from '../engine/limits/rate_limits.js';
import type { MailSender } from '../engine/mail/mail_sender.js';
import type { MailWorker } from '../engine/mail/mail_worker.js';
import type { Metrics } from '../engine/metrics/metrics.js';
import type { Actors } from '../engine/runtime/actors.js';
import type { Asks } from '../engine/runtime/runtime.js';
import type { AccessTokens } from '../engine/secrets/access_tokens.js';
import type { ServerKeys } from '../engine/secrets/server_keys.js';
import type { SigningKeys } from '../engine/secrets/signing_keys.js';
import type { SpeechProcess } from '../engine/speech/speech_process.js';
import type { EntityScan } from '../engine/store/entity_scan.js';
import type { IssuedCertificates } from '../engine/store/issued_certificates.js';
import type { Store } from '../engine/store/store.js';
import type { Clock } from '../engine/time/clock.js';
import type { ErasureWorker } from './accounts/erasures.js';
import type { DeviceActivity, DeviceQueries } from './devices/activity.js';
import type { DeviceConnections } from './devices/connections.js';
import type { Exporter } from './exports/exporter.js';
import type { InsightMaker } from './insights/engines/choose.js';
import type { InsightJobs } from './insights/insight_jobs.js';
import type { SpeechWithdrawal } from './insights/speech_withdrawal.js';
import type { Clients } from './oauth/clients/clients.js';
import type { ChunkProcessing } from './recordings/chunk_processing.js';
import type { LostAudio } from './recordings/lost_audio.js';
import type { SearchShelves } from './search/shelves.js';
import type { Announcements } from './transcripts/announcements.js';
import type { Transcriber, TranscriberSettings } from './transcripts/engines/choose_engine.js';
import type { EngineNames } from './transcripts/engines/engines_file.js';
import type { TranscriptionJobs } from './transcripts/transcription_jobs.js';
import type { DeliveryWorker } from './webhooks/delivery_worker.js';
import type { EndpointQueries } from './webhooks/endpoint_activity.js';
import type { RetentionSweep } from './workspaces/retention_sweep.js';

/** Who makes text of audio, as operators are told; `hosts`: all other machines that audio may go to. */
export type TranscriberShown = Transcriber & { hosts: string[] };

/** Who looks into conversations, as operators and readers are told; `made_by` is null where nobody does. */
export type InsightServices = {
  jobs: InsightJobs;
  by: InsightMaker['by'];
  made_by: 'extractive' | 'model' | 'external' | null;
  /** Other hosts that text goes to. */
  hosts: string[];
};

/** The parts that use cases are made of. Each function takes those that it needs by name. */
export type FeatureServices = AccessDeps & {
  access_tokens: AccessTokens;
  actors: Actors;
  announcements: Announcements;
  authority: Authority;
  blobs: BlobStore;
  certificates: IssuedCertificates;
  clients: Clients;
  clock: Clock;
  connections: DeviceConnections;
  deliveries: DeliveryWorker;
  device_activity: DeviceActivity;
  /** Names of engines that pipelines may have; null where others than this server may know more. */
  engine_names: EngineNames;
  /** Where staff find what no index lists. */
  entity_scan: EntityScan;
  erasures: ErasureWorker;
  exports: Exporter;
  insights: InsightServices;
  keys: ServerKeys;
  log: Logger;
  lost_audio: LostAudio;
  mail: MailSender;
  mails: MailWorker;
  metrics: Metrics;
  processes: ProcessQueries<DeviceQueries & EndpointQueries>;
  processing: ChunkProcessing;
  rates: RateLimits;
  retention: RetentionSweep;
  runtime: Asks;
  /** What can be found, as far as it is in memory. */
  search_shelves: SearchShelves;
  settings: TranscriberSettings & {
    brand_names: readonly string[];
    captcha_secret: string | null;
    captcha_url: string | null;
    device_cert_days: number;
    legacy_base_url: string | null;
    rate_limits: boolean;
  };
  signing_keys: SigningKeys;
  /** Decodes audio and recognizes speech. */
  speech: SpeechProcess;
  speech_withdrawal: SpeechWithdrawal;
  store: Store;
  transcriber: TranscriberShown;
  transcription: TranscriptionJobs;
};
