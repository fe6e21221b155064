import type { Logger } from 'pino';
import { LIMITS } from '../../../domain/limits.js';
import { fingerprintOf, quantized } from '../../../domain/search/vectors.js';
import type { Metrics } from '../../../engine/metrics/metrics.js';
import { EngineFailed } from '../../transcripts/engines/engine.js';
import { EngineServer } from '../../transcripts/engines/engine_server.js';

const EMBED_MS_MAX = 60_000; // ours: of one request for vectors of turns

type EmbeddingsDeps = {
  url: string;
  key: string | null;
  model: string | null;
  metrics: Pick<Metrics, 'embedding_failures'>;
  log: Pick<Logger, 'warn'>;
  now: () => number;
  query_ms_max?: number;
};

const FORMS = ['float'] as const;
type EmbeddingForm = (typeof FORMS)[number];

/** A model that is asked by `POST {url}/embeddings` for vectors of texts, as OpenAI has it and many others. */
export class Embeddings {
  readonly #deps: EmbeddingsDeps;
  readonly #server: EngineServer<EmbeddingForm>;
  /** Tells vectors of this model from those of others. */
  readonly model: number;

  constructor(deps: EmbeddingsDeps) {
    const { url, key, model, now } = deps;
    this.#deps = deps;
    this.#server = new EngineServer({
      url,
      key,
      path: '/embeddings',
      forms: FORMS,
      answer_ms_max: EMBED_MS_MAX,
      now,
    });
    this.model = fingerprintOf([url, model ?? '']);
  }

  /** A vector for each text. Throws EngineFailed. */
  async of(texts: readonly string[], of: { stream_id: string; signal: AbortSignal }): Promise<Int8Array[]> {
    const { model } = this.#deps;
    const body = JSON.stringify({ ...(model !== null && { model }), input: texts });
    const vectors = readEmbeddings(await this.#server.ask(() => body, of), texts.length);
    const found = vectors.flatMap((values) => quantized(values) ?? []);
    if (found.length < texts.length) throw bad('A vector has no direction.');
    return found;
  }

  /** The vector of a question; null if the model gives none in time. Never rejects for a fault of the model. */
  async ofQuestion(text: string): Promise<Int8Array | null> {
    const { metrics, log, query_ms_max = LIMITS.embed_query_ms_max } = this.#deps;
    try {
      const [vector] = await this.of([text], { stream_id: 'recall', signal: AbortSignal.timeout(query_ms_max) });
      return vector ?? null;
    } catch (error) {
      if (!(error instanceof EngineFailed)) throw error;
      const { code } = error.failure;
      metrics.embedding_failures.inc({ code });
      log.warn({ code }, 'a question got no vector; its words alone are looked for');
      return null;
    }
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
