import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Redis } from 'ioredis';
import type { Interval } from '../../domain/intervals.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import type { ClusterProcesses } from '../../engine/cluster/cluster_processes.js';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import { MailSender } from '../../engine/mail/mail_sender.js';
import { mailWorker } from '../../engine/mail/mail_worker.js';
import { outboxFolder } from '../../engine/mail/outbox_folder.js';
import { OutboxMailer } from '../../engine/mail/outbox_mailer.js';
import { SmtpMailer } from '../../engine/mail/smtp_mailer.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { rewriteAppendOnlyFile } from '../../engine/process/redis_rewrite.js';
import { OutboxRelay } from '../../engine/runtime/outbox_relay.js';
import { reminderWorker } from '../../engine/runtime/reminder_worker.js';
import type { AudioDecoders } from '../../engine/speech/audio_decoders.js';
import type { DecodedAudio } from '../../engine/speech/decoded_audio.js';
import type { SpeechProcess } from '../../engine/speech/speech_process.js';
import { AudioSweeps } from '../../engine/store/audio_sweeps.js';
import { nodesOf } from '../../engine/store/redis_connection.js';
import { streamIds } from '../../engine/store/stream_ids.js';
import type { Tracing } from '../../engine/tracing/tracing.js';
import { ErasureWorker } from '../../features/accounts/erasures.js';
import { dueMailWorker } from '../../features/due/due_mails.js';
import type { InsightServices } from '../../features/insights/library/insight_services.js';
import { SpeechWithdrawal } from '../../features/insights/library/speech_withdrawal.js';
import { refreshRoles } from '../../features/insights/library/suggestion_roles.js';
import { AudioSweep } from '../../features/recordings/audio_sweep.js';
import { ChunkProcessing } from '../../features/recordings/chunk_processing.js';
import { importWorker } from '../../features/recordings/import_worker.js';
import type { JoinedFiles } from '../../features/recordings/joined_audio.js';
import { MissingAudio } from '../../features/recordings/missing_audio.js';
import { resumePartDeletion } from '../../features/recordings/part_deletion.js';
import type { TranscriptReaders } from '../../features/recordings/transcript_reader.js';
import type { Embeddings } from '../../features/search/index/embeddings.js';
import type { VectorRenewal } from '../../features/search/index/vector_renewal.js';
import { Announcements } from '../../features/transcripts/announcements.js';
import type { TranscriberShown } from '../../features/transcripts/engines/choose_engine.js';
import {
  type EngineNames,
  type EnginesFile,
  engineNames,
  readEnginesFile,
  WrongEnginesFile,
} from '../../features/transcripts/engines/engines_file.js';
import { tellingWorker } from '../../features/transcripts/telling_worker.js';
import type { TranscriptionJobs } from '../../features/transcripts/transcription_jobs.js';
import { DeliveryWorker } from '../../features/webhooks/delivery_worker.js';
import { EndpointTests } from '../../features/webhooks/endpoint_test.js';
import { eventRetention } from '../../features/webhooks/event_retention.js';
import { Takeover } from '../../features/webhooks/takeover.js';
import { WebhookSender } from '../../features/webhooks/webhook_sender.js';
import { RetentionSweep } from '../../features/workspaces/retention_sweep.js';
import { openEmbeddings } from './embeddings.js';
import { openInsights } from './insights.js';
import { CannotStart, ofStorage, type Start } from './start.js';
import type { Entities, Foundation } from './storage.js';
import { openTranscription } from './transcription.js';

const DUE_ROUNDS_MAX = 1_000;

/** The services that run without a request: mails, webhooks, reminders, sweeps. */
export type DeliveryServices = {
  mail: MailSender;
  mails: DueWorker;
  erasures: ErasureWorker;
  deliveries: DeliveryWorker;
  endpoint_tests: EndpointTests;
  processing: ChunkProcessing;
  imports: DueWorker;
  retention: RetentionSweep;
  lost_audio: MissingAudio;
  transcription: TranscriptionJobs;
  telling: DueWorker;
  /** Who makes text of audio, as operators are told. */
  transcriber: TranscriberShown;
  announcements: Announcements;
  speech_withdrawal: SpeechWithdrawal;
  insights: InsightServices;
  /** Null without a model of vectors. */
  embeddings: Embeddings | null;
  vector_renewal: VectorRenewal;
  engine_names: EngineNames;
};

/** `handleMessages` applies outbox messages that are under way, `handleWork` does all that is due by now. */
export type Delivery = DeliveryServices & {
  /** Where a recording's audio still waits for its text; null where none is to come. */
  awaited(stream_id: string): Promise<Interval[] | null>;
  handleMessages(): Promise<void>;
  handleWork(): Promise<void>;
};

type StartDeliveryDeps = Entities &
  Foundation & {
    poll: DuePoll;
    members: ClusterProcesses;
    blobs: BlobStore;
    decoders: AudioDecoders;
    decoded: DecodedAudio;
    speech: SpeechProcess;
    /** Listens to whole recordings. */
    voices: SpeechProcess;
    joined_files: JoinedFiles;
    transcript_readers: TranscriptReaders;
    metrics: Metrics;
    tracing: Tracing | null;
    /** The public address, which mails lead to. */
    base_url: () => string;
  };

/** Opens the ways out and starts the workers. */
export async function startDelivery(start: Start, deps: StartDeliveryDeps): Promise<Delivery> {
  const { settings, log } = start;
  const {
    actors,
    blobs,
    clock,
    decoders,
    keys,
    members,
    metrics,
    notices,
    poll,
    redis,
    runtime,
    store,
    tracing,
    transcript_readers,
  } = deps;
  const { now } = clock;
  const due = { store, poll, log, now };
  const mail = openMail(start, now);
  metrics.pools.add(mail.pool);
  const relay = new OutboxRelay({ store, runtime, poll, metrics, log });
  const reminders = reminderWorker({ ...due, runtime, metrics });
  const mails = mailWorker({ ...due, mail, keys, members, metrics });
  const rewriteDisk = (stopped: () => boolean) => rewriteAll(redis, { log, stopped });
  const erasures = new ErasureWorker({
    ...{ ...due, actors, blobs, members, rewriteDisk },
    deletePart: (job) => resumePartDeletion({ actors, blobs }, job),
  });
  const poster = await openPoster(start);
  const deliveries = new DeliveryWorker({ ...due, actors, poster, keys, members, metrics, tracing });
  const endpoint_tests = new EndpointTests(poster, { on: settings.rate_limits });
  notices.onDeliveries((endpoint_ids) => deliveries.wake(endpoint_ids));
  const event_retention = eventRetention({ ...due, certain: clock.certain });
  const allStreamIds = () => streamIds(redis);
  const lost_audio = new MissingAudio({ actors, blobs, log, now });
  const audio_sweep = new AudioSweep({
    ...{ ...due, actors, blobs, lost_audio, metrics },
    sweeps: new AudioSweeps(redis),
    streamIds: allStreamIds,
  });
  await ofStorage(audio_sweep.schedule());
  const is_worker = settings.chunk_worker;
  const further = furtherEngines(settings.engines_file);
  const insights = openInsights(start, { ...deps, further: further.insights });
  const transcription = openTranscription(start, {
    ...deps,
    streamIds: allStreamIds,
    lost_audio,
    further: further.transcription,
    insights: insights.insights.made_by !== null,
  });
  const { awaited, transcribes, onTold } = transcription;
  const retention = new RetentionSweep({ ...due, actors, blobs, members, metrics, awaited });
  const processing = new ChunkProcessing({ ...due, actors, blobs, metrics, is_worker, transcribes, onTold });
  const makes_insights = insights.insights.made_by !== null;
  const imports = importWorker({
    ...due,
    actors,
    blobs,
    clock,
    processing,
    decoders,
    transcript_readers,
    metrics,
    insights: makes_insights,
  });
  const speakersChanged = (stream_id: string) => refreshRoles({ actors, runtime }, stream_id);
  const announcements = new Announcements({ ...due, actors, speakersChanged });
  const speech_withdrawal = new SpeechWithdrawal({ ...due, actors, runtime });
  const { voices, joined_files, decoded } = deps;
  const telling = tellingWorker({ ...due, actors, blobs, decoded, joined_files, lost_audio, voices });
  const due_mails = dueMailWorker({ ...due, actors, keys, runtime, base_url: deps.base_url });
  const takeover = new Takeover({ store, poll, members, deliveries, log, now });
  const sweeps = [event_retention, retention.worker, audio_sweep.worker];
  const workers = [
    mails,
    reminders,
    relay,
    erasures.worker,
    ...sweeps,
    ...(is_worker ? [processing.worker] : []),
    imports,
    deliveries,
    announcements.worker,
    takeover,
    speech_withdrawal.worker,
    telling,
    due_mails,
  ];
  const meaning = openEmbeddings(start, deps);
  const { switches, makers } = meaning;
  for (const worker of [...workers, ...transcription.workers, ...insights.workers, switches, ...makers]) {
    startWorker(start, worker, metrics);
  }
  const handleWork = async () => {
    for (let round = 0; round < DUE_ROUNDS_MAX; round++) {
      const fired = await reminders.look();
      await relay.drain();
      await due_mails.look();
      await mails.look();
      const posted = await deliveries.handleDue();
      await erasures.worker.look();
      await event_retention.look();
      const swept = await retention.worker.look();
      if (fired === 0 && posted === 0 && swept === 0) break;
    }
    await audio_sweep.worker.look();
    await imports.look();
    if (is_worker) await processing.worker.look();
    await transcription.look();
    await telling.look();
    await relay.drain();
    await speech_withdrawal.worker.look();
    await insights.look();
    for (const worker of [switches, ...makers]) await worker.look();
    await announcements.worker.look();
    await relay.drain();
  };
  const handleMessages = () => relay.drain();
  const { jobs, transcriber } = transcription;
  const engine_names = engineNames(settings.content_worker, further);
  const content = {
    transcription: jobs,
    telling,
    transcriber,
    announcements,
    speech_withdrawal,
    engine_names,
    insights: insights.insights,
    embeddings: meaning.embeddings,
    vector_renewal: meaning.vector_renewal,
  };
  const out = {
    mail,
    mails,
    erasures,
    deliveries,
    endpoint_tests,
    processing,
    imports,
    retention,
    lost_audio,
    ...content,
  };
  return { ...out, awaited, handleMessages, handleWork };
}

/** Starts a worker, and stops it before what it was made of. */
export function startWorker(
  { shutdown }: Pick<Start, 'shutdown'>,
  worker: DueWorker | { worker?: DueWorker; start(): void; stop(): Promise<void> },
  metrics: Metrics,
): void {
  const counted = 'places' in worker ? worker : worker.worker;
  if (counted !== undefined) metrics.addWorker(counted);
  worker.start();
  shutdown.add(() => worker.stop());
}

function furtherEngines(path: string | null): EnginesFile {
  try {
    return readEnginesFile(path);
  } catch (error) {
    throw error instanceof WrongEnginesFile ? new CannotStart(error.message) : error;
  }
}

function openMail({ settings, shutdown, print }: Start, now: () => number): MailSender {
  const { mail_from, smtp_url } = settings;
  const mail = new MailSender({
    mailer:
      smtp_url === null
        ? new OutboxMailer({ dir: outboxFolder(settings), mail_from, nowMs: now, print })
        : new SmtpMailer({ smtp_url, mail_from }),
  });
  shutdown.add(() => mail.close());
  return mail;
}

async function openPoster({ settings, log, shutdown }: Start): Promise<WebhookSender> {
  const { webhook_block_private: block_private, webhook_private_hosts: private_hosts } = settings;
  const { webhook_ca_file, webhook_proxy: proxy } = settings;
  const extra_ca = webhook_ca_file === null ? null : await trustedCertificates(webhook_ca_file);
  const poster = new WebhookSender({ block_private, private_hosts, extra_ca, proxy });
  shutdown.add(() => poster.close());
  if (proxy !== null && block_private)
    log.warn('webhooks go through a proxy: private addresses are for the proxy to refuse');
  return poster;
}

/** Whether the files of all nodes were written anew: what was erased is in none of them then. */
async function rewriteAll(redis: Redis, options: { log: Start['log']; stopped: () => boolean }): Promise<boolean> {
  for (const node of nodesOf(redis)) if (!(await rewriteAppendOnlyFile(node, options))) return false;
  return true;
}

/** PEM of certificates that webhooks trust beside the usual ones; a file that has none stops the start. */
async function trustedCertificates(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CannotStart(`WEBHOOK_CA_FILE can't be read: ${error.message}`);
  });
  const begun = text.match(/-----BEGIN CERTIFICATE-----/g)?.length ?? 0;
  const whole = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (begun === 0 || whole.length < begun) throw new CannotStart('WEBHOOK_CA_FILE must hold certificates as PEM.');
  for (const [index, pem] of whole.entries()) {
    try {
      new X509Certificate(pem);
    } catch {
      // What reads the file later would leave it out, and all that follow it.
      throw new CannotStart(`WEBHOOK_CA_FILE must hold certificates as PEM; number ${index + 1} is none.`);
    }
  }
  return text;
}
