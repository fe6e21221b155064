import { parentPort } from 'node:worker_threads';
import { NotATranscript, readTranscriptFile, textOfBytes } from '../../domain/transcript_files/transcript_file.js';
import type { TranscriptRead } from './transcript_reader.js';

/** Reads transcripts in a thread of its own: a file of many megabytes holds nobody up. */

function read(bytes: Uint8Array): TranscriptRead {
  try {
    return { ok: true, file: readTranscriptFile(textOfBytes(bytes)) };
  } catch (error) {
    if (error instanceof NotATranscript) return { ok: false, why: error.message };
    throw error;
  }
}

parentPort?.on('message', (bytes: Uint8Array) => parentPort?.postMessage(read(bytes)));
