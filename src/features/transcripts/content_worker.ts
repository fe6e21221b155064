import type { Logger } from 'pino';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import { engineWorker } from '../../engine/jobs/engine_worker.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { MissingAudio } from '../recordings/missing_audio.js';
import type { AudioStores } from './audio_pieces.js';
import type { Engine } from './engines/engine.js';
import { transcribeWindow } from './transcribe_window.js';
import type { TranscriptionJobs } from './transcription_jobs.js';

const EVERY_MS = 1_000;

type TranscriptionWorkerDeps = {
  jobs: TranscriptionJobs;
  stores: AudioStores;
  lost_audio: Pick<MissingAudio, 'confirms'>;
  /** Engines by the names that pipelines use. */
  engines: ReadonlyMap<string, Engine>;
  metrics: Metrics;
  log: Pick<Logger, 'warn'>;
  at_once: number;
};

/** The built-in worker that transcribes windows, each with the engine of its pipeline. */
export function transcriptionWorker(deps: TranscriptionWorkerDeps): DueWorker {
  const { jobs, stores, lost_audio, engines, metrics, log, at_once } = deps;
  const onLost = (chunk_id: string) => void lost_audio.confirms(chunk_id).catch(() => {});
  return engineWorker({
    jobs,
    at_once,
    every_ms: EVERY_MS,
    ended: metrics.windows,
    log,
    failed_text: 'a window could not be transcribed',

    async run(work, signal) {
      const engine = engines.get(work.engine);
      if (engine === undefined) {
        const message = 'The pipeline names an engine that this server does not know.';
        metrics.engine_failures.inc({ code: 'ENGINE_UNKNOWN' });
        return { ok: false, failure: { code: 'ENGINE_UNKNOWN', message, retry: false, engine: work.engine } };
      }
      const { name } = engine;
      const transcribed = await transcribeWindow({ engine, stores, work, signal, onLost });
      for (const { code } of signal.aborted ? [] : transcribed.failures) metrics.engine_failures.inc({ code });
      if (!transcribed.ok) {
        const { code, message, retry, retry_after_ms: rest_ms } = transcribed.failure;
        return { ok: false, failure: { code, message, retry, rest_ms, engine: name } };
      }
      const [first] = transcribed.failures;
      if (first !== undefined)
        log.warn(
          { job: work.job, code: first.code, reason: first.message },
          'a part of a window could not be transcribed',
        );
      return { ok: true, result: { result: transcribed.result, engine: name } };
    },

    badResult: ({ message }, { engine }) => ({ code: 'BAD_RESULT', message, retry: false, engine }),
  });
}
