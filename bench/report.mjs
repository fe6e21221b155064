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

export function reportText(rows, { options, redis_version, pinned }) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const cores = cpus();
  const [model] = cores.map((core) => core.model.trim());
  const where = pinned
    ? 'servers with their Redis on one core, the load generator on another'
    : 'processes were not held to cores: `taskset` or a second core is missing';
  return `# Benchmarks

Made by \`npm run bench\`. Ratios count, more than figures: the variants of a row take turns on the same machine (A B A B …).
A figure is the median of ${options.rounds} rounds of ${options.seconds} s, with least and most, after a warm-up; beside it the CPU time that the
server's processes (its Redis among them) spent on one operation. What a run says it stored was counted afterwards.

- Machine: ${cores.length} cores, ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB; ${where}
- Node ${process.version}, Redis ${redis_version}, ${process.platform} ${process.arch}

${[line(texts(HEAD)), line(COLUMNS.map(() => '---')), ...rows.map((row) => line(texts(row)))].join('\n')}
`;
}
