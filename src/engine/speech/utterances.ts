import type { Vad } from 'sherpa-onnx-node';

/** Speech within audio. All places are samples at 16 kHz. */

export const SPEECH_RATE = 16_000;
/** The samples that the voice model reads at a time. */
const FRAME = 512;

export type Stretch = { from: number; to: number };
/** Speech to be written down at once: stretches of voice with short pauses between them. */
export type Utterance = Stretch & { voice: Stretch[] };
/** An utterance with the silence around it that helps to hear its edges. */
export type UtteranceAudio = Utterance & { samples: Float32Array };

/** Measured with people: longer pauses join what is no sentence, longer utterances lose text. */
const PAUSE = 1.2 * SPEECH_RATE;
const UTTERANCE_MAX = 14 * SPEECH_RATE;
/** Less voice than this is a click, a cough, a chair. */
const VOICE_MIN = 0.2 * SPEECH_RATE;
const PAD_BEFORE = 0.2 * SPEECH_RATE;
const PAD_AFTER = 0.3 * SPEECH_RATE;
/** Voice that ends so near to the end of the samples may go on behind it. */
const CUT_OFF = 0.5 * SPEECH_RATE;

/** The settings of sherpa's voice activity detector for a model file. */
export function voiceConfig(model: string): Record<string, unknown> {
  const sileroVad = {
    model,
    threshold: 0.5,
    minSpeechDuration: 0.1,
    minSilenceDuration: 0.3,
    windowSize: FRAME,
    maxSpeechDuration: UTTERANCE_MAX / SPEECH_RATE,
  };
  return { sileroVad, sampleRate: SPEECH_RATE, numThreads: 1, provider: 'cpu', debug: 0 };
}

/** Finds what is to be written down, in the order of time. */
export function utterancesOf(detector: Vad, samples: Float32Array): UtteranceAudio[] {
  return withAudio(joined(voicedStretches(detector, samples)), samples);
}

/**
 * The utterances that are whole where more audio follows: speech that reaches the end of the samples is left out from its
 * last pause on. `until`: the sample behind which nothing was taken; null where all was.
 */
export function wholeUtterancesOf(
  detector: Vad,
  samples: Float32Array,
): { utterances: UtteranceAudio[]; until: number | null } {
  const stretches = voicedStretches(detector, samples);
  const last = stretches.at(-1);
  if (last === undefined || last.to < samples.length - CUT_OFF)
    return { utterances: utterances(stretches), until: null };
  // Where it begins before the middle, it is rather cut than heard twice.
  const until = Math.max(0, last.from - PAD_BEFORE);
  if (until < samples.length / 2) return { utterances: utterances(stretches), until: null };
  return { utterances: utterances(stretches.slice(0, -1)), until };

  function utterances(found: readonly Stretch[]): UtteranceAudio[] {
    return withAudio(joined(found), samples);
  }
}

function withAudio(found: readonly Utterance[], samples: Float32Array): UtteranceAudio[] {
  return found.map((utterance, at) => {
    const { from, to } = utterance;
    const low = found[at - 1]?.to ?? 0;
    const high = found[at + 1]?.from ?? samples.length;
    const begin = Math.max(0, Math.floor(from - Math.min(PAD_BEFORE, (from - low) / 2)));
    const end = Math.min(samples.length, Math.floor(to + Math.min(PAD_AFTER, (high - to) / 2)));
    return { ...utterance, samples: samples.slice(begin, end) };
  });
}

function voicedStretches(detector: Vad, samples: Float32Array): Stretch[] {
  const found: Stretch[] = [];
  const take = () => {
    while (!detector.isEmpty()) {
      const { start, samples: voiced } = detector.front(false);
      found.push({ from: start, to: Math.min(samples.length, start + voiced.length) });
      detector.pop();
    }
  };
  detector.reset();
  for (let at = 0; at < samples.length; at += FRAME) {
    const frame = samples.subarray(at, at + FRAME);
    detector.acceptWaveform(frame.length === FRAME ? frame : padded(frame));
    take();
  }
  detector.flush();
  take();
  return found.filter(({ from, to }) => from < to);
}

function padded(samples: Float32Array): Float32Array {
  const frame = new Float32Array(FRAME);
  frame.set(samples);
  return frame;
}

function joined(stretches: readonly Stretch[]): Utterance[] {
  const all: Utterance[] = [];
  for (const { from, to } of stretches) {
    const last = all.at(-1);
    if (last !== undefined && from - last.to < PAUSE && to - last.from < UTTERANCE_MAX) {
      last.to = to;
      last.voice.push({ from, to });
    } else all.push({ from, to, voice: [{ from, to }] });
  }
  return all.filter(({ voice }) => lengthOf(voice) >= VOICE_MIN);
}

/** Samples in all. */
export function lengthOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { from, to }) => sum + to - from, 0);
}
