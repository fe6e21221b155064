import type { Writable } from 'node:stream';

/** The progress of some uploads; `bytes` of `bytes_total`. `chunks_total`: 0 for one that has no chunks. */
export type UploadProgress = { name: string; bytes: number; chunks: number; bytes_total: number; chunks_total: number };

type Terminal = Writable & { isTTY?: boolean; columns?: number; rows?: number };

const REDRAW_MS = 100;
const LINE_EVERY_MS = 2_000;
const LANES_SHOWN_MAX = 12;
const BAR_CELLS_MAX = 40;
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * Shows lanes as bars that move on a terminal, and as a line now and then anywhere else. Many lanes share one bar.
 * `title` is what is being done, such as "recording".
 */
export class Progress {
  readonly #out: Terminal;
  readonly #title: string;
  readonly #uploads: readonly UploadProgress[];
  readonly #began = performance.now();
  /** Bytes that had been sent before. */
  readonly #began_bytes: number;
  readonly #timer: NodeJS.Timeout;
  #drawn_lines = 0;

  constructor(out: Terminal, title: string, lanes: readonly UploadProgress[]) {
    this.#out = out;
    this.#title = title;
    this.#uploads = lanes;
    this.#began_bytes = this.#together().bytes;
    if (out.isTTY === true) {
      this.#draw();
      this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
    } else {
      this.#timer = setInterval(() => this.#line(), LINE_EVERY_MS);
    }
    this.#timer.unref();
  }

  /** Draws the last state and leaves it standing. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#out.isTTY === true) this.#draw();
    else this.#line();
  }

  #shown(): readonly UploadProgress[] {
    const fits = this.#uploads.length <= Math.min(LANES_SHOWN_MAX, Math.max(1, (this.#out.rows ?? 24) - 8));
    return fits ? this.#uploads : [this.#together()];
  }

  #together(): UploadProgress {
    const sum = (of: (lane: UploadProgress) => number) => this.#uploads.reduce((total, lane) => total + of(lane), 0);
    return {
      name: this.#uploads.length === 1 ? (this.#uploads[0]?.name ?? '') : `${this.#uploads.length} devices`,
      bytes: sum(({ bytes }) => bytes),
      chunks: sum(({ chunks }) => chunks),
      bytes_total: sum(({ bytes_total }) => bytes_total),
      chunks_total: sum(({ chunks_total }) => chunks_total),
    };
  }

  #draw(): void {
    const columns = this.#out.columns ?? 80;
    const lanes = this.#shown();
    const name_cells = Math.max(...lanes.map(({ name }) => name.length));
    const count_cells = Math.max(...lanes.map(({ chunks_total }) => String(chunks_total).length));
    const lines = lanes.map((lane) => {
      const left = `${this.#title} ${lane.name.padEnd(name_cells)} `;
      const counts = `${String(lane.chunks).padStart(count_cells)}/${String(lane.chunks_total).padStart(count_cells)}`;
      const chunks = lane.chunks_total === 0 ? '' : ` ${counts} chunks`;
      const right = ` ${percentOf(lane).padStart(4)}${chunks} ${this.#rateOf(lane).padStart(10)}`;
      const cells = Math.min(BAR_CELLS_MAX, columns - left.length - right.length - 1);
      const bar = cells >= 4 ? barOf(lane, cells) : '';
      return (left + bar + right).slice(0, columns - 1);
    });
    const up = this.#drawn_lines === 0 ? '' : `\x1b[${this.#drawn_lines}A`;
    this.#out.write(up + lines.map((line) => `\r\x1b[2K${line}\n`).join(''));
    this.#drawn_lines = lines.length;
  }

  #line(): void {
    const all = this.#together();
    const chunks = all.chunks_total === 0 ? '' : `, ${all.chunks} of ${all.chunks_total} chunks`;
    this.#out.write(`${this.#title} ${all.name}: ${percentOf(all)}${chunks}, ${this.#rateOf(all)}\n`);
  }

  #rateOf({ bytes }: UploadProgress): string {
    const sent = bytes - this.#began_bytes;
    return `${(sent / 1e6 / ((performance.now() - this.#began) / 1000)).toFixed(1)} MB/s`;
  }
}

function percentOf({ bytes, bytes_total }: UploadProgress): string {
  return `${Math.floor((100 * bytes) / bytes_total)}%`;
}

function barOf({ bytes, bytes_total }: UploadProgress, cells: number): string {
  const eighths = Math.floor((bytes / bytes_total) * cells * 8);
  const bar = '█'.repeat(Math.floor(eighths / 8)) + (PARTS[eighths % 8] ?? '');
  return bar.padEnd(cells, '░');
}
