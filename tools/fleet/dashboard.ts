import type { Writable } from 'node:stream';
import type { ServerWatch } from './server_watch.js';
import { CALLS, type Stats } from './stats.js';

const REDRAW_MS = 500;
const PLAIN_EVERY_MS = 10_000;
const NOTES_MAX = 6;
const NAME_CELLS = 10;
const NUMBER_CELLS = 10;

export type Out = Pick<Writable, 'write'> & { isTTY?: boolean; columns?: number };

export type DashboardOptions = {
  title: string;
  stats: Stats;
  watch: ServerWatch;
  devices: number;
  /** The present progress. */
  progress: () => { says: string };
};

/** Shows the progress of a fleet: a table that moves in a terminal, a line now and then elsewhere. */
export class Dashboard {
  readonly #out: Out;
  readonly #options: DashboardOptions;
  readonly #colours: boolean;
  readonly #notes: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #drawn_lines = 0;
  #sent = { at_ms: performance.now(), chunks: 0 };

  constructor(out: Out, options: DashboardOptions) {
    this.#out = out;
    this.#options = options;
    this.#colours = out.isTTY === true && process.env.NO_COLOR === undefined;
  }

  start(): void {
    if (this.#out.isTTY) {
      this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
      this.#draw();
    } else {
      this.#timer = setInterval(() => this.#plain(), PLAIN_EVERY_MS);
    }
  }

  /** Something that happened once: a kill, a restart. */
  note(text: string): void {
    const line = `${new Date().toTimeString().slice(0, 8)}  ${text}`;
    this.#notes.push(line);
    this.#notes.splice(0, this.#notes.length - NOTES_MAX);
    if (!this.#out.isTTY) this.#out.write(`${line}\n`);
  }

  end(): void {
    clearInterval(this.#timer);
    if (this.#out.isTTY) this.#draw();
    else this.#plain();
    this.#drawn_lines = 0;
  }

  #plain(): void {
    const { stats, progress } = this.#options;
    const { store } = stats.calls;
    this.#out.write(
      `${progress().says} · ${stats.connected} connected, ${stats.backlog} steps behind · ${stats.chunks} chunks stored (${this.#rate()}) · store p50 ${ms(store.quantile(0.5))} p99 ${ms(store.quantile(0.99))} · ${this.#server()}\n`,
    );
  }

  #draw(): void {
    const { stats, title, devices, progress } = this.#options;
    const columns = this.#out.columns ?? 80;
    const number = (text: string) => text.padStart(NUMBER_CELLS);
    const calls = CALLS.filter((name) => stats.calls[name].count > 0).map((name) => {
      const of = stats.calls[name];
      const cells = [String(of.count), ms(of.quantile(0.5)), ms(of.quantile(0.99)), ms(of.max_ms)];
      return `  ${name.padEnd(NAME_CELLS)}${cells.map(number).join('')}`;
    });
    const retries = [...stats.retries].map(([name, count]) => `${count} ${name}`);
    const faults = Object.entries(stats.faults).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []));
    const lines = [
      this.#bold(`${title}`),
      progress().says,
      '',
      `  ${stats.recording} of ${devices} record, ${stats.connected} connected, ${stats.sessions} in a session; ${stats.backlog} steps behind`,
      `  ${megabytes(stats.bytes)} stored, ${this.#rate()}`,
      `  server: ${this.#server()}`,
      '',
      this.#dim(`  ${'CALL'.padEnd(NAME_CELLS)}${['COUNT', 'P50', 'P99', 'MAX'].map(number).join('')}`),
      ...calls,
      '',
      ...(faults.length > 0 ? [`  made:     ${faults.join(', ')}`] : []),
      ...(retries.length > 0 ? [`  repeated: ${retries.join(', ')}`] : []),
      ...(stats.wrong_count > 0 ? [this.#red(`  WRONG:    ${stats.wrong_count}, the first: ${stats.wrong[0]}`)] : []),
      ...this.#notes.map((note) => this.#dim(`  ${note}`)),
    ];
    const erase = this.#drawn_lines === 0 ? '' : `\x1b[${this.#drawn_lines}A\r\x1b[J`;
    this.#out.write(`${erase}${lines.map((line) => `${fitted(line, columns)}\n`).join('')}`);
    this.#drawn_lines = lines.length;
  }

  #rate(): string {
    const { stats } = this.#options;
    const now_ms = performance.now();
    const { chunks } = stats;
    const seconds = Math.max(0.001, (now_ms - this.#sent.at_ms) / 1_000);
    const says = `${((chunks - this.#sent.chunks) / seconds).toFixed(0)} chunks/s`;
    if (seconds > 2) this.#sent = { at_ms: now_ms, chunks };
    return says;
  }

  #server(): string {
    const last = this.#options.watch.readings.at(-1);
    const { cores } = this.#options.watch;
    if (last === undefined) return 'not heard yet';
    return `${megabytes(last.memory_bytes)}${cores === null ? '' : `, ${(cores * 100).toFixed(0)} % of a core`}`;
  }

  #bold(text: string): string {
    return this.#colours ? `\x1b[1m${text}\x1b[0m` : text;
  }
  #dim(text: string): string {
    return this.#colours ? `\x1b[2m${text}\x1b[0m` : text;
  }
  #red(text: string): string {
    return this.#colours ? `\x1b[31m${text}\x1b[0m` : text;
  }
}

function ms(value: number): string {
  return value < 10
    ? `${value.toFixed(1)} ms`
    : value < 10_000
      ? `${value.toFixed(0)} ms`
      : `${(value / 1_000).toFixed(1)} s`;
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}

/** A line that does not break; escapes take no room. */
function fitted(line: string, columns: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what an escape begins with
  const bare = line.replaceAll(/\x1b\[\d+m/g, '');
  return bare.length < columns ? line : `${bare.slice(0, Math.max(1, columns - 2))}…`;
}
