import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ROUTES } from '../../routes/index.js';
import { issuerUrl } from '../access/issuer.js';
import { Draining } from '../edge/operations/draining.js';
import { HealthWatch } from '../edge/operations/health_watch.js';
import { type OperationQueries, operationAnswers } from '../edge/operations/operation_queries.js';
import { ClusterProcesses } from '../engine/cluster/cluster_processes.js';
import { ProcessQueries } from '../engine/cluster/process_queries.js';
import { DuePoll } from '../engine/jobs/due_poll.js';
import { SharedWindows } from '../engine/limits/shared_windows.js';
import { makeMetrics } from '../engine/metrics/metrics.js';
import { SERVER_KEYS_CHANNEL } from '../engine/secrets/server_key_rotation.js';
import { DecodedAudio } from '../engine/speech/decoded_audio.js';
import { EntityScan } from '../engine/store/entity_scan.js';
import { openTracing } from '../engine/tracing/open_tracing.js';
import { type DeviceQueries, deviceAnswers } from '../features/devices/activity.js';
import { REVOKED_CHANNEL } from '../features/devices/connections.js';
import { AccountReader } from '../features/exports/account_reader.js';
import { exportWorker } from '../features/exports/export_worker.js';
import { OmiConversations } from '../features/omi/omi_conversations.js';
import { JoinedFiles } from '../features/recordings/joined_audio.js';
import { TranscriptReaders } from '../features/recordings/transcript_reader.js';
import { SearchIndexes } from '../features/search/index/search_index.js';
import type { FeatureServices } from '../features/services.js';
import { openDecoders, openSpeechProcess, previewEngine } from '../features/transcripts/engines/choose_engine.js';
import { LiveText } from '../features/transcripts/live_text.js';
import { type EndpointQueries, endpointAnswers } from '../features/webhooks/endpoint_activity.js';
import { openAdmission, shareDescriptors, startOverload } from './server/admission.js';
import { startDelivery, startWorker } from './server/delivery.js';
import { openDevices } from './server/devices.js';
import { openClients, openIdentity, startServerKeyRotation } from './server/identity.js';
import { openRecallAnswers } from './server/insights.js';
import { Listeners } from './server/listeners.js';
import { OpenPorts } from './server/open_ports.js';
import { hearOthers, type OpenRedis } from './server/redis.js';
import { Shutdown } from './server/shutdown.js';
import { ofStorage, type ServerServices, type Start } from './server/start.js';
import { openBlobs, openFoundation, startRuntime, watchStorage } from './server/storage.js';
import { openFileTranscriptions } from './server/transcription.js';
import type { Settings } from './settings.js';

/** A server that serves. Ports are those it ended up with. */
export type Server = {
  services: ServerServices;
  base_url: string;
  ports: { public: number; device: number; operator: number };
  redis: OpenRedis['child'];
  /** Accepts nothing more, and waits for so long that each connection ends with an answer. */
  leave(max_ms: number): Promise<void>;
  /**
   * Says for `drain_ms` that it is not ready, and serves on. Then takes no more requests, answers those in progress, and
   * stops everything; Redis last. May be called twice.
   */
  close(options?: { drain_ms?: number }): Promise<void>;
};

/** Starts everything. What was started is stopped again when a later step fails. */
export async function startServer(
  settings: Settings,
  log: Logger,
  { primary = null, print = () => {} }: Partial<Pick<Start, 'primary' | 'print'>> = {},
): Promise<Server> {
  const shutdown = new Shutdown(log);
  try {
    const parts = await startParts({ settings, log, shutdown, primary, print });
    return {
      ...parts,
      async close({ drain_ms = 0 } = {}) {
        if (drain_ms > 0) {
          parts.services.draining.begin();
          await delay(drain_ms);
        }
        await shutdown.run();
      },
    };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

/** Each step may use what the steps before it started, and is stopped before them. */
async function startParts(start: Start): Promise<Omit<Server, 'close'>> {
  const { settings, log, shutdown, primary } = start;
  const descriptors = shareDescriptors(start);
  const foundation = await openFoundation(start);
  const { redis, place, child, keys, clock } = foundation;
  const tracing = await openTracing(settings);
  shutdown.add(() => tracing?.close());
  const metrics = makeMetrics();
  const entities = await startRuntime(start, foundation, { metrics, tracing });
  const { store, notices, runtime, actors, records } = entities;
  const members = new ClusterProcesses({ redis, log, since_ms: clock.unmoved() });
  shutdown.add(() => members.leave());
  await ofStorage(members.start());

  const open_ports = new OpenPorts(settings);
  const { addresses, development } = open_ports;
  const base_url = () => addresses().base_url;
  const clients = await openClients(start, { ...foundation, ...entities, base_url });
  const devices = await openDevices(start, { clock, records, redis });
  const blobs = await openBlobs(start);
  const speech = openSpeechProcess(settings);
  shutdown.add(() => speech.close());
  const decoders = openDecoders(settings);
  shutdown.add(() => decoders.close());
  const joined_files = new JoinedFiles();
  const transcript_readers = new TranscriptReaders();
  shutdown.add(() => transcript_readers.close());
  const voices = openSpeechProcess(settings, 'voices');
  shutdown.add(() => voices.close());
  metrics.pools.add(speech.pool).add(voices.pool).add(decoders.short).add(decoders.long).add(joined_files.pool);
  metrics.pools.add(joined_files.waveforms);
  const decoded = new DecodedAudio({ decoders, blobs, folder: settings.data_dir });
  shutdown.add(() => decoded.close());
  const poll = new DuePoll({ store, ownership: members, log, now: clock.now });
  notices.onDue((queue, partition, at_ms) => poll.note(queue, partition, at_ms));
  poll.start();
  shutdown.add(() => poll.stop());
  const delivery = await startDelivery(start, {
    ...foundation,
    ...entities,
    poll,
    members,
    blobs,
    decoders,
    decoded,
    speech,
    voices,
    joined_files,
    transcript_readers,
    metrics,
    tracing,
    base_url,
  });
  const server_key_rotation = startServerKeyRotation(start, foundation);
  await ofStorage(
    hearOthers(start, place, {
      [REVOKED_CHANNEL]: (text) => devices.connections.heard(text),
      [SERVER_KEYS_CHANNEL]: () => keys.reread(),
      [members.channel]: () => {}, // that somebody listens is what others ask
    }),
  );
  const overload = startOverload(start, metrics);
  const storage_health = watchStorage(start, foundation, metrics);
  const { awaited, deliveries, mail, handleMessages, handleWork, ...workers } = delivery;
  const { retention } = workers;
  const { device_activity } = devices;
  const watch = new HealthWatch({
    metrics,
    runtime,
    redis,
    storage_health,
    clock,
    overload,
    deliveries,
    mail,
    device_activity,
    transcription: delivery.transcription,
    insights: delivery.insights.jobs,
    retention,
    lost_audio: delivery.lost_audio,
    data_dir: settings.data_dir,
  });
  watch.start();
  shutdown.add(() => watch.stop());

  const is_alone = settings.redis_url === null && primary === null;
  const shared = is_alone ? null : new SharedWindows(redis, keys);
  const identity = await openIdentity(
    start,
    { ...foundation, ...entities },
    { clients, server_key_rotation, shared, issuerUrl: (issuer) => issuerUrl({ addresses }, issuer) },
  );
  metrics.pools.add(identity.client_documents.pool);
  const admission = openAdmission(settings, { metrics, shared });
  const feature_services: FeatureServices & Pick<ServerServices, 'settings' | 'transcriber'> = {
    settings,
    addresses,
    log,
    metrics,
    keys,
    clock,
    store,
    entity_scan: new EntityScan(redis),
    runtime,
    actors,
    blobs,
    speech,
    voices,
    decoders,
    decoded,
    mail,
    mails: workers.mails,
    transcriber: workers.transcriber,
    rates: admission.rates,
    authority: devices.authority,
    certificates: devices.certificates,
    ...identity,
  };
  const reader = new AccountReader(feature_services);
  const exports = exportWorker({
    ...{ store, actors, blobs, poll, reader, metrics, log, now: clock.now },
    lost_audio: delivery.lost_audio,
  });
  const handleDue = async () => {
    await server_key_rotation.look();
    await handleWork();
    await exports.look();
  };
  const processes = new ProcessQueries<OperationQueries & DeviceQueries & EndpointQueries>(primary, {
    ...operationAnswers({ metrics, runtime, watch }),
    ...deviceAnswers(device_activity),
    ...endpointAnswers(deliveries, device_activity.since_ms),
  });
  const draining = new Draining();
  const live_text = new LiveText({
    actors,
    runtime,
    stores: { blobs, decoded },
    jobs: delivery.transcription,
    awaited,
    engine: previewEngine(settings, speech),
    isLeaving: () => draining.isLeaving,
  });
  for (const pool of live_text.pools) metrics.pools.add(pool);
  const file_transcriptions = openFileTranscriptions(start, { decoders, clock, metrics });
  const omi_conversations = new OmiConversations();
  metrics.pools.add(omi_conversations.pool);
  const recall_answers = openRecallAnswers({ settings, log }, { metrics, clock });
  shutdown.add(async () => recall_answers?.close());
  const services: ServerServices = {
    ...feature_services,
    development,
    joined_files,
    transcript_readers,
    tracing,
    watch,
    handleMessages,
    handleDue,
    draining,
    live_text,
    file_transcriptions,
    omi_conversations,
    processes,
    storage_health,
    members,
    deliveries,
    exports,
    ...workers,
    search_indexes: new SearchIndexes({ store, runtime, metrics, has_vectors: delivery.embeddings !== null }),
    recall_answers,
    ...devices,
    ...identity,
    overload,
    ...admission,
  };
  startWorker(start, exports, metrics);
  const listeners = new Listeners(services, { shutdown, primary });
  const ports = await listeners.start(ROUTES, descriptors, open_ports);
  // Answers that last would hold up the end of the listeners.
  shutdown.add(() => live_text.close());
  // First of all, so that others take over while it answers what is in progress.
  shutdown.add(() => members.leave());
  return { services, base_url: base_url(), ports, redis: child, leave: (max_ms) => listeners.leave(max_ms) };
}
