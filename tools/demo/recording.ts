import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { LIMITS } from '../../src/domain/limits.js';
import { type ByteSource, cutWav, readPiece, readWav, type Wav, wavBytes } from '../../src/engine/audio/wav.js';
import { UserError } from '../user_error.js';
import { makeTone } from './tone.js';

/** A chunk that a device uploads. */
export type RecordingPiece = {
  sequence: number;
  start_ms: number;
  end_ms: number;
  size_bytes: number;
  read(): Promise<Buffer>;
};

export type DemoRecording = {
  title: string;
  /** The format of the file, for people. */
  description: string;
  codec: string;
  container: string;
  duration_ms: number;
  pieces: RecordingPiece[];
  close(): Promise<void>;
};

const PIECES_MAX = 1_000_000;
const TONE = { seconds: 5, hertz: 440 };

/** The file cut into pieces, or a tone of our own when there is no file. */
export async function openRecording(options: {
  file: string | undefined;
  chunk_seconds: number;
  duration_seconds: number | undefined;
}): Promise<DemoRecording> {
  const { file, chunk_seconds, duration_seconds } = options;
  const opened =
    file === undefined
      ? { title: `a tone of ${TONE.hertz} Hz`, source: bufferSource(makeTone(TONE)), close: async () => {} }
      : await openFile(file);
  try {
    const { title, source, close } = opened;
    const read = await readWav(source);
    const cut = read.ok ? wavRecording(source, read.wav, chunk_seconds) : null;
    if (cut === null && duration_seconds === undefined) {
      const why = read.ok ? '' : read.why;
      throw new UserError(
        `${title} ${why}. Only WAV files of plain samples tell how long they are; give --duration SECONDS to send its bytes as they are.`,
      );
    }
    const recording = cut ?? bytesRecording(source, { chunk_seconds, duration_seconds: duration_seconds as number });
    const largest = recording.pieces.reduce((most, { size_bytes }) => Math.max(most, size_bytes), 0);
    if (largest > LIMITS.chunk_bytes_max) {
      throw new UserError(
        `A chunk would have ${largest} bytes and may have ${LIMITS.chunk_bytes_max}; give a shorter --chunk-seconds than ${chunk_seconds}.`,
      );
    }
    return { title, ...recording, close };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type Cut = Omit<DemoRecording, 'title' | 'close'>;

function wavRecording(source: ByteSource, wav: Wav, chunk_seconds: number): Cut {
  const { format } = wav;
  const cut = boundedPieces(Math.ceil(wav.frames / format.frames_per_second / chunk_seconds), () =>
    cutWav(wav, chunk_seconds),
  );
  const pieces = cut.map((piece, sequence) => ({
    sequence,
    start_ms: piece.start_ms,
    end_ms: piece.end_ms,
    size_bytes: wavBytes(format, piece.frames),
    read: () => readPiece(source, wav, piece),
  }));
  const { codec, channels, frames_per_second } = format;
  return {
    description: `WAV, ${codec}, ${frames_per_second} Hz, ${channels === 1 ? 'one channel' : `${channels} channels`}`,
    codec,
    container: 'wav',
    duration_ms: pieces.at(-1)?.end_ms ?? 0,
    pieces,
  };
}

/** Bytes that nobody here understands, in equal parts over the time that they are said to last. */
function bytesRecording(source: ByteSource, options: { chunk_seconds: number; duration_seconds: number }): Cut {
  const { size_bytes } = source;
  const duration_ms = Math.max(1, Math.round(options.duration_seconds * 1000));
  const wanted = Math.ceil(options.duration_seconds / options.chunk_seconds);
  const count = Math.max(1, Math.min(wanted, size_bytes, duration_ms));
  const part = (whole: number, index: number) => Math.floor((whole * index) / count);
  const pieces = boundedPieces(count, () =>
    Array.from({ length: count }, (_, sequence) => {
      const offset = part(size_bytes, sequence);
      const length = part(size_bytes, sequence + 1) - offset;
      return {
        sequence,
        start_ms: part(duration_ms, sequence),
        end_ms: part(duration_ms, sequence + 1),
        size_bytes: length,
        read: () => source.read(offset, length),
      };
    }),
  );
  return { description: 'bytes as they are', codec: 'opaque', container: 'bytes', duration_ms, pieces };
}

function boundedPieces<T>(count: number, cut: () => T[]): T[] {
  if (count > PIECES_MAX) throw new UserError(`That would be ${count} chunks; give a longer --chunk-seconds.`);
  return cut();
}

async function openFile(path: string): Promise<{ title: string; source: ByteSource; close(): Promise<void> }> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, 'r');
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new UserError(`${path} is a folder; name a file in it.`);
    if (!stats.isFile()) throw new UserError(`${path} is not a regular file.`);
    if (stats.size === 0) throw new UserError(`${path} is empty.`);
    const file = handle;
    const source = {
      size_bytes: stats.size,
      read: (offset: number, length: number) => readAt(file, { offset, length }),
    };
    return { title: basename(path), source, close: () => file.close() };
  } catch (error) {
    await handle?.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new UserError(`There is no file ${path}.`);
    if (code === 'EACCES' || code === 'EPERM') throw new UserError(`${path} may not be read.`);
    throw error;
  }
}

/** A read may be short before the end of the file. */
async function readAt(file: FileHandle, { offset, length }: { offset: number; length: number }): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

export function bufferSource(bytes: Buffer): ByteSource {
  return { size_bytes: bytes.length, read: async (offset, length) => bytes.subarray(offset, offset + length) };
}
