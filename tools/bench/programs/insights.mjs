/** Results of conversations published into a library on a Redis. */
import pino from 'pino';
import { library } from '../../../dist/actors/insights/library.js';
import { libraryId } from '../../../dist/src/domain/ids.js';
import { makeMetrics } from '../../../dist/src/engine/metrics/metrics.js';
import { randomId } from '../../../dist/src/engine/random/random.js';
import { actorsOf } from '../../../dist/src/engine/runtime/actors.js';
import { Runtime } from '../../../dist/src/engine/runtime/runtime.js';
import { loadLibrary, openRedis } from '../../../dist/src/engine/store/redis_connection.js';
import { RedisStore } from '../../../dist/src/engine/store/redis_store.js';
import { answer, settings } from './answering_server.mjs';
import { publishInsights } from './insight_results.mjs';

const { socket_path } = settings();
const redis = openRedis({ socket_path });
await redis.connect();
await loadLibrary(redis);
const store = new RedisStore(redis, () => 'bench');
const log = pino({ level: 'warn' }, pino.destination(2));
const runtime = new Runtime({
  ...{ store, metrics: makeMetrics(), log, now: Date.now, trust_memory: true, kinds: [library] },
});
const actors = actorsOf(runtime);
const id = () => randomId({ partition: 7, now_ms: Date.now() });
const account_id = id();
const workspace_id = id();
const place = { account_id, workspace_id, source_id: id(), library_id: libraryId(account_id, workspace_id) };

answer(null, {
  /** Measures each of so many publications of 50 suggestions and 20 memories, in ms. */
  async publish({ count }) {
    const took_ms = [];
    for (let made = 0; made < count; made++) took_ms.push(await publishInsights(actors, { ...place, stream_id: id() }));
    return { took_ms };
  },
  async stored() {
    const { insights } = await actors.library(place.library_id).view();
    return insights.given;
  },
  stop: async () => {
    await runtime.shutdown(1_000);
    redis.disconnect();
  },
});
