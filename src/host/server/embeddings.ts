import type { DuePoll } from '../../engine/jobs/due_poll.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { embeddingWorker } from '../../features/search/index/embedding_worker.js';
import { Embeddings } from '../../features/search/index/embeddings.js';
import type { Start } from './start.js';
import type { Entities, Foundation } from './storage.js';

type OpenEmbeddingsDeps = Pick<Entities, 'store' | 'actors'> &
  Pick<Foundation, 'clock'> & { poll: DuePoll; metrics: Metrics };

/** Opens vectors of what was said: null and no worker without EMBED_URL, and no worker where others do such work. */
export function openEmbeddings(
  { settings, log, shutdown }: Start,
  { store, actors, clock, poll, metrics }: OpenEmbeddingsDeps,
): { embeddings: Embeddings | null; workers: DueWorker[] } {
  const { embed_url: url, embed_key: key, embed_model: model, content_worker } = settings;
  if (url === null) return { embeddings: null, workers: [] };
  const { now } = clock;
  const embeddings = new Embeddings({ url, key, model, metrics, log, now });
  shutdown.add(() => embeddings.close());
  const workers = content_worker ? [embeddingWorker({ store, actors, poll, embeddings, metrics, log, now })] : [];
  return { embeddings, workers };
}
