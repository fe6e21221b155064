/** The parts of sherpa-onnx-node that the speech process uses; the package has no types of its own. */
declare module 'sherpa-onnx-node' {
  export type Waveform = { samples: Float32Array; sampleRate: number };
  export type OfflineStream = { acceptWaveform(wave: Waveform): void };
  export type OfflineRecognizerConfig = {
    featConfig: { sampleRate: number; featureDim: number };
    modelConfig: Record<string, unknown> & { tokens: string; numThreads: number; provider: 'cpu'; debug: 0 };
  };
  export class OfflineRecognizer {
    constructor(config: OfflineRecognizerConfig);
    createStream(): OfflineStream;
    decode(stream: OfflineStream): void;
    getResult(stream: OfflineStream): { text: string; lang?: string };
    setConfig(config: OfflineRecognizerConfig): void;
  }
  export class Vad {
    constructor(config: Record<string, unknown>, buffer_s: number);
    acceptWaveform(samples: Float32Array): void;
    isEmpty(): boolean;
    front(is_external?: boolean): { start: number; samples: Float32Array };
    pop(): void;
    reset(): void;
    flush(): void;
  }
  export class OfflineSpeakerDiarization {
    constructor(config: Record<string, unknown>);
    readonly sampleRate: number;
    setConfig(config: { clustering: { numClusters: number; threshold: number } }): void;
    process(samples: Float32Array): { start: number; end: number; speaker: number }[];
  }
}
