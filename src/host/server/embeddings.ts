import type { DuePoll } from '../../engine/jobs/due_poll.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { BuiltInEmbeddings, openMeaningProcess } from '../../features/search/index/built_in_embeddings.js';
import { EmbeddingServer } from '../../features/search/index/embedding_server.js';
import { embeddingWorker } from '../../features/search/index/embedding_worker.js';
import { type EmbeddingEngine, Embeddings } from '../../features/search/index/embeddings.js';
import { meaningSwitches } from '../../features/search/index/meaning_switches.js';
import { VectorRenewal } from '../../features/search/index/vector_renewal.js';
import type { Start } from './start.js';
import type { Entities, Foundation } from './storage.js';

type OpenEmbeddingsDeps = Pick<Entities, 'store' | 'actors'> &
  Pick<Foundation, 'clock'> & { poll: DuePoll; metrics: Metrics };

/** Opens vectors of what was said: null without a model, and no worker that makes them where others do such work. */
export function openEmbeddings(
  start: Start,
  { store, actors, clock, poll, metrics }: OpenEmbeddingsDeps,
): { embeddings: Embeddings | null; vector_renewal: VectorRenewal; switches: DueWorker; makers: DueWorker[] } {
  const { settings, log, shutdown } = start;
  const { now } = clock;
  const due = { store, actors, poll, log, now };
  const engine = engineOf(start, { now, metrics });
  const embeddings = engine === null ? null : new Embeddings({ engine, metrics, log });
  shutdown.add(() => embeddings?.close());
  const vector_renewal = new VectorRenewal({ actors, log });
  shutdown.add(() => vector_renewal.stop());
  const makes = embeddings !== null && settings.content_worker;
  return {
    embeddings,
    vector_renewal,
    switches: meaningSwitches(due),
    makers: makes ? [embeddingWorker({ ...due, embeddings, metrics })] : [],
  };
}

/** The model that the settings name; null for none. */
function engineOf(
  { settings }: Pick<Start, 'settings'>,
  { now, metrics }: { now: () => number; metrics: Metrics },
): EmbeddingEngine | null {
  const { embed_url: url, embed_key: key, embed_model: model, embed_built_in } = settings;
  if (url !== null) return new EmbeddingServer({ url, key, model, now });
  if (!embed_built_in) return null;
  const meaning = openMeaningProcess(settings);
  metrics.pools.add(meaning.pool);
  return new BuiltInEmbeddings(meaning);
}
