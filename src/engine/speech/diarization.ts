import type { SpeechModel } from './speech_model.js';

type DiarizationConfig = Record<string, unknown> & { clustering: { numClusters: number; threshold: number } };

/** The settings of sherpa for two models that tell speakers apart. `count`: of speakers; null where nobody knows it. */
export function diarizationConfig(
  { segmentation, embedding }: NonNullable<SpeechModel['speakers']>,
  count: number | null,
): DiarizationConfig {
  return {
    segmentation: { pyannote: { model: segmentation }, numThreads: 1, provider: 'cpu', debug: 0 },
    embedding: { model: embedding, numThreads: 1, provider: 'cpu', debug: 0 },
    clustering: { numClusters: count ?? -1, threshold: 0.5 },
    minDurationOn: 0.2,
    minDurationOff: 0.5,
  };
}
