import { Histogram, Registry } from 'prom-client';
import t from 'tap';
import { type HealthFacts, healthProblemsOf } from '../../../src/edge/operations/health_problems.js';
import { type Gauges, History, type Sample } from '../../../src/edge/operations/history.js';
import { grown, quantile, readTotals, type Total } from '../../../src/edge/operations/totals.js';
import { makeMetrics } from '../../../src/engine/metrics/metrics.js';
import { RecentMessages } from '../../../src/engine/runtime/recent_messages.js';
import { DeviceActivity } from '../../../src/features/devices/activity.js';
import { EndpointActivity } from '../../../src/features/webhooks/endpoint_activity.js';

const GAUGES: Gauges = {
  ...{ waiting: 0, oldest_ms: 0, loop_delay_ms: 0, rss_bytes: 1, heap_bytes: 1 },
  ...{ storage_ms: 1, storage_bytes: 1, disk_free_bytes: 1, dead_letters: 0, cpu_share: 0.5 },
};

t.test('totals are added up over labels, and rates and quantiles follow from two of them', async (t) => {
  const metrics = makeMetrics();
  const observe = (listener: string, status: string, seconds: number, times: number) => {
    for (let n = 0; n < times; n++) metrics.requests.observe({ listener, route: `GET /${n % 3}`, status }, seconds);
  };
  observe('public', '200', 0.003, 100);
  const before = await readTotals(metrics);
  observe('public', '200', 0.003, 98);
  observe('public', '503', 0.9, 2);
  observe('device', '200', 0.02, 10);
  const now = await readTotals(metrics);
  const growth = grown(now.get('requests public'), before.get('requests public'));
  t.equal(growth?.count, 100);
  t.ok(Math.abs((growth?.sum ?? 0) - (98 * 0.003 + 1.8)) < 1e-9);
  t.equal(now.get('errors public')?.count, 2);
  t.equal(now.get('requests device')?.count, 10, 'what was not there before counts from nothing');
  const half = quantile(growth as NonNullable<typeof growth>, 0.5) ?? 0;
  t.ok(half > 0.002_5 && half <= 0.005, String(half));
  const worst = quantile(growth as NonNullable<typeof growth>, 0.99) ?? 0;
  t.ok(worst > 0.5 && worst <= 1, String(worst));
  t.equal(quantile({ count: 0, sum: 0, buckets: [], bounds: [] }, 0.99), null);

  // The same as another implementation says: prom-client's own buckets, read by hand.
  const own = new Histogram({ name: 'x', help: 'x', buckets: [1, 2, 4], registers: [new Registry()] });
  for (const value of [0.5, 1.5, 1.5, 3]) own.observe(value);
  t.equal(quantile({ count: 4, sum: 0, bounds: [1, 2, 4], buckets: [1, 3, 4] }, 0.5), 1.5);
  t.equal((await own.get()).values.find(({ labels }) => labels.le === 2)?.value, 3);
});

t.test('the history keeps a quarter of an hour, with gaps where nothing could be measured', async (t) => {
  const metrics = makeMetrics();
  const history = new History();
  const totals = await readTotals(metrics);
  const sample = (at_ms: number, gauges: Partial<Gauges> = {}): Sample => ({
    at_ms,
    totals,
    gauges: { ...GAUGES, ...gauges },
  });
  history.take(sample(1_000));
  t.same(history.view(0).at_ms, [], 'the first is only what the next is held against');
  for (let n = 1; n <= 400; n++) history.take(sample(1_000 + n * 5_000, n === 399 ? { storage_ms: null } : {}));
  history.take(sample(1_000 + 400 * 5_000));
  const { at_ms, series, kept_ms } = history.view(0);
  t.equal(kept_ms, 15 * 60_000);
  t.equal(at_ms.length, 180);
  t.equal(at_ms.at(-1), 1_000 + 400 * 5_000, 'a sample of the same moment is none');
  t.equal(at_ms[0], 1_000 + 221 * 5_000);
  t.same(series.storage_ms.slice(-3), [1, null, 1]);
  for (const row of Object.values(series)) t.equal(row.length, 180);
  t.same(history.view(1_000 + 398 * 5_000).at_ms, [1_000 + 399 * 5_000, 1_000 + 400 * 5_000]);
  t.ok(JSON.stringify(history.view(0)).length < 80_000);
});

t.test('longer ranges keep rows that are further apart, and the step that still goes on', async (t) => {
  const history = new History();
  const START_MS = 1_000_000;
  const DAY_SAMPLES = (24 * 3_600) / 5;
  for (let n = 0; n <= DAY_SAMPLES + 300; n++) {
    // A request with each sample; of 96 one takes long.
    const slow = Math.floor(n / 96);
    const requests: Total = { count: n, sum: 0, bounds: [0.005, 0.5, 1], buckets: [n - slow, n - slow, n] };
    const totals = new Map([['requests public', requests]]);
    const gauges = {
      ...GAUGES,
      waiting: n % 24 === 3 ? 7 : 0,
      disk_free_bytes: n % 24 === 5 ? 3 : 9,
      storage_ms: null,
    };
    const early_ms = n % 2 === 0 ? 0 : 40;
    history.take({ at_ms: START_MS + n * 5_000 - early_ms, totals, gauges });
  }
  for (const [range, every_ms, kept_ms] of [
    ['15m', 5_000, 900_000],
    ['1h', 20_000, 3_600_000],
    ['6h', 120_000, 21_600_000],
    ['24h', 480_000, 86_400_000],
  ] as const) {
    const { at_ms, series, since_ms, ...view } = history.view(0, range);
    t.match(view, { every_ms, kept_ms });
    const last_ms = START_MS + (DAY_SAMPLES + 300) * 5_000;
    t.equal(at_ms.at(-1), last_ms, `${range} ends now`);
    t.ok(at_ms.length >= 180 && at_ms.length <= 181, `${range}: ${at_ms.length} rows`);
    t.ok(last_ms - since_ms >= kept_ms - every_ms && last_ms - since_ms <= kept_ms + every_ms, range);
    for (const row of Object.values(series)) t.equal(row.length, at_ms.length);
  }
  const { series, tallies } = history.view(0, '24h');
  t.equal(series.waiting[90], 7, 'the worst of the step');
  t.equal(series.disk_free_bytes[90], 3, 'of what is free the least');
  t.equal(series.storage_ms[90], null);
  t.equal(series.requests_public[90], 0.2);
  t.ok((series.requests_public_p50_ms[90] as number) < 5 && (series.requests_public_p99_ms[90] as number) > 500);
  t.ok(tallies['requests public'].count > DAY_SAMPLES - 100);
  t.ok((quantile(tallies['requests public'], 0.95) ?? 1) < 0.005);
});

t.test('what is wrong is said in words, the worst first, and nothing when nothing is', async (t) => {
  const fine: HealthFacts = {
    storage: { status: 'ok', since_ms: 0, reason: null, log_healthy: true, partitions_away: 0, cut: null },
    ...{ shedding: 'nothing', quarantined: 0, dead_letters: 0 },
    endpoints: { due: 3, due_ms: 900, circuit_open: 0, disabled: 0 },
    ...{ disk: { free_bytes: 50, size_bytes: 100 }, clock_ahead_ms: 20, clocks_apart_ms: 0, mail_healthy: true },
    ...{ oldest_message_ms: 5, silent_devices: 0, retention_failing_ms: 3_600_000, lost_recordings: 0 },
    transcription: { failing_ms: 599_000, tries: 9, code: 'ENGINE_BUSY', engine: 'small' },
    insights: { failing_ms: 7_200_000, tries: 2, code: 'ENGINE_BUSY', engine: 'small' },
  };
  t.same(healthProblemsOf(fine, 0), []);
  t.same(healthProblemsOf({ ...fine, dead_letters: null, disk: null }, 0), [], 'what is not known is not wrong');
  const rows: [Partial<HealthFacts>, string, RegExp, string][] = [
    [{ storage: { ...fine.storage, status: 'away', since_ms: 1_000 } }, 'storage_away', /for 4 s.*503/, 'grave'],
    [{ storage: { ...fine.storage, status: 'slow' } }, 'storage_slow', /half a second/, 'mild'],
    [
      { storage: { ...fine.storage, status: 'refusing', reason: 'OOM' } },
      'storage_refuses',
      /no writes.*503.*OOM/,
      'grave',
    ],
    [{ storage: { ...fine.storage, partitions_away: 85 } }, 'storage_part_away', /85 of 256 partitions/, 'grave'],
    [{ storage: { ...fine.storage, log_healthy: false } }, 'storage_log', /append-only/, 'grave'],
    [{ shedding: 'first' }, 'shedding_first', /may wait/, 'mild'],
    [{ shedding: 'all' }, 'shedding_all', /all requests/, 'grave'],
    [{ disk: { free_bytes: 4, size_bytes: 100 } }, 'disk_full', /nearly full/, 'mild'],
    [{ disk: { free_bytes: 0, size_bytes: 100 } }, 'disk_full', /0 MB/, 'grave'],
    [{ quarantined: 1 }, 'quarantined', /^1 entity is quarantined/, 'grave'],
    [{ quarantined: 2 }, 'quarantined', /^2 entities are quarantined/, 'grave'],
    [{ dead_letters: 3 }, 'dead_letters', /^3 dead letters wait/, 'grave'],
    [
      { endpoints: { ...fine.endpoints, due: 2, due_ms: 90_000 } },
      'deliveries_late',
      /2 endpoints are due.* 2 min/,
      'mild',
    ],
    [{ endpoints: { ...fine.endpoints, circuit_open: 1 } }, 'endpoints_failing', /1 endpoint gets nothing but/, 'mild'],
    [{ endpoints: { ...fine.endpoints, disabled: 2 } }, 'endpoints_disabled', /2 endpoints were disabled/, 'mild'],
    [{ oldest_message_ms: 3_000 }, 'messages_old', /3 s/, 'mild'],
    [{ mail_healthy: false }, 'mail_failing', /come back later/, 'grave'],
    [{ clocks_apart_ms: 8 * 86_400_000 }, 'clocks_apart', /Redis’ clock is 8 d ahead of/, 'grave'],
    [{ clock_ahead_ms: 7_200_000 }, 'clock_moved', /2 h ahead of/, 'mild'],
    [{ clock_ahead_ms: -60_000 }, 'clock_moved', /1 min behind/, 'mild'],
    [
      { transcription: { failing_ms: 1_200_000, tries: 3, code: 'ENGINE_UNREACHABLE', engine: 'small' } },
      ...(['transcription_failing', /for 20 min: 3 tries failed, .* ENGINE_UNREACHABLE/, 'mild'] as const),
    ],
    [
      { insights: { failing_ms: 600_000, tries: 3, code: 'ENGINE_BUSY', engine: 'small' } },
      ...(['insights_failing', /by small for 10 min: 3 tries failed, .* ENGINE_BUSY/, 'mild'] as const),
    ],
    ...(['ENGINE_REFUSED', 'ENGINE_MODEL_MISSING', 'ENGINE_CONTEXT_TOO_SMALL'] as const).map(
      (code): (typeof rows)[number] => [
        { insights: { failing_ms: 0, tries: 1, code, engine: 'small' } },
        ...(['insights_failing', /^The model small looks into no conversation .*: i/, 'mild'] as const),
      ],
    ),
    [{ lost_recordings: 1 }, 'audio_lost', /Audio of 1 recording is lost/, 'grave'],
    [{ retention_failing_ms: 6 * 3_600_000 }, 'retention_failing', /has failed for 6 h/, 'mild'],
    [{ silent_devices: 1 }, 'devices_silent', /^1 device has/, 'mild'],
  ];
  for (const [change, name, text, severity] of rows) {
    const found = healthProblemsOf({ ...fine, ...change }, 5_000);
    t.match(found, [{ name, text, severity, link: /^\//, advice: /^[A-Z].*\.$/ }], name);
    t.equal(found.length, 1, name);
  }
  const both = healthProblemsOf({ ...fine, silent_devices: 1, quarantined: 1 }, 0);
  t.same(
    both.map(({ name }) => name),
    ['quarantined', 'devices_silent'],
  );
});

t.test('recent messages: the last 65,536 of all, by entity and over a time', async (t) => {
  const recent = new RecentMessages();
  const note = (entity: number, type: string, at: number, took_ms = 1, version = 1) =>
    recent.note({ entity, message: { type }, outcome: 'answered', at, took_ms, version });
  note(1, 'create', 0, 4, 1);
  note(1, 'rename', 10, 2, 2);
  note(2, 'view', 20, 8, 0);
  t.match(recent.of(1, 9), [
    { type: 'rename', outcome: 'answered', at: 10, took_ms: 2, version: 2 },
    { type: 'create', at: 0, version: 1 },
  ]);
  t.equal(recent.of(1, 1).length, 1);
  const { entities, from } = recent.since(5);
  t.equal(from, 5);
  t.same([...entities.entries()].sort(), [
    [1, { messages: 1, batch_ms_mean: 2, batch_ms_max: 2 }],
    [2, { messages: 1, batch_ms_mean: 8, batch_ms_max: 8 }],
  ]);
  for (let n = 0; n < 70_000; n++) note(3, 'tick', 100 + n);
  t.same(recent.of(1, 9), [], 'the oldest have given way');
  t.equal(recent.of(3, 100_000).length, 65_536);
  t.equal(recent.since(0).from, 100 + 70_000 - 65_536, 'it says how far back it goes');
  recent.note({ entity: 9, message: null, outcome: 'threw', at: 1e6, took_ms: 1, version: 1 });
  t.match(recent.of(9, 1), [{ type: 'other', outcome: 'threw' }]);
  for (let n = 0; n < 5_000; n++) note(4, `type ${n}`, 2e6);
  t.equal(recent.of(4, 1)[0]?.type, 'other', 'no more words than it has room for');
});

t.test('devices: the last 20,000, their silence, and what they wait for', async (t) => {
  let now_ms = 1_000_000;
  const seen = new DeviceActivity(() => now_ms);
  const all = { silent_ms: 0, recording: false, limit: 100_000 };
  seen.asked({ device_id: 'a', kind: 'personal' });
  seen.streamBegan('a', 's');
  now_ms += 60_000;
  seen.chunkAnnounced('a', 'c');
  seen.chunkAnnounced('a', 'c');
  t.match(seen.list(all), [{ device_id: 'a', silent_ms: 60_000, open_streams: ['s'], awaited_chunks: ['c'] }]);
  seen.chunkUploaded('a', 'c');
  t.match(seen.find('a'), { silent_ms: 0, uploads: 1, awaited_chunks: [] });
  now_ms += 120_000;
  t.equal(seen.list({ ...all, silent_ms: 120_001 }).length, 0);
  t.equal(seen.list({ ...all, silent_ms: 120_000, recording: true }).length, 1);
  seen.streamEnded('a', 's');
  t.equal(seen.list({ ...all, recording: true }).length, 0, 'it has nothing to upload');
  now_ms += 3_600_000;
  seen.streamBegan('a', 's2');
  t.equal(seen.find('a')?.silent_ms, 0, 'silence begins with what there is to upload');
  seen.refused('b', { reason: 'revoked', route: 'POST /x' });
  t.match(seen.find('b'), { kind: null, last_request_at_ms: null, last_refusal: { reason: 'revoked', at_ms: now_ms } });
  for (let n = 0; n < 100; n++) seen.chunkAnnounced('b', `c${n}`);
  t.equal(seen.find('b')?.awaited_chunks.length, 64);
  for (let n = 0; n < 20_000; n++) seen.asked({ device_id: `d${n}`, kind: 'shared' });
  t.equal(seen.size, 20_000);
  t.equal(seen.find('a'), null, 'who asked last is kept');
});

t.test('endpoints: what came of the last requests to the last 5,000', async (t) => {
  const seen = new EndpointActivity();
  const attempt = (at_ms: number, status_code: number | null, error: string | null = null) => ({
    ...{ attempted_at_ms: at_ms, status_code, error, reason: null, duration_ms: 1 },
  });
  const took = (id: string, at_ms: number, verdict: 'accepted' | 'retryable') =>
    seen.attempted(
      { endpoint_id: id, account_id: 'x' },
      { verdict, attempt: attempt(at_ms, verdict === 'accepted' ? 204 : 500) },
    );
  took('a', 1, 'retryable');
  took('b', 1, 'retryable');
  took('b', 2, 'retryable');
  took('c', 3, 'accepted');
  t.match(seen.find('a'), { failures: 1 });
  t.match(seen.find('b'), { failures: 2, failing_since_ms: 1, last: { at_ms: 2, status_code: 500 } });
  seen.disabled('b', 4);
  t.match(seen.find('b'), { disabled_at_ms: 4 });
  took('b', 5, 'accepted');
  t.match(seen.find('b'), { failures: 0, last_success_at_ms: 5, disabled_at_ms: null });
  for (let n = 0; n < 5_000; n++) took(`e${n}`, 6, 'accepted');
  t.equal(seen.find('b'), null);
});
