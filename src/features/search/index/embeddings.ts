import type { Logger } from 'pino';
import { LIMITS } from '../../../domain/limits.js';
import type { Metrics } from '../../../engine/metrics/metrics.js';
import { EngineFailed } from '../../transcripts/engines/engine.js';
import { isEnglish } from './stop_words.js';

/** `owner`: the account that asks. `is_question`: a person waits, so it comes before turns. */
export type EmbeddingCall = { owner: string; stream_id: string; signal: AbortSignal; is_question?: boolean };

/** A model that makes vectors of texts. */
export interface EmbeddingEngine {
  /** Tells vectors of this model from those of others. */
  readonly model: number;
  /** The languages that it knows, as first subtags of BCP 47 tags; null where it does not say. */
  readonly languages: readonly string[] | null;
  /** A vector of length 127 for each text, in their order. Throws EngineFailed. */
  of(texts: readonly string[], call: EmbeddingCall): Promise<Int8Array[]>;
  close(): Promise<void>;
}

type EmbeddingsDeps = {
  engine: EmbeddingEngine;
  metrics: Pick<Metrics, 'embedding_failures'>;
  log: Pick<Logger, 'warn'>;
  query_ms_max?: number;
};

/** Vectors of what was said, and of questions, by the model of this server. */
export class Embeddings {
  readonly #deps: EmbeddingsDeps;

  constructor(deps: EmbeddingsDeps) {
    this.#deps = deps;
  }

  get model(): number {
    return this.#deps.engine.model;
  }

  /** Whether vectors of a text mean something: of another language they would be noise. `language`: null if unknown. */
  knows(text: string, language: string | null): boolean {
    const { languages } = this.#deps.engine;
    if (languages === null) return true;
    const [first = ''] = language?.toLowerCase().split('-', 1) ?? [];
    return language === null ? languages.includes('en') && isEnglish(text) : languages.includes(first);
  }

  /** Throws EngineFailed. */
  of(texts: readonly string[], call: EmbeddingCall): Promise<Int8Array[]> {
    return this.#deps.engine.of(texts, call);
  }

  /** The vector of an account's question; null if the model gives none in time. Never rejects for a fault of the model. */
  async ofQuestion(text: string, owner: string): Promise<Int8Array | null> {
    const { engine, metrics, log, query_ms_max = LIMITS.embed_query_ms_max } = this.#deps;
    if (!this.knows(text, null)) return null;
    try {
      const signal = AbortSignal.timeout(query_ms_max);
      const [vector] = await engine.of([text], { owner, stream_id: 'recall', signal, is_question: true });
      return vector ?? null;
    } catch (error) {
      if (!(error instanceof EngineFailed)) throw error;
      const { code } = error.failure;
      metrics.embedding_failures.inc({ code });
      log.warn({ code }, 'a question got no vector; its words alone are looked for');
      return null;
    }
  }

  close(): Promise<void> {
    return this.#deps.engine.close();
  }
}
