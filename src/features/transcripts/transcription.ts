import type { StoredChunk } from '../../../actors/recordings/stream_state.js';
import type { FailedAudio, PublishedTurn, SpeakerScope } from '../../../actors/transcripts/transcript_state.js';
import type { StoppedHearing } from '../../../actors/transcripts/transcript_windows.js';
import type { SpeechBefore } from '../../domain/speech_before.js';
import type { ClaimedWork } from '../../engine/jobs/job_queue.js';

/**
 * The work of a worker that transcribes a window of a recording, and its result. All times are ms of the stream's
 * timeline. Rules K-011 and K-039; docs/transcription.md, "Workers of your own".
 */

/** A piece of audio that a window needs. */
export type WindowChunk = Pick<
  StoredChunk,
  'chunk_id' | 'place' | 'codec' | 'container' | 'sample_rate_hz' | 'channels' | 'size_bytes' | 'sha256' | 'sequence'
> & { start_ms: number; end_ms: number };

/** Where a speaker talks alone, and the chunks that hold it. `speaker`: such as S1. */
export type SpeakerSample = { speaker: string; from_ms: number; to_ms: number; audio: WindowChunk[] };

/** A voice that may be heard again, with the label by which a result names it. */
export type KnownSpeaker = { speaker: string; voice: { id: string; model: string; embedding: Uint8Array } | null };

/** One window to transcribe, as its claim says. */
export type WindowWork = ClaimedWork & {
  stream_id: string;
  from_ms: number;
  to_ms: number;
  /** Nothing of the recording follows: all of it must be consumed. */
  final: boolean;
  audio: WindowChunk[];
  pipeline_id: string;
  /** The name of the engine that the pipeline wants. */
  engine: string;
  /** Whether it wants speakers told apart. */
  diarize: boolean;
  language: string | null;
  /** Words that the account wants spelt so. */
  vocabulary: string[];
  /** The text of the last turn before it. */
  previous_text: string | null;
  speech_before: SpeechBefore;
  known_speakers: KnownSpeaker[];
  samples: SpeakerSample[];
};

/** A voice that a worker heard: something to know it by, or which known one it is. */
export type HeardSpeaker = {
  speaker: string;
  voice?: { model: string; embedding: Uint8Array } | undefined;
  /** The id of a known voice. */
  matches?: string | undefined;
};

/** The transcription of a window. */
export type TranscriptionResult = {
  /** Up to where it is whole; the rest goes with the next window. Absent: all of it. */
  consumed_to_ms?: number | undefined;
  language?: string | undefined;
  speaker_scope: SpeakerScope;
  /** `attribute`: only fills in who spoke the turns that there are. */
  mode: 'replace' | 'attribute';
  turns: PublishedTurn[];
  speakers?: HeardSpeaker[] | undefined;
  /** Parts of the window that could not be heard. */
  failed?: FailedAudio[] | undefined;
  /** Why nothing behind `consumed_to_ms` was heard: that waits for another try. */
  stopped?: StoppedHearing | undefined;
  /** Segments that were left out since the engine itself doubted them. */
  dropped?: number | undefined;
};

export type TranscribedTurn = PublishedTurn;
