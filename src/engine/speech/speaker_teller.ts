import type { OfflineSpeakerDiarization } from 'sherpa-onnx-node';
import { diarizationConfig } from './diarization.js';
import type { SpeechModel } from './speech_model.js';

type Sherpa = typeof import('sherpa-onnx-node');

/** Speech of a speaker, who is numbered from 0 on. */
export type SpeakerSpan = { start_s: number; end_s: number; speaker: number };

/** Tells a number of speakers apart that a person gave, by the operator's two models. */
export class SpeakerTeller {
  readonly #diarization: OfflineSpeakerDiarization;
  readonly #models: NonNullable<SpeechModel['speakers']>;

  constructor({ OfflineSpeakerDiarization }: Sherpa, models: NonNullable<SpeechModel['speakers']>) {
    this.#models = models;
    this.#diarization = new OfflineSpeakerDiarization(diarizationConfig(models, null));
  }

  /** Null where fewer voices are found. Samples are mono at 16 kHz. */
  tell(samples: Float32Array, count: number): SpeakerSpan[] | null {
    this.#diarization.setConfig(diarizationConfig(this.#models, count));
    const spans = this.#diarization.process(samples);
    const speakers = [...new Set(spans.map(({ speaker }) => speaker))];
    if (speakers.length < count) return null;
    return spans.map(({ start, end, speaker }) => ({ start_s: start, end_s: end, speaker: speakers.indexOf(speaker) }));
  }
}
