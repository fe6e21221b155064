import { LIMITS } from '../../../domain/limits.js';
import { fingerprintOf, quantized } from '../../../domain/search/vectors.js';
import { EngineFailed } from '../../transcripts/engines/engine.js';
import { EngineServer } from '../../transcripts/engines/engine_server.js';
import type { EmbeddingCall, EmbeddingEngine } from './embeddings.js';

const EMBED_MS_MAX = 60_000; // ours: of one request for vectors of turns
const FORMS = ['float'] as const;

/** A model that is asked by `POST {url}/embeddings` for vectors of texts, as OpenAI has it and many others. */
export class EmbeddingServer implements EmbeddingEngine {
  readonly #server: EngineServer<(typeof FORMS)[number]>;
  readonly #named: string | null;
  readonly model: number;
  readonly languages = null;

  constructor({ url, key, model, now }: { url: string; key: string | null; model: string | null; now: () => number }) {
    const path = '/embeddings';
    this.#server = new EngineServer({ url, key, path, forms: FORMS, answer_ms_max: EMBED_MS_MAX, now });
    this.#named = model;
    this.model = fingerprintOf([url, model ?? '']);
  }

  async of(texts: readonly string[], { stream_id, signal }: EmbeddingCall): Promise<Int8Array[]> {
    const body = JSON.stringify({ ...(this.#named !== null && { model: this.#named }), input: texts });
    const vectors = readEmbeddings(await this.#server.ask(() => body, { stream_id, signal }), texts.length);
    const found = vectors.flatMap((values) => quantized(values) ?? []);
    if (found.length < texts.length) throw bad('A vector has no direction.');
    return found;
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}

/** The vectors of an answer, in the order of the texts. Throws EngineFailed. */
function readEmbeddings(answer: string, count: number): number[][] {
  let said: unknown;
  try {
    said = JSON.parse(answer);
  } catch {
    throw bad('The answer is no JSON.');
  }
  const { data } = (said ?? {}) as { data?: unknown };
  if (!Array.isArray(data) || data.length !== count) throw bad('The answer has another number of vectors.');
  const vectors: number[][] = [];
  for (const [at, one] of data.entries()) {
    const { embedding, index = at } = (one ?? {}) as { embedding?: unknown; index?: unknown };
    if (!isVector(embedding) || typeof index !== 'number' || vectors[index] !== undefined || index >= count)
      throw bad('The answer holds something else than vectors.');
    vectors[index] = embedding;
  }
  const [first] = vectors;
  if (vectors.some(({ length }) => length !== first?.length)) throw bad('Vectors have several lengths.');
  return vectors;
}

function isVector(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= LIMITS.vector_dimension_max &&
    value.every((one) => typeof one === 'number' && Number.isFinite(one))
  );
}

function bad(message: string): EngineFailed {
  return new EngineFailed('ENGINE_BAD_ANSWER', message);
}
