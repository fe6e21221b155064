import t from 'tap';
import { type HistoryView, type SeriesName, TALLIED } from '../../../src/edge/operations/history.js';
import { mergeHistories } from '../../../src/edge/operations/merged_history.js';
import { mergeMetrics } from '../../../src/edge/operations/merged_metrics.js';
import { mergeProblems } from '../../../src/edge/operations/merged_problems.js';
import type { ProcessHealth } from '../../../src/edge/operations/operation_queries.js';
import type { ProcessAnswer } from '../../../src/engine/cluster/process_queries.js';

t.test('metrics of several processes say whose they are, those of one are as they were', async (t) => {
  const text = (value: number) =>
    `# HELP a Some\n# TYPE a counter\na ${value}\n\n# HELP b More\n# TYPE b gauge\nb{route="GET /me/{id}",of="x"} ${value}\n`;
  t.equal(mergeMetrics([{ number: null, pid: 1, value: text(1) }]), text(1));
  const joined = mergeMetrics([
    { number: 1, pid: 7, value: text(1) },
    { number: 2, pid: 8, value: text(2) },
    { number: 3, pid: 9, value: null },
  ]);
  t.match(joined, '# TYPE a counter\na{process="1"} 1\na{process="2"} 2\n');
  t.match(joined, 'b{process="2",route="GET /me/{id}",of="x"} 2\n');
  t.match(joined, 'spool_process_answers{process="2"} 1\nspool_process_answers{process="3"} 0\n');
  t.equal(joined.match(/# TYPE a /g)?.length, 1, 'each family once');
});

t.test('histories are joined by time: counts are sums, of times the longest counts', async (t) => {
  const view = (at_ms: number[], of: Partial<Record<SeriesName, (number | null)[]>>): HistoryView => ({
    ...{ every_ms: 5_000, kept_ms: 900_000, at_ms, since_ms: at_ms[0] ?? 0 },
    series: of as HistoryView['series'],
    tallies: Object.fromEntries(TALLIED.map((name) => [name, tally])) as HistoryView['tallies'],
  });
  const tally = { count: 4, sum: 2, bounds: [1, 2], buckets: [1, 3] };
  const one = view([10_000, 15_000, 20_000], {
    commits: [1, 2, 3],
    loop_delay_ms: [5, 50, null],
    storage_ms: [null, 1, 2],
  });
  const two = view([12_000, 17_100], { commits: [10, 20], loop_delay_ms: [7, 8], storage_ms: [null, null] });
  t.same(mergeHistories([one]), one);
  t.same(mergeHistories([one, two]), {
    ...one,
    series: { commits: [11, 22, 23], loop_delay_ms: [7, 50, 8], storage_ms: [null, 1, 2] },
    tallies: Object.fromEntries(TALLIED.map((name) => [name, { count: 8, sum: 4, bounds: [1, 2], buckets: [2, 6] }])),
  });
  t.same(
    mergeHistories([one, view([900_000], { commits: [9], loop_delay_ms: [9], storage_ms: [9] })]).series,
    one.series,
  );
});

t.test('a problem stands once, with the processes that have it; so does one that does not answer', async (t) => {
  const healthy: ProcessHealth['standing'] = {
    storage: { status: 'ok', since_ms: 0, log_healthy: true, partitions_away: 0, cut: null },
    ...{
      shedding: 'nothing',
      quarantined: 0,
      dead_letters: 0,
      endpoints: { due: 0, due_ms: 0, circuit_open: 0, disabled: 0 },
      disk: null,
    },
    ...{
      clock_ahead_ms: 0,
      clocks_apart_ms: 0,
      mail_healthy: true,
      oldest_message_ms: 0,
      retention_failing_ms: 0,
      lost_recordings: 0,
    },
    ...{ silent_devices: 0, transcription: null, insights: null },
  } as ProcessHealth['standing'];
  const told = (number: number, standing: Partial<typeof healthy> | null): ProcessAnswer<ProcessHealth> => ({
    number,
    pid: 100 + number,
    value: standing === null ? null : ({ standing: { ...healthy, ...standing } } as ProcessHealth),
  });
  const joined = (...all: ProcessAnswer<ProcessHealth>[]) =>
    mergeProblems(all, { silent_devices: 0, now_ms: 0, troubles: [] });
  t.same(joined(told(1, {}), told(2, {})), []);
  const mail = { mail_healthy: false };
  const [both] = joined(told(1, mail), told(2, mail));
  t.notMatch(both?.text, /Process/);
  const [second, ...none] = joined(told(1, {}), told(2, mail));
  t.match(second?.text, /\(Process 2\.\)$/);
  t.same(none, []);
  t.match(joined(told(1, {}), told(2, null)), [
    { name: 'process_silent', severity: 'grave', text: /Process 2, pid 102/ },
  ]);
});
