import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { TranscriptFile } from '../../domain/transcript_files/transcript_file.js';

const PROGRAM = fileURLToPath(new URL('./transcript_reader_main.js', import.meta.url));
const MS_MAX = 20_000;
const HEAP_MB = 256;
const TOO_MUCH = 'takes too much time or memory to read';

/** `why` completes "The transcript …". */
export type TranscriptRead = { ok: true; file: TranscriptFile } | { ok: false; why: string };

/** Reads a transcript that another program made, within bounds of time and memory. Rejects when the signal aborts. */
export async function readTranscript(bytes: Uint8Array, signal: AbortSignal): Promise<TranscriptRead> {
  signal.throwIfAborted();
  const worker = new Worker(PROGRAM, { workerData: bytes, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
  const late = AbortSignal.any([signal, AbortSignal.timeout(MS_MAX)]);
  try {
    return await new Promise<TranscriptRead>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ ok: false, why: TOO_MUCH });
        else reject(error);
      });
      late.addEventListener('abort', () =>
        signal.aborted ? reject(signal.reason) : resolve({ ok: false, why: TOO_MUCH }),
      );
    });
  } finally {
    await worker.terminate();
  }
}
