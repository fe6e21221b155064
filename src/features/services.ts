import type { Logger } from 'pino';
import type { Authority } from '../../certs/authority.js';
import type { AccessDeps } from '../access/principal.js';
import type { BlobStore } from '../engine/blobs/blob_store.js';
import type { DueWorker } from '../engine/jobs/due_worker.js';
import type { RateLimits } from '../engine/limits/rate_limits.js';
import type { MailSender } from '../engine/mail/mail_sender.js';
import type { Metrics } from '../engine/metrics/metrics.js';
import type { Actors } from '../engine/runtime/actors.js';
import type { Asks } from '../engine/runtime/runtime.js';
import type { AccessTokens } from '../engine/secrets/access_tokens.js';
import type { ServerKeys } from '../engine/secrets/server_keys.js';
import type { SigningKeys } from '../engine/secrets/signing_keys.js';
import type { AudioDecoders } from '../engine/speech/audio_decoders.js';
import type { DecodedAudio } from '../engine/speech/decoded_audio.js';
import type { SpeechProcess } from '../engine/speech/speech_process.js';
import type { EntityScan } from '../engine/store/entity_scan.js';
import type { IssuedCertificates } from '../engine/store/issued_certificates.js';
import type { Store } from '../engine/store/store.js';
import type { Clock } from '../engine/time/clock.js';

/**
 * The parts from below the features that use cases are made of. Each function takes those that it needs by name. It takes a
 * part of a feature, its own or an earlier one, by the type of that part.
 */
export type FeatureServices = AccessDeps & {
  access_tokens: AccessTokens;
  actors: Actors;
  authority: Authority;
  blobs: BlobStore;
  certificates: IssuedCertificates;
  clock: Clock;
  /** Where staff find what no index lists. */
  entity_scan: EntityScan;
  keys: ServerKeys;
  log: Logger;
  mail: MailSender;
  mails: DueWorker;
  metrics: Metrics;
  rates: RateLimits;
  runtime: Asks;
  settings: {
    brand_names: readonly string[];
    captcha_secret: string | null;
    captcha_url: string | null;
    device_cert_days: number;
    legacy_base_url: string | null;
    rate_limits: boolean;
  };
  signing_keys: SigningKeys;
  /** Decodes audio. */
  decoders: AudioDecoders;
  decoded: DecodedAudio;
  /** Recognizes speech. */
  speech: SpeechProcess;
  /** Listens to whole recordings, to tell speakers apart. */
  voices: SpeechProcess;
  store: Store;
};
