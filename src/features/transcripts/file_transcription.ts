import { Readable } from 'node:stream';
import { LIMITS } from '../../domain/limits.js';
import { type Refusal, Refused, refuse } from '../../domain/refusals.js';
import { NO_SPEECH_BEFORE } from '../../domain/speech_before.js';
import { decoderInput } from '../../engine/audio/decoder_input.js';
import { readWav, withHead } from '../../engine/audio/wav.js';
import { UnnamedFile } from '../../engine/blobs/unnamed_file.js';
import { type PoolBounds, SharedPool } from '../../engine/pools/shared_pool.js';
import { ProcessFailed } from '../../engine/process/framed_process.js';
import type { AudioDecoders } from '../../engine/speech/audio_decoders.js';
import type { AudioStores } from './audio_pieces.js';
import type { Engine, EngineFailure } from './engines/engine.js';
import { transcribeWindow } from './transcribe_window.js';
import type { TranscribedTurn, WindowChunk } from './transcription.js';

/** Text of an audio file for a caller that waits for it. Neither the file nor the text is kept. */

export const SPOKEN_FILE_BYTES_MAX = 100_000_000;
const SPOKEN_FILE_S_MAX = 6 * 3_600;
/** Speakers of two windows cannot be told to be the same, so there is one window. */
const SPEAKERS_S_MAX = 30 * 60;
const WINDOW_MS = 30_000;
const RATE = 16_000;
const SAMPLE_BYTES = 2;

/** Each has two files in the data folder: as it came, and its samples, of which six hours are 690 MB. */
const PLACES: PoolBounds = {
  places_max: 8,
  share_max: 2,
  waiting_max: 256,
  waiting_share_max: 16,
  wait_ms_max: 30_000,
};
const NO_ENGINE = refuse('UNAVAILABLE', 'This server has no engine of its own that transcribes.', {
  retry_after_s: 3_600,
});
const TOO_LONG = fault('file', 'must be no longer than six hours');
const NOT_TOLD = fault(
  'response_format',
  'must not be diarized_json: the engine of this server does not tell speakers apart',
);
const TOO_LONG_FOR_SPEAKERS = fault('response_format', 'must not be diarized_json for more than 30 minutes of audio');

/** `prompt`: expected words. `diarize`: whether speakers are told apart. */
export type SpokenFileOptions = { language: string | null; prompt: string; diarize: boolean };

type FileTranscriptionsDeps = {
  engine: Engine | null;
  /** Whether the engine tells speakers apart; null where that is not known. */
  diarizes: boolean | null;
  decoders: Pick<AudioDecoders, 'decode'>;
  folder: string;
};

export class FileTranscriptions {
  readonly pool = new SharedPool('file_transcriptions', PLACES);
  readonly #deps: FileTranscriptionsDeps;

  constructor(deps: FileTranscriptionsDeps) {
    this.#deps = deps;
  }

  /** The name of the engine; null where there is none. */
  get model(): string | null {
    return this.#deps.engine?.name ?? null;
  }

  /** Waits for a place. Throws Refused. Whoever gets a file closes it. */
  async begin(account_id: string, signal: AbortSignal): Promise<SpokenFile> {
    const { engine, folder } = this.#deps;
    if (engine === null) throw new Refused(NO_ENGINE);
    await this.pool.take(account_id, { signal });
    const leave = () => this.pool.leave(account_id);
    try {
      const files = await Promise.all([UnnamedFile.open(folder), UnnamedFile.open(folder)]);
      return new SpokenFile({ ...this.#deps, engine }, { account_id, signal, files, leave });
    } catch (error) {
      leave();
      throw error;
    }
  }
}

type Held = { account_id: string; signal: AbortSignal; files: [UnnamedFile, UnnamedFile]; leave: () => void };

/** An uploaded file while it is transcribed. */
export class SpokenFile {
  readonly #deps: FileTranscriptionsDeps & { engine: Engine };
  readonly #held: Held;
  readonly #samples: UnnamedFile;
  readonly #upload: UnnamedFile;
  #audio: HearableAudio | null = null;
  size_bytes = 0;

  constructor(deps: FileTranscriptionsDeps & { engine: Engine }, held: Held) {
    this.#deps = deps;
    this.#held = held;
    [this.#upload, this.#samples] = held.files;
  }

  get length_ms(): number {
    return this.#audio?.length_ms ?? 0;
  }

  /** Adds bytes of the file. */
  async write(piece: Uint8Array): Promise<void> {
    await this.#upload.write(piece, this.size_bytes);
    this.size_bytes += piece.length;
  }

  /** Bytes of the file as it came. */
  read(from: number, to: number): AsyncGenerator<Buffer> {
    return this.#upload.read(from, to);
  }

  /** Reads the length, and decodes what is no WAV. Throws Refused for what is no audio, or too much of it. */
  async measure({ diarize }: Pick<SpokenFileOptions, 'diarize'>): Promise<void> {
    if (diarize && this.#deps.diarizes === false) throw new Refused(NOT_TOLD);
    this.#audio = (await this.#asWav()) ?? (await this.#decoded());
    if (this.length_ms > SPOKEN_FILE_S_MAX * 1_000) throw new Refused(TOO_LONG);
    if (diarize && this.length_ms > SPEAKERS_S_MAX * 1_000) throw new Refused(TOO_LONG_FOR_SPEAKERS);
  }

  /** The turns, as windows one after the other give them. Throws Refused. */
  async *turns(options: SpokenFileOptions): AsyncGenerator<TranscribedTurn[]> {
    const window_ms = options.diarize ? this.length_ms : WINDOW_MS;
    for (let from_ms = 0; from_ms < this.length_ms; ) {
      const to_ms = Math.min(this.length_ms, from_ms + window_ms);
      const { turns, until_ms } = await this.#hear({ from_ms, to_ms }, options);
      yield turns;
      from_ms = Math.max(from_ms + 1, until_ms);
    }
  }

  async close(): Promise<void> {
    this.#held.leave();
    await Promise.all(this.#held.files.map((file) => file.close().catch(() => {})));
  }

  async #hear(
    { from_ms, to_ms }: { from_ms: number; to_ms: number },
    { language, prompt, diarize }: SpokenFileOptions,
  ): Promise<{ turns: TranscribedTurn[]; until_ms: number }> {
    const { engine } = this.#deps;
    const { account_id, signal } = this.#held;
    const { chunk, stores } = asChunk(this.#audio as HearableAudio);
    const work = {
      ...{ account_id, stream_id: '', tries: LIMITS.window_tries_max, from_ms, to_ms, final: to_ms === this.length_ms },
      ...{ audio: [chunk], diarize, language, vocabulary: [], previous_text: prompt },
      speech_before: NO_SPEECH_BEFORE,
    };
    const heard = await transcribeWindow({ engine, stores, work, signal });
    const failure = heard.failures[0];
    if (failure !== undefined) throw new Refused(refusalOf(failure, language));
    if (!heard.ok) throw new Error('a window failed without a failure');
    return { turns: heard.result.turns, until_ms: heard.result.consumed_to_ms ?? to_ms };
  }

  /** Samples that can be heard as they came; null for any other file. */
  async #asWav(): Promise<HearableAudio | null> {
    const { size_bytes } = this;
    const found = await readWav(await withHead({ size_bytes, read: (at, length) => this.#readUpload(at, length) }));
    if (!found.ok) return null;
    const { format, frames } = found.wav;
    const length_ms = Math.round((frames * 1_000) / format.frames_per_second);
    return { file: this.#upload, size_bytes, length_ms, container: 'wav', codec: format.codec };
  }

  async #decoded(): Promise<HearableAudio> {
    const { account_id: owner, signal } = this.#held;
    const source = { size_bytes: this.size_bytes, read: (at: number, length: number) => this.#readUpload(at, length) };
    const options = { rate: RATE, length_s: null, length_s_max: SPOKEN_FILE_S_MAX + 1 };
    const onPiece = (piece: Buffer, at: number) => this.#samples.write(piece, at * SAMPLE_BYTES);
    const { samples } = await this.#deps.decoders
      .decode(() => decoderInput(source), options, { owner, signal, onPiece })
      .catch((error: unknown) => {
        throw error instanceof ProcessFailed ? new Refused(undecoded(error)) : error;
      });
    const length_ms = Math.round((samples * 1_000) / RATE);
    return { file: this.#samples, size_bytes: samples * SAMPLE_BYTES, length_ms, container: 'raw', codec: 'pcm_s16le' };
  }

  async #readUpload(at: number, length: number): Promise<Buffer> {
    return Buffer.concat(await Readable.from(this.read(at, at + length)).toArray());
  }
}

type HearableAudio = {
  file: UnnamedFile;
  size_bytes: number;
  length_ms: number;
  container: 'wav' | 'raw';
  codec: string;
};

/** The audio as a chunk of a recording, and the store that holds it. */
function asChunk({ file, size_bytes, length_ms, container, codec }: HearableAudio): {
  chunk: WindowChunk;
  stores: AudioStores;
} {
  const known = { chunk_id: '', place: '', sha256: '', sequence: 0, start_ms: 0, end_ms: length_ms };
  const open: AudioStores['blobs']['open'] = async (_key, { start = 0, end = size_bytes - 1 } = {}) => {
    return { stream: Readable.from(file.read(start, end + 1)), size_bytes: end + 1 - start };
  };
  return {
    chunk: { ...known, codec, container, sample_rate_hz: RATE, channels: 1, size_bytes },
    stores: { blobs: { open }, decoded: { use: async () => null } }, // samples need no decoder
  };
}

function undecoded({ code, message }: ProcessFailed): Refusal {
  if (code === 'NOT_DECODED') return fault('file', 'must be audio that can be decoded');
  return refuse('UNAVAILABLE', message, { retry_after_s: 2 });
}

function refusalOf({ code, message, retry, retry_after_ms = 2_000 }: EngineFailure, language: string | null): Refusal {
  if (code === 'LANGUAGE_UNKNOWN')
    return fault('language', `must be one that the engine knows; it does not know ${language}`);
  if (code === 'UNSUPPORTED_AUDIO') return fault('file', 'must be audio that the engine takes');
  if (retry) return refuse('UNAVAILABLE', message, { retry_after_s: Math.ceil(retry_after_ms / 1_000) });
  return refuse('INTERNAL', message);
}

function fault(path: string, message: string): Refusal {
  return refuse('BAD_REQUEST', `${path}: ${message}.`, {
    details: [{ path, message }],
    extra: { code: 'unsupported_value' },
  });
}
