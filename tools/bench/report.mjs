/** The tables, on the terminal, in BENCHMARKS.md and in docs/benchmarks. */
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

/** From BENCHMARKS.md. */
const FOLDER = 'docs/benchmarks';

/** Above this load average beforehand a machine has other work, and what is measured says so. */
export const BUSY_LOAD = 1;
/** Of the loop that tells how fast the machine is. */
export const LOOP_STEPS = 1e8;

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
    return found === undefined ? [] : [{ name, group, found }];
  });
  return [
    '| work | beside | ratio, or figure | goal | | measured |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(({ name, group, found: { beside, ratio, figure, goal, met } }) => {
      const linked = `[${name}](${FOLDER}/${group}.md)`;
      const cells = [linked, beside, ratio === '' ? figure : ratio, goal, met ? 'met' : '**missed**'];
      return line([...cells, measuredText(groups[group])]);
    }),
  ].join('\n');
}

/** The page that a reader opens first: ten rows, and how they were measured. `groups`: by name, each with its rows, the day, and how it was measured. */
export function summaryText(groups, { redis_version, pinned }) {
  const cores = cpus();
  const [model] = cores.map((core) => core.model.trim());
  const where = pinned
    ? 'the servers and their Redis run on one core, the load generator on another'
    : 'processes were not held to cores: `taskset` or a second core is missing';
  return `# Benchmarks

${summaryTable(groups)}

\`npm run spool -- bench\` measures these rows and all others. A ratio of 2x means twice the rate of the other software.

- **In turns.** Both variants of a row run on the same machine, one after the other, again and again. The figure is the median of their ratios, with the least and the most. \`by CPU\` compares the CPU time that the servers and their Redis spend on one operation.
- **As in production.** Spool runs with its own settings: limits, overload protection and the check of chunks are on. What a run says it stored is counted afterwards.
- **Quiet or not.** \`busy\` marks a row whose machine had other work beforehand: a load average above ${BUSY_LOAD.toFixed(1)}.
- **How fast the machine was.** Other guests of the same hardware slow a virtual machine down. \`loop\` is the time of a fixed loop of ${LOOP_STEPS / 1e6} million steps beforehand: figures in seconds of two days compare only where it is alike. Ratios suffer less.
- **Machine.** ${cores.length} cores, ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB; ${where}. Redis ${redis_version}, ${process.platform} ${process.arch}.

All rows: ${Object.keys(groups)
    .map((name) => `[${name}](${FOLDER}/${name}.md)`)
    .join(', ')}.

![How far each row got towards its goal, on a logarithmic scale](docs/benchmarks.svg)
`;
}

/** A page with all rows of a group. */
export function groupText(name, group) {
  const { rounds, seconds, rows } = group;
  return `# Benchmarks: ${name}

Measured on ${measuredText(group)}; ${rounds} rounds of ${seconds} s. [BENCHMARKS.md](../../BENCHMARKS.md) says how.

${[line(texts(HEAD)), line(COLUMNS.map(() => '---')), ...rows.map((row) => line(texts(row)))].join('\n')}
`;
}

const line = (cells) => `| ${cells.join(' | ')} |`;

/** Such as `2026-11-29, load 0.2, Node 20.20.2`. */
function measuredText({ at, node, load, loop_ms }) {
  const busy = load > BUSY_LOAD ? ', **busy**' : '';
  const speed = loop_ms === undefined ? [] : [`loop ${(loop_ms / 1_000).toFixed(2)} s`];
  return [at, `load ${load.toFixed(1)}${busy}`, ...speed, `Node ${node.replace('v', '')}`].join(', ');
}
