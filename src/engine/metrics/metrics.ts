import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { VERSION } from '../process/version.js';

const SECONDS_BUCKETS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Up to the 24 hours that a delivery may take. */
const LATENCY_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 28_800, 86_400,
];

/** Measuring the event loop closely wakes an idle process up a hundred times a second: what watches over it does so rarely. */
const NEVER_MS = 2 ** 31 - 1;
const NOT_MEASURED = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/** A pool of places as its metrics need it. */
type CountedPool = {
  name: string;
  counts: { taken: number; waiting: number; refused: Readonly<Record<string, number>> };
};

/** A worker as its metrics need it. `counts`: members that it was at, by how that ended. */
type CountedWorker = { places: CountedPool; counts: Readonly<Record<string, number>> };

/** Makes the metrics, for operators. Labels name kinds and reasons, never ids. */
export function makeMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'spool_', eventLoopMonitoringPrecision: NEVER_MS });
  for (const name of NOT_MEASURED) registry.removeSingleMetric(`spool_nodejs_eventloop_lag_${name}_seconds`);
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `spool_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `spool_${name}`, help, labelNames, registers });
  const seconds = (name: string, help: string, ...labelNames: string[]) =>
    new Histogram({ name: `spool_${name}_seconds`, help, labelNames, buckets: SECONDS_BUCKETS, registers });
  const latency = (name: string, help: string) =>
    new Histogram({ name: `spool_${name}_seconds`, help, buckets: LATENCY_BUCKETS, registers });
  const pools = new Set<CountedPool>();
  const ofPools = (name: string, help: string, countOf: (counts: CountedPool['counts']) => number) =>
    new Gauge({
      ...{ name: `spool_pool_${name}`, help, labelNames: ['pool'], registers },
      collect() {
        for (const { name: pool, counts } of pools) this.set({ pool }, countOf(counts));
      },
    });
  ofPools('taken', 'Places taken in a pool that accounts share', ({ taken }) => taken);
  ofPools('waiting', 'Work that waits for a place in a pool that accounts share', ({ waiting }) => waiting);
  new Counter({
    ...{ name: 'spool_pool_refusals_total', help: 'Work that got no place in such a pool, by cause', registers },
    labelNames: ['pool', 'cause'],
    collect() {
      this.reset();
      for (const { name: pool, counts } of pools)
        for (const [cause, count] of Object.entries(counts.refused)) this.inc({ pool, cause }, count);
    },
  });
  const workers = new Set<CountedWorker>();
  new Counter({
    ...{ name: 'spool_due_total', help: 'What fell due and a worker here was at, by how that ended', registers },
    labelNames: ['pool', 'outcome'],
    collect() {
      this.reset();
      for (const { places, counts } of workers)
        for (const [outcome, count] of Object.entries(counts)) this.inc({ pool: places.name, outcome }, count);
    },
  });
  gauge('build_info', 'Always 1; the label says which version runs', 'version').set({ version: VERSION }, 1);
  return {
    registry,
    /** Pools whose counts are shown. */
    pools,
    /** Adds a worker whose counts are shown, with its pool. */
    addWorker(worker: CountedWorker): void {
      pools.add(worker.places);
      workers.add(worker);
    },
    mailbox_depth: new Histogram({
      name: 'spool_mailbox_depth',
      help: 'Messages waiting in the mailbox when a batch begins',
      labelNames: ['kind'],
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
      registers,
    }),
    mailbox_age: seconds('mailbox_age', 'Age of the oldest message when a batch begins', 'kind'),
    batch: seconds('batch', 'Time of a batch, its commit included', 'kind'),
    commit: seconds('commit', 'Time of a commit, from sending to verdict'),
    commits: counter('commits_total', 'Commits by verdict', 'verdict'),
    conflicts: counter('commit_conflicts_total', 'Commits that met another version', 'kind'),
    unknown_outcomes: counter(
      'commit_unknown_outcomes_total',
      'Commits whose answer did not come, by how they were resolved',
      'resolved',
    ),
    refused: counter('messages_refused_total', 'Messages the runtime refused, by reason', 'kind', 'reason'),
    thrown: counter('messages_thrown_total', 'Messages whose decision threw', 'kind'),
    activations: counter('activations_total', 'Entities brought into memory', 'kind'),
    passivations: counter('passivations_total', 'Entities put to rest', 'kind'),
    active: gauge('active_entities', 'Entities in memory', 'kind'),
    quarantined: gauge('quarantined_entities', 'Entities whose stored state cannot be used', 'kind'),
    load: seconds('load', 'Time to load an entity', 'kind'),
    reminder_lateness: seconds('reminder_lateness', 'How late reminders fire'),
    outbox_lag: seconds('outbox_lag', 'From the commit of an outbox message to its application'),
    outbox_waiting: gauge('outbox_waiting', 'Outbox messages in memory that are not applied yet'),
    dead_letters: counter('dead_letters_total', 'Outbox messages and reminders that became dead letters', 'what'),
    mails: counter('mails_total', 'Mails by outcome', 'outcome'),
    delivery_attempts: counter('delivery_attempts_total', 'Requests to endpoints by what they say', 'verdict', 'error'),
    deliveries: counter('deliveries_total', 'Deliveries that ended, by outcome', 'outcome'),
    delivery_late_results: counter('delivery_late_results_total', 'Results whose delivery somebody else had by then'),
    delivery_first_attempt: latency('delivery_first_attempt', 'From the event to the first request'),
    delivery_success: latency('delivery_success', 'From the event to its acceptance'),
    deliveries_in_flight: gauge('deliveries_in_flight', 'Requests to endpoints in flight here'),
    endpoints_due: gauge('endpoints_due', 'Endpoints with something to do that nobody has taken up'),
    endpoints_due_age: gauge('endpoints_due_age_seconds', 'How long the first of them has been due'),
    endpoints_disabled: counter('endpoints_disabled_total', 'Endpoints disabled after failures in a row'),
    requests: seconds('http_request', 'Time of a request by listener, route and status', 'listener', 'route', 'status'),
    exports: counter('exports_total', 'Exports of accounts that a worker here was at, by how that ended', 'outcome'),
    imports: counter('imports_total', 'Files that a worker here made recordings of, by how that ended', 'outcome'),
    import_time: seconds('import', 'Time that a worker had a file, by how that ended', 'outcome'),
    import_bytes_in_hand: gauge('import_bytes_in_hand', 'Bytes of the files that are imported here at the moment'),
    retention_removed: counter(
      'retention_removed_total',
      'Records that retention removed, by the list they stood on',
      'list',
    ),
    chunks_processed: counter(
      'chunks_processed_total',
      'Chunks, by who processed them and how that ended',
      'worker',
      'status',
    ),
    windows: counter(
      'transcription_windows_total',
      'Windows of audio, by who had them and how that ended',
      'worker',
      'status',
    ),
    engine_failures: counter('transcription_engine_failures_total', 'Tries of the built-in engine, by failure', 'code'),
    turns_published: counter('turns_published_total', 'Turns that results of windows made'),
    insight_jobs: counter(
      'insight_jobs_total',
      'Conversations looked into, by who had them and how that ended',
      'worker',
      'status',
    ),
    insight_failures: counter(
      'insight_engine_failures_total',
      'Tries of built-in engines at conversations, by failure',
      'code',
    ),
    insights_published: counter('insights_published_total', 'Items that results made, by kind', 'kind'),
    insights_dropped: counter('insights_dropped_total', 'Items of results that came to nothing, by reason', 'reason'),
    transcript_lag: latency('transcript_lag', 'Time from the arrival of audio to its turns'),
    search_kept: gauge('search_kept_bytes', 'Memory that holds what can be found of libraries'),
    search_blocks: counter('search_blocks_read_total', 'Blocks of pages and items that were read into that memory'),
    recall_answers: counter('recall_answers_total', 'Questions that the model was asked, by how that ended', 'result'),
    vectors_made: counter('vectors_made_total', 'Pages of turns that vectors were made of'),
    embedding_failures: counter('embedding_failures_total', 'Tries to make vectors, by failure', 'code'),
    uploads: counter('uploads_total', 'Chunks of audio stored'),
    uploads_bytes: counter('upload_bytes_total', 'Bytes of audio stored'),
    audio_swept: counter('audio_swept_total', 'Blobs that sweeps looked at'),
    audio_removed: counter(
      'audio_removed_total',
      'Blobs and leftovers that no chunk, file or export claimed, removed by sweeps',
    ),
    audio_missing: counter('audio_missing_total', 'Chunks marked stored of which a sweep found no bytes'),
    device_certificates: counter('device_certificates_total', 'Device certificates, by what was done', 'what'),
    device_refusals: counter('device_refusals_total', 'Requests whose certificate was refused, by reason', 'reason'),
    device_handshakes: counter(
      'device_handshakes_total',
      'TLS handshakes on the device listener; one that failed resumed nothing',
      'resumed',
      'outcome',
    ),
    overload_refusals: counter(
      'overload_refusals_total',
      'Requests and connections refused for load, by what was exceeded',
      'listener',
      'cause',
    ),
    overload_shedding: gauge('overload_shedding', 'What is refused: 0 nothing, 1 what may wait, 2 all'),
    connections: gauge('connections', 'Open connections, whatever they have come to, by listener', 'listener'),
    device_connections: gauge('device_connections', 'Open connections on the device listener'),
    storage_reachable: gauge('storage_reachable', '1 while Redis answers, else 0'),
    storage_takes_writes: gauge('storage_takes_writes', '1 while Redis takes writes, else 0'),
    storage_partitions_away: gauge(
      'storage_partitions_away',
      'Partitions, of 256, whose part of a Redis Cluster does not answer',
    ),
    storage_round_trip: gauge('storage_round_trip_seconds', 'Time of a PING to Redis, as last measured'),
    storage_memory: gauge('storage_memory_bytes', 'Memory that Redis uses for data'),
    storage_log_healthy: gauge('storage_log_healthy', '1 while Redis could write its append-only file, else 0'),
    dead_letters_waiting: gauge('dead_letters_waiting', 'Dead letters that nobody has retried'),
    data_free: gauge('data_free_bytes', 'Free space where DATA_DIR lies'),
    data_size: gauge('data_size_bytes', 'Size of the disk where DATA_DIR lies'),
    loop_delay_p99: gauge(
      'nodejs_eventloop_lag_p99_seconds',
      'How long the event loop was held up within 15 seconds, 99th percentile',
    ),
    clock_ahead: gauge('clock_ahead_seconds', "How far our clock, which is Redis', is ahead of this machine's"),
    mail_healthy: gauge('mail_healthy', '1 while mails can be sent, else 0'),
  };
}

export type Metrics = ReturnType<typeof makeMetrics>;
