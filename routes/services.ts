import type { EdgeServices } from '../src/edge/http/edge_services.js';
import type { Draining } from '../src/edge/operations/draining.js';
import type { HealthWatch } from '../src/edge/operations/health_watch.js';
import type { OperationQueries } from '../src/edge/operations/operation_queries.js';
import type { ClusterProcesses } from '../src/engine/cluster/cluster_processes.js';
import type { ProcessQueries } from '../src/engine/cluster/process_queries.js';
import type { DueWorker } from '../src/engine/jobs/due_worker.js';
import type { ServerKeyRotation } from '../src/engine/secrets/server_key_rotation.js';
import type { StorageHealth } from '../src/engine/store/storage_health.js';
import type { ErasureWorker } from '../src/features/accounts/erasures.js';
import type { DeviceActivity, DeviceQueries } from '../src/features/devices/activity.js';
import type { DeviceConnections } from '../src/features/devices/connections.js';
import type { InsightServices } from '../src/features/insights/library/insight_services.js';
import type { SpeechWithdrawal } from '../src/features/insights/library/speech_withdrawal.js';
import type { ClientDocuments } from '../src/features/oauth/client_documents.js';
import type { Clients } from '../src/features/oauth/clients/clients.js';
import type { OmiConversations } from '../src/features/omi/omi_conversations.js';
import type { ChunkProcessing } from '../src/features/recordings/chunk_processing.js';
import type { JoinedFiles } from '../src/features/recordings/joined_audio.js';
import type { MissingAudio } from '../src/features/recordings/missing_audio.js';
import type { TranscriptReaders } from '../src/features/recordings/transcript_reader.js';
import type { Embeddings } from '../src/features/search/index/embeddings.js';
import type { SearchIndexes } from '../src/features/search/index/search_index.js';
import type { VectorRenewal } from '../src/features/search/index/vector_renewal.js';
import type { RecallAnswers } from '../src/features/search/questions/recall_answer.js';
import type { FeatureServices } from '../src/features/services.js';
import type { Announcements } from '../src/features/transcripts/announcements.js';
import type { TranscriberSettings, TranscriberShown } from '../src/features/transcripts/engines/choose_engine.js';
import type { EngineNames } from '../src/features/transcripts/engines/engines_file.js';
import type { FileTranscriptions } from '../src/features/transcripts/file_transcription.js';
import type { LiveText } from '../src/features/transcripts/live_text.js';
import type { TellingWorker } from '../src/features/transcripts/telling_worker.js';
import type { TranscriptionJobs } from '../src/features/transcripts/transcription_jobs.js';
import type { DeliveryWorker } from '../src/features/webhooks/delivery_worker.js';
import type { EndpointQueries } from '../src/features/webhooks/endpoint_activity.js';
import type { EndpointTests } from '../src/features/webhooks/endpoint_test.js';
import type { RetentionSweep } from '../src/features/workspaces/retention_sweep.js';

/** The services that handlers use; made once at the start. */
export type Services = FeatureServices &
  EdgeServices & {
    settings: TranscriberSettings & {
      captcha_script_url: string | null;
      captcha_site_key: string | null;
      captcha_widget_class: string;
      data_dir: string;
      smtp_url: string | null;
      test_clock: boolean;
    };
    announcements: Announcements;
    clients: Clients;
    client_documents: ClientDocuments;
    connections: DeviceConnections;
    deliveries: DeliveryWorker;
    device_activity: DeviceActivity;
    /** The model that makes vectors of what was said; null without one. */
    embeddings: Embeddings | null;
    /** Has vectors of another model made anew. */
    vector_renewal: VectorRenewal;
    endpoint_tests: EndpointTests;
    /** Names of engines that pipelines may have; null where others than this server may know more. */
    engine_names: EngineNames;
    erasures: ErasureWorker;
    exports: DueWorker;
    file_transcriptions: FileTranscriptions;
    imports: DueWorker;
    insights: InsightServices;
    live_text: LiveText;
    joined_files: JoinedFiles;
    lost_audio: MissingAudio;
    omi_conversations: OmiConversations;
    processing: ChunkProcessing;
    /** Answers questions by the model at INSIGHTS_URL; null without one. */
    recall_answers: RecallAnswers | null;
    retention: RetentionSweep;
    /** The search indexes in memory. */
    search_indexes: SearchIndexes;
    speech_withdrawal: SpeechWithdrawal;
    /** Tells speakers apart by their number. */
    telling: TellingWorker;
    transcriber: TranscriberShown;
    transcript_readers: TranscriptReaders;
    transcription: TranscriptionJobs;
    /** The addresses that the start page names in development; null where others than this machine call the server. */
    development(): { operators_url: string; inbox_url: string | null } | null;
    /** The processes that work on this Redis. */
    members: ClusterProcesses;
    server_key_rotation: ServerKeyRotation;
    /** Whether storage does what requests ask of it. */
    storage_health: StorageHealth;
    /** The health of this process, for operators. */
    watch: HealthWatch;
    draining: Draining;
    /** All processes that serve on these ports, as operators query them. */
    processes: ProcessQueries<OperationQueries & DeviceQueries & EndpointQueries>;
    /** Applies the outbox messages that are under way, for the test clock: what was asked before it moves comes before. */
    handleMessages(): Promise<void>;
    /** Handles all that is due by now: reminders, outbox messages, mails, deliveries, old events. For the test clock. */
    handleDue(): Promise<void>;
  };
