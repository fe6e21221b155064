/** The table, on the terminal and in BENCHMARKS.md. */
import { cpus, totalmem } from 'node:os';

const HEAD = { work: 'work', figure: 'Spool', beside: 'beside', peer: 'figure', ratio: 'ratio', goal: 'goal', met: '' };
const COLUMNS = Object.keys(HEAD);

const texts = (row) =>
  COLUMNS.map((column) =>
    column === 'met' && typeof row.met === 'boolean' ? (row.met ? 'met' : 'missed') : String(row[column]),
  );

export function tableText(rows) {
  const lines = [HEAD, ...rows].map(texts);
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Above this load average beforehand a machine has other work, and what is measured says so. */
export const BUSY_LOAD = 1;

/** The lines that a reader sees first: what they are called there, and which row of which group they are. */
const SUMMARY = [
  ['Small chunks, 16 a request, durable', 'arrivals', /16 KiB.*16 a request/, /, synced/],
  ['Small chunks, announced and sent', 'chunk', /^chunk of 16 KiB.*32 in flight/, /, synced/],
  ['Durable commits of many entities', 'commits', /many entities/, null],
  ['Reading an account', 'reads', /^GET \/me/, null],
  ['Polling events', 'reads', /^forward poll/, null],
  ['Checking a token', 'oauth', /^introspection/, null],
  ['Exchanging a code', 'oauth', /^code exchange/, /opaque/],
  ['Webhook deliveries', 'webhooks', /^webhook deliveries/, /BullMQ/],
  ['Full handshakes of devices', 'handshakes', /^full/, null],
  ['Searching 100,000 turns', 'search', /^a search among 100,000 turns, one/, null],
];

function summaryTable(groups) {
  const rows = SUMMARY.flatMap(([name, group, work, beside]) => {
    const found = groups[group]?.rows.find(
      (row) => work.test(row.work) && (beside === null || beside.test(row.beside)),
    );
    return found === undefined ? [] : [{ name, found }];
  });
  return [
    '| what | beside | ratio, or figure | goal | |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map(({ name, found: { beside, ratio, figure, goal, met } }) => {
      const cells = [name, beside, ratio === '' ? figure : ratio, goal, met ? 'met' : '**missed**'];
      return `| ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

/** `groups`: by name, each with its rows, the day, and how it was measured. */
export function reportText(groups, { redis_version, pinned }) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const cores = cpus();
  const [model] = cores.map((core) => core.model.trim());
  const where = pinned
    ? 'servers with their Redis on one core, the load generator on another'
    : 'processes were not held to cores: `taskset` or a second core is missing';
  const tables = Object.entries(groups).map(([name, { at, node, load, rounds, seconds, rows }]) =>
    [
      `## ${name[0].toUpperCase()}${name.slice(1)}`,
      '',
      `Measured on ${at}${node === undefined ? '' : ` with Node ${node}`}, ${rounds} rounds of ${seconds} s.${loadText(load)}`,
      '',
      ...[line(texts(HEAD)), line(COLUMNS.map(() => '---')), ...rows.map((row) => line(texts(row)))],
    ].join('\n'),
  );
  return `# Benchmarks

${summaryTable(groups)}

Made by \`npm run spool -- bench\`. Ratios count, more than figures: the variants of a row take turns on the same machine (A B A B …).
A figure is the median of its rounds, with least and most, after rounds until two in a row agree within 5 %; beside it
the CPU time that the server's processes (its Redis among them) spent on one operation, and the kernel's time on the
servers' core. Spool runs with its own settings: limits, overload protection and the check of chunks are on. The disk is
synced before each round. What a run says it stored was counted afterwards.
Where p99s of some hundred requests are compared, a stall of the machine decides, in which nothing at all is answered: in 18
rounds each with sick endpoints and without, most had one, of up to 310 ms and 453 ms. Every commit waits for the disk.

- Machine: ${cores.length} cores, ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB; ${where}
- Node ${process.version}, Redis ${redis_version}, ${process.platform} ${process.arch}

How far each row got towards its goal, on a logarithmic scale:

![How far each row got towards its goal](docs/benchmarks.svg)

${tables.join('\n\n')}
`;
}

function loadText(load) {
  if (load === undefined) return '';
  return ` Load average beforehand ${load.toFixed(1)}${load > BUSY_LOAD ? ': **busy**' : ''}.`;
}
