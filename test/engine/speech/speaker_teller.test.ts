import t from 'tap';
import { SpeakerTeller } from '../../../src/engine/speech/speaker_teller.js';

type Clustering = { clustering: { numClusters: number } };

/** The runtime's class, whose clustering finds as many voices as it is told to, but for a third. */
class Diarization {
  #count = 0;
  readonly sampleRate = 16_000;
  setConfig({ clustering }: Clustering): void {
    this.#count = Math.min(2, clustering.numClusters);
  }
  process(): { start: number; end: number; speaker: number }[] {
    return Array.from({ length: this.#count }, (_, at) => ({ start: at, end: at + 1, speaker: this.#count - at }));
  }
}

t.test(
  'K-464 the models for speakers get the number, and speakers count in the order in which they begin',
  async (t) => {
    const sherpa = { OfflineSpeakerDiarization: Diarization } as unknown as ConstructorParameters<
      typeof SpeakerTeller
    >[0];
    const teller = new SpeakerTeller(sherpa, { segmentation: 'a', embedding: 'b' });
    t.same(teller.tell(new Float32Array(16_000), 2), [
      { start_s: 0, end_s: 1, speaker: 0 },
      { start_s: 1, end_s: 2, speaker: 1 },
    ]);
    t.equal(teller.tell(new Float32Array(16_000), 3), null, 'fewer voices than a person said');
  },
);
