import type { OfflineRecognizer, OfflineRecognizerConfig, Vad } from 'sherpa-onnx-node';
import { codeOf } from '../../domain/language/text_table.js';
import type { SpeechBefore } from '../../domain/speech_before.js';
import { type Agreed, agreedText, disagreementMax, disagreementOf, thirdDecides } from './agreement.js';
import { diarizationConfig } from './diarization.js';
import { KnownTerms } from './known_terms.js';
import { type Sentence, sentencesOf } from './sentences.js';
import type { SpeechModel } from './speech_model.js';
import { SPEECH_RATE, type UtteranceAudio, utterancesOf, voiceConfig, wholeUtterancesOf } from './utterances.js';

export type RecognizedSegment = Sentence & { confidence: number | null; speaker?: string | undefined };

/** `not_understood`: speech of which no text came that can be trusted, in seconds. */
export type Recognized = {
  language: string | null;
  segments: RecognizedSegment[];
  not_understood: { start_s: number; end_s: number }[];
  /** From here on nothing was heard, as an utterance may go on behind the end; null where all was. */
  whole_until_s: number | null;
};

/**
 * `preview` decodes once, for text that is replaced soon. `goes_on`: more audio follows. `vocabulary`: names and words that
 * the account wants spelt so.
 */
export type RecognitionOptions = {
  language: string | null;
  preview: boolean;
  diarize: boolean;
  goes_on: boolean;
  speech_before: SpeechBefore;
  vocabulary: readonly string[];
};

/** `second`: the same as the first where it is decoded only once. */
type Decoded = Pick<UtteranceAudio, 'from' | 'to' | 'voice'> & {
  said: Float32Array;
  first: string;
  second: string;
  lang: string | undefined;
  disagreement: number;
  ms: number;
};

/** An utterance as it is decoded again: softer, and with silence before and behind it, in samples. */
type Alteration = { before: number; behind: number; gain: number };
const SECOND: Alteration = { before: 0.15 * SPEECH_RATE, behind: 0.15 * SPEECH_RATE, gain: 0.6 };
const THIRD: Alteration = { before: 0.5 * SPEECH_RATE, behind: 0.2 * SPEECH_RATE, gain: 1 };
/** The audio that the detector holds, in seconds: an utterance is taken from it as soon as it ends. */
const DETECTOR_S = 120;

type Sherpa = typeof import('sherpa-onnx-node');

/** Writes speech down with one model, on one thread. Samples are mono at 16 kHz. */
export class SpeechRecognizer {
  readonly #model: SpeechModel;
  readonly #recognizer: OfflineRecognizer;
  readonly #detector: Vad;
  readonly #speakers: InstanceType<Sherpa['OfflineSpeakerDiarization']> | null;
  #language: string | null = null;

  constructor({ OfflineRecognizer, Vad, OfflineSpeakerDiarization }: Sherpa, model: SpeechModel, voice_model: string) {
    this.#model = model;
    this.#recognizer = new OfflineRecognizer(configOf(model, null));
    this.#detector = new Vad(voiceConfig(voice_model), DETECTOR_S);
    this.#speakers =
      model.speakers === null ? null : new OfflineSpeakerDiarization(diarizationConfig(model.speakers, null));
  }

  recognize(samples: Float32Array, options: RecognitionOptions): Recognized {
    const { language, preview, diarize, goes_on, speech_before, vocabulary } = options;
    this.#setLanguage(language);
    const checks_twice = this.#model.checks_twice && !preview;
    const { utterances, until } = goes_on
      ? wholeUtterancesOf(this.#detector, samples)
      : { utterances: utterancesOf(this.#detector, samples), until: null };
    const heard: Recognized = {
      language: onlyLanguage(this.#model),
      segments: [],
      not_understood: [],
      whole_until_s: until === null ? null : until / SPEECH_RATE,
    };
    const decoded = utterances.flatMap((utterance) => this.#decoded(utterance, checks_twice) ?? []);
    const disagreement_max = disagreementMax(decoded, speech_before);
    // Sounds are those of English.
    const terms = new KnownTerms(this.#model.checks_twice ? vocabulary : []);
    for (const one of decoded) {
      const { from, to, voice, lang } = one;
      const understood = this.#understood(one, disagreement_max);
      if (understood === null) {
        heard.not_understood.push({ start_s: from / SPEECH_RATE, end_s: to / SPEECH_RATE });
        continue;
      }
      heard.language ??= lang ?? null;
      const { texts, disagreement } = understood;
      const confidence = checks_twice ? Math.round((1 - disagreement) * 100) / 100 : null;
      heard.segments.push(...sentencesOf(terms.bestOf(texts), voice).map((sentence) => ({ ...sentence, confidence })));
    }
    if (diarize && this.#speakers !== null) nameSpeakers(heard.segments, this.#speakers.process(samples));
    return heard;
  }

  /** Null where there is no text. */
  #decoded({ from, to, voice, samples: said }: UtteranceAudio, checks_twice: boolean): Decoded | null {
    const { text: first, lang } = this.#decode(said);
    if (first === '') return null;
    const second = checks_twice ? this.#decode(altered(said, SECOND)).text : first;
    const disagreement = disagreementOf(first, second);
    return { from, to, voice, said, first, second, lang, disagreement, ms: ((to - from) * 1_000) / SPEECH_RATE };
  }

  /** Null where it was not understood. Where most is, a third decoding is asked for. */
  #understood({ said, first, second, disagreement }: Decoded, disagreement_max: number): Agreed | null {
    if (disagreement <= disagreement_max) return { texts: [first, second], disagreement };
    if (!thirdDecides(disagreement_max)) return null;
    return agreedText(first, second, this.#decode(altered(said, THIRD)).text);
  }

  #decode(samples: Float32Array): { text: string; lang?: string | undefined } {
    const stream = this.#recognizer.createStream();
    stream.acceptWaveform({ sampleRate: SPEECH_RATE, samples });
    this.#recognizer.decode(stream);
    const { text, lang } = this.#recognizer.getResult(stream);
    // SenseVoice writes `<|en|>`.
    return { text: text.trim(), lang: lang?.replace(/[<>|]/g, '') || undefined };
  }

  #setLanguage(language: string | null): void {
    if (this.#model.language_in === null || language === this.#language) return;
    this.#recognizer.setConfig(configOf(this.#model, language));
    this.#language = language;
  }
}

function onlyLanguage({ languages }: SpeechModel): string | null {
  return languages?.length === 1 ? (languages[0] as string) : null;
}

function configOf({ config, language_in }: SpeechModel, tag: string | null): OfflineRecognizerConfig {
  const language = tag === null ? '' : codeOf(tag);
  const member = language_in === null ? {} : { [language_in]: { ...(config[language_in] as object), language } };
  return {
    featConfig: { sampleRate: SPEECH_RATE, featureDim: 80 },
    modelConfig: { ...config, ...member, numThreads: 1, provider: 'cpu', debug: 0 },
  };
}

/** A segment is of the speaker who speaks most of it. */
function nameSpeakers(
  segments: RecognizedSegment[],
  spans: readonly { start: number; end: number; speaker: number }[],
) {
  for (const segment of segments) {
    const shares = new Map<number, number>();
    for (const { start, end, speaker } of spans) {
      const shared_s = Math.min(end, segment.end_s) - Math.max(start, segment.start_s);
      if (shared_s > 0) shares.set(speaker, (shares.get(speaker) ?? 0) + shared_s);
    }
    const [most] = [...shares].sort((a, b) => b[1] - a[1]);
    if (most !== undefined) segment.speaker = String(most[0]);
  }
}

function altered(samples: Float32Array, { before, behind, gain }: Alteration): Float32Array {
  const moved = new Float32Array(before + samples.length + behind);
  for (let at = 0; at < samples.length; at++) moved[at + before] = (samples[at] as number) * gain;
  return moved;
}
