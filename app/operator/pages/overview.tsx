import { useRef } from 'preact/hooks';
import { Section } from '../../parts/page.js';
import { type Answer, ask } from '../api.js';
import { ago, bytes, dateTime, digits, duration, span } from '../format.js';
import { Chart, type History } from '../parts/chart.js';
import { Facts } from '../parts/facts.js';
import { Table } from '../parts/table.js';
import { ViewPage } from '../parts/view_page.js';
import { usePolling } from '../polling.js';
import { showProblems } from '../problem_banner.js';
import { CHART_GROUPS } from './overview_charts.js';

type OverviewAnswer = Answer<'GET /ops/overview'>;

const SHORTEST = { name: '15m', words: '15 min', ms: 900_000 } as const;
const RANGES = [
  SHORTEST,
  { name: '1h', words: '1 h', ms: 3_600_000 },
  { name: '6h', words: '6 h', ms: 21_600_000 },
  { name: '24h', words: '24 h', ms: 86_400_000 },
] as const;
type Range = (typeof RANGES)[number];

const SHEDDING = { nothing: 'nothing', first: 'what may wait', all: 'everything' } as const;
const LISTENERS = { public: 'Public', device: 'Devices', operator: 'Operators' } as const;
const STORAGE = { away: 'does not answer', refusing: 'refuses writes' } as const;

/** The overview of the server in figures and charts over a range of time, as far back as the server keeps it. */
export function Overview() {
  const asked = new URLSearchParams(location.search).get('range');
  const range = RANGES.find(({ name }) => name === asked) ?? SHORTEST;
  const known = useRef<History | null>(null);
  const { data } = usePolling(async () => {
    // Of longer ranges all comes each time: their last row is of a step that still goes on.
    const before = range === SHORTEST ? known.current : null;
    const overview = await ask('GET /ops/overview', {
      query: { range: range.name, after_ms: before?.at_ms.at(-1) ?? 0 },
    });
    showProblems(overview);
    known.current = appended(before, overview.history);
    return { overview, history: known.current };
  });
  const overview = data?.overview ?? null;
  const history = data?.history ?? null;
  return (
    <ViewPage title="Overview">
      <nav class="ranges" aria-label="Time range">
        {RANGES.map(({ name, words }) => (
          <a
            key={name}
            class="button secondary"
            href={name === SHORTEST.name ? '/overview' : `/overview?range=${name}`}
            aria-current={name === range.name ? 'true' : undefined}
          >
            {words}
          </a>
        ))}
      </nav>
      <Section id="summary" title={`The last ${range.words}`}>
        {overview !== null && history !== null && (
          <>
            <Summary {...overview} range={range} />
            <Signals summary={overview.summary} storage={overview.storage} history={history} />
          </>
        )}
      </Section>
      <Section id="server" title="Server">
        {overview !== null && <ServerFacts {...overview} />}
      </Section>
      <Section
        id="processes"
        title="Processes on this machine"
        lead="Those that serve these ports. Charts show all of them together."
      >
        {overview !== null && <MachineProcesses rows={overview.processes_here} />}
      </Section>
      {CHART_GROUPS.map(({ id, title, hint, charts }) => (
        <Section key={id} id={id} title={title} lead={hint}>
          <div class="charts">
            {charts.map((row) => (
              <Chart key={row.id} row={row} history={history} />
            ))}
          </div>
        </Section>
      ))}
      <Section id="members" title="Processes on this Redis" lead="Each first handles what is due in its partitions.">
        {overview !== null && <RedisProcesses rows={overview.processes} />}
      </Section>
    </ViewPage>
  );
}

/** With what came since, as far back as the server keeps it. */
function appended(before: History | null, more: OverviewAnswer['history']): History {
  const last_ms = before?.at_ms.at(-1) ?? 0;
  // The server began anew when its samples are older than ours.
  const was = before === null || (more.at_ms[0] ?? last_ms) < last_ms ? null : before;
  const at_ms = [...(was?.at_ms ?? []), ...more.at_ms];
  const first_ms = (at_ms.at(-1) ?? 0) - more.kept_ms;
  const surplus = Math.max(
    0,
    at_ms.findIndex((ms) => ms >= first_ms),
  );
  const series = Object.entries(more.series).map(([name, values]) => [
    name,
    [...(was?.series[name] ?? []), ...values].slice(surplus),
  ]);
  return { kept_ms: more.kept_ms, at_ms: at_ms.slice(surplus), series: Object.fromEntries(series) };
}

function Summary({ summary, now, range }: OverviewAnswer & { range: Range }) {
  const kept_s = (Date.parse(now) - Date.parse(summary.since)) / 1000;
  const { count, ...commit_times } = summary.commits;
  const per_s = count / Math.max(1, kept_s);
  const rows = [
    ...summary.listeners.map(({ listener, ...row }) => ({
      ...row,
      name: LISTENERS[listener],
      error_rate: row.requests === 0 ? '–' : `${digits((row.errors / row.requests) * 100)} %`,
    })),
    { ...commit_times, name: 'Commits', per_s, requests: count, error_rate: '–' },
  ];
  return (
    <>
      {kept_s * 1000 < range.ms * 0.98 && (
        <p class="hint">
          {`Measured since ${dateTime(summary.since)}, for ${span(kept_s)}: the server was not running before.`}
        </p>
      )}
      <Table
        caption={`Requests of the last ${range.words}`}
        columns={['Listener', 'Throughput', 'Requests', 'Error rate', 'p50', 'p95', 'p99']}
        rows={rows}
        cells={(row) => [
          row.name,
          `${digits(row.per_s)}/s`,
          digits(row.requests),
          row.error_rate,
          ...[row.p50_ms, row.p95_ms, row.p99_ms].map((ms) => shown(ms, duration)),
        ]}
        empty=""
      />
    </>
  );
}

function Signals({ summary, storage, history }: Pick<OverviewAnswer, 'summary' | 'storage'> & { history: History }) {
  const last = (name: string) => (history.series[name] ?? []).findLast((value) => value !== null) ?? null;
  return (
    <Facts
      rows={[
        ['Saturation: CPU', shown(last('cpu_share'), (share) => `${digits(share * 100)} % of a core`)],
        ['Saturation: event loop', shown(last('loop_delay_ms'), duration)],
        ['Lag: outbox, p99', shown(summary.outbox_p99_ms, duration)],
        ['Lag: reminders, p99', shown(summary.reminders_p99_ms, duration)],
        ['Backlog: messages', shown(last('waiting'), digits)],
        ['Backlog: outbox', shown(last('outbox_waiting'), digits)],
        ['Backlog: endpoints due', shown(last('endpoints_due'), digits)],
        ['Dead letters', shown(storage.dead_letters, digits)],
      ]}
    />
  );
}

function shown(value: number | null, words: (value: number) => string): string {
  return value === null ? '–' : words(value);
}

function ServerFacts({ now, process, storage, disk }: OverviewAnswer) {
  const answers_in = `answers in ${duration(storage.round_trip_ms ?? 0)}`;
  const writes = storage.log_healthy ? 'written' : 'can’t be written';
  return (
    <Facts
      rows={[
        ['Version', process.version],
        ['Up for', span(process.up_s)],
        ['Redis', { ok: answers_in, slow: answers_in, ...STORAGE }[storage.status]],
        ['Append-only file', storage.log_healthy === null ? 'unknown' : writes],
        ['Disk free', disk === null ? 'unknown' : `${bytes(disk.free_bytes)} of ${bytes(disk.size_bytes)}`],
        ['Refused for load', SHEDDING[process.shedding]],
        ['Clock', dateTime(now)],
      ]}
    />
  );
}

function MachineProcesses({ rows }: { rows: OverviewAnswer['processes_here'] }) {
  return (
    <Table
      caption="Processes that serve these ports"
      columns={['Process', 'Up for', 'CPU', 'Memory', 'Loop delay', 'Connections', 'Requests a second', 'Refuses']}
      rows={rows}
      cells={({ number, pid, row }) => [
        number === null ? `${pid}` : `${number} (${pid})`,
        ...(row === null ? ['does not answer', '', '', '', '', '', ''] : processCells(row)),
      ]}
      empty="None has answered."
    />
  );
}

function processCells(row: NonNullable<OverviewAnswer['processes_here'][number]['row']>): string[] {
  return [
    span(row.up_s),
    row.cpu_share === null ? '' : `${Math.round(row.cpu_share * 100)} %`,
    bytes(row.rss_bytes),
    duration(row.loop_delay_ms),
    String(row.connections),
    row.requests_per_s.toFixed(1),
    SHEDDING[row.shedding],
  ];
}

function RedisProcesses({ rows }: { rows: OverviewAnswer['processes'] }) {
  return (
    <Table
      caption="Processes that are alive"
      columns={['Process', 'Machine', 'Pid', 'Started', 'Partitions']}
      rows={rows}
      cells={({ id, host, pid, since, partitions, answers }) => [
        <span key="process" class="mono">
          {answers ? `${id} (this one)` : id}
        </span>,
        host,
        pid,
        ago(since),
        partitions,
      ]}
      empty="Not known at the moment."
    />
  );
}
