import t from 'tap';
import pino from 'pino';
import { actorKind } from '../../actors/actor.js';
import { drawId } from '../../src/draw.js';
import { makeMetrics } from '../../src/runtime/metrics.js';
import { Runtime } from '../../src/runtime/runtime.js';
import { RedisStore } from '../../src/store/redis_store.js';
import { OutboxRelay } from '../../src/workers/outbox_relay.js';
import { ReminderWorker } from '../../src/workers/reminder_worker.js';
import { TestRedis } from '../fixtures/redis.js';

const counter = actorKind<{ n: number }, any, any>({
  kind: 'counter', home: 'id', schema: 1,
  facts: (m) => m.ref ? [{ collection: 'refs', id: m.ref }] : [],
  decide(state, m, facts, now) {
    if (m.tell) return { reply: 'told', next: state ?? { n: 0 }, effects: [{ effect: 'tell', to: m.tell, message: { add: 1 } }] };
    if (m.remind) return { reply: 'ok', next: state ?? { n: 0 }, effects: [{ effect: 'remind', name: 'x', at_ms: now, message: { add: 10 } }] };
    if (m.get) return { reply: state?.n ?? 0 };
    if (m.ref && facts.record('refs', m.ref)) return { reply: 'seen' };
    const n = (state?.n ?? 0) + m.add;
    return { reply: n, next: { n }, effects: m.ref ? [{ effect: 'put', collection: 'refs', id: m.ref, value: { n } }] : [] };
  },
});
t.test('runtime smoke', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const redis = await server.connect();
  const store = new RedisStore(redis, () => 'e');
  const metrics = makeMetrics();
  const log = pino({ level: 'error' });
  const runtime = new Runtime({ store, metrics, log, now: Date.now, trust_memory: true, kinds: [counter] });
  const relay = new OutboxRelay({ store, runtime, metrics, log });
  relay.start();
  const reminders = new ReminderWorker({ store, runtime, metrics, log, now: Date.now });
  const a = { kind: 'counter', id: drawId({ partition: 3, now_ms: Date.now() }) };
  const b = { kind: 'counter', id: drawId({ partition: 4, now_ms: Date.now() }) };
  const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => runtime.ask(a, { add: 1, ref: `r${i % 25}` })));
  t.equal(replies.filter((r) => r === 'seen').length, 25);
  t.equal(await runtime.askSettled(a, { tell: b }), 'told');
  t.equal(await runtime.ask(b, { get: true }), 1);
  t.equal(await runtime.ask(a, { get: true }), 25);
  await runtime.ask(a, { remind: true });
  t.equal(await reminders.look(), 1);
  t.equal(await reminders.look(), 0);
  t.equal(await runtime.ask(a, { get: true }), 35);
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    const N = 20000;
    let left = N;
    await Promise.all(Array.from({ length: 256 }, async (_, i) => { const id = { kind: 'counter', id: drawId({ partition: i, now_ms: Date.now() }) }; while (left-- > 0) await runtime.ask(id, { add: 1 }); }));
    console.error('many', N / (performance.now() - began) * 1000);
    const b2 = performance.now(); left = N;
    await Promise.all(Array.from({ length: 256 }, async () => { while (left-- > 0) await runtime.ask(a, { add: 1 }); }));
    console.error('hot', N / (performance.now() - b2) * 1000);
  }
  await reminders.stop(); await relay.stop(); await runtime.shutdown(1000);
});
