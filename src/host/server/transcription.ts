import type { BlobStore } from '../../engine/blobs/blob_store.js';
import type { DuePoll } from '../../engine/jobs/due_poll.js';
import { closeEngines } from '../../engine/jobs/engine_worker.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { AudioDecoders } from '../../engine/speech/audio_decoders.js';
import type { DecodedAudio } from '../../engine/speech/decoded_audio.js';
import type { SpeechProcess } from '../../engine/speech/speech_process.js';
import type { Clock } from '../../engine/time/clock.js';
import type { MissingAudio } from '../../features/recordings/missing_audio.js';
import { TranscriptionBacklog } from '../../features/transcripts/backlog.js';
import { transcriptionWorker } from '../../features/transcripts/content_worker.js';
import {
  openSpeechProcess,
  transcriberShown,
  transcriptionEngines,
  waitingEngine,
} from '../../features/transcripts/engines/choose_engine.js';
import type { EnginesFile } from '../../features/transcripts/engines/engines_file.js';
import { FileTranscriptions } from '../../features/transcripts/file_transcription.js';
import { TranscriptionJobs } from '../../features/transcripts/transcription_jobs.js';
import type { Start } from './start.js';
import type { Entities, Foundation } from './storage.js';

type OpenTranscriptionDeps = Pick<Entities, 'store' | 'actors'> &
  Pick<Foundation, 'clock'> & {
    blobs: BlobStore;
    decoded: DecodedAudio;
    lost_audio: MissingAudio;
    poll: DuePoll;
    metrics: Metrics;
    streamIds: () => AsyncIterable<string>;
    insights: boolean;
    further: EnginesFile['transcription'];
    speech: SpeechProcess;
  };

/** Opens the transcription: the windows for workers, and the built-in worker if there is an engine. */
export function openTranscription(
  { settings, log, shutdown }: Start,
  {
    store,
    actors,
    clock,
    blobs,
    decoded,
    lost_audio,
    poll,
    metrics,
    streamIds,
    insights,
    further,
    speech,
  }: OpenTranscriptionDeps,
) {
  const { now } = clock;
  const {
    content_at_once: at_once,
    transcribe_backlog_days: days,
    transcribe_final_pass,
    transcribe_diarize,
  } = settings;
  const window_ms = settings.transcribe_window_s * 1_000;
  const has_engine = settings.content_worker;
  // Who tells speakers apart elsewhere is not this server's engine: workers get a recording once.
  const final_pass = transcribe_final_pass || (transcribe_diarize && has_engine);
  const jobs = new TranscriptionJobs({
    store,
    actors,
    poll,
    metrics,
    log,
    now,
    window_ms,
    final_pass,
    has_engine,
    insights,
  });
  const engines = transcriptionEngines(settings, further, { speech, now });
  shutdown.add(() => closeEngines(engines));
  const worker =
    engines.size === 0
      ? null
      : transcriptionWorker({ jobs, stores: { blobs, decoded }, lost_audio, engines, metrics, log, at_once });
  const offer = (stream_id: string) => jobs.due.offer(stream_id);
  const transcriber = transcriberShown(settings, further);
  const transcribes = transcriber.by === 'nobody' ? undefined : { window_ms };
  const backlog =
    transcribes === undefined
      ? null
      : new TranscriptionBacklog({ streamIds, actors, log, now, days, window_ms, offer });
  return {
    jobs,
    transcriber,
    transcribes,
    awaited: async (stream_id: string) => (transcribes === undefined ? null : jobs.awaited(stream_id)),
    onTold: offer,
    workers: [worker, backlog].filter((one) => one !== null),
    look: async () => worker?.look(),
  };
}

/** Text of files for callers that wait for it. */
export function openFileTranscriptions(
  { settings, shutdown }: Start,
  { decoders, clock, metrics }: { decoders: AudioDecoders; clock: Clock; metrics: Metrics },
): FileTranscriptions {
  const speech = openSpeechProcess(settings, 'file_speech');
  const { engine, diarizes } = waitingEngine(settings, { speech, now: clock.now });
  shutdown.add(async () => {
    await engine?.close();
    await speech.close();
  });
  const transcriptions = new FileTranscriptions({ engine, diarizes, decoders, folder: settings.data_dir });
  metrics.pools.add(transcriptions.pool).add(speech.pool);
  return transcriptions;
}
