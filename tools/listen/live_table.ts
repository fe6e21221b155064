import type { Display, EventRow, Status, Terminal } from './display.js';
import { printable } from './printable.js';

const REDRAW_MS = 50;
const LINES_MAX = 20;
/** Lines of the terminal that are not for rows: title, status, what was typed before, and one to breathe. */
const LINES_APART = 5;
const TYPE_CELLS = 29;
const ID_CELLS = 36;
const SEQUENCE_CELLS = 6;
const SAYS_CELLS = 28;
const SAYS_CELLS_SHORT = 18;
const WIDE = 8 + TYPE_CELLS + ID_CELLS + SAYS_CELLS + 8 + 4 * 2;

const COLOURS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;
type Colour = keyof typeof COLOURS;
type Cell = { text: string; colour?: Colour };

/** The last events as a table that moves in place, with a line below that says how things stand. */
export class LiveTable implements Display {
  readonly #out: Terminal;
  readonly #colours: boolean;
  /** Events, and notes between them. */
  #lines: (EventRow | { at: Date; note: string })[] = [];
  #status: Status | null = null;
  #drawn_lines = 0;
  #timer: NodeJS.Timeout | null = null;
  readonly #redraw = () => this.#later();

  constructor(out: Terminal, { colours }: { colours: boolean }) {
    this.#out = out;
    this.#colours = colours;
    out.on('resize', this.#redraw);
  }

  say(text: string): void {
    this.#out.write(`${this.#erased()}${text}\n`);
    this.#draw();
  }

  show(row: EventRow): void {
    if (!this.#lines.includes(row)) this.#add(row);
    this.#later();
  }

  body(text: string): void {
    this.say(JSON.stringify(JSON.parse(text), null, 2).split('\n').map(printable).join('\n'));
  }

  note(text: string): void {
    this.#add({ at: new Date(), note: text });
    this.#later();
  }

  status(status: Status): void {
    this.#status = status;
    this.#later();
  }

  end(): void {
    this.#draw();
    this.#status = null;
    this.#drawn_lines = 0;
    this.#out.off('resize', this.#redraw);
  }

  #add(line: EventRow | { at: Date; note: string }): void {
    this.#lines = [...this.#lines, line].slice(-LINES_MAX);
  }

  /** A burst of changes is drawn once. */
  #later(): void {
    this.#timer ??= setTimeout(() => this.#draw(), REDRAW_MS);
  }

  #erased(): string {
    return this.#drawn_lines === 0 ? '' : `\x1b[${this.#drawn_lines}A\r\x1b[J`;
  }

  #draw(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#status === null) return;
    const columns = this.#out.columns || 80;
    const fit = Math.max(1, Math.min(LINES_MAX, (this.#out.rows || 24) - LINES_APART));
    const shown = this.#lines.slice(-fit);
    const titles = ['TIME', 'EVENT', columns > WIDE ? 'ID' : '', 'ANSWER', 'TOOK'].map(
      (text): Cell => ({ text, colour: 'dim' }),
    );
    const table =
      shown.length === 0 ? [] : [this.#laidOut(titles, columns), ...shown.map((line) => this.#line(line, columns))];
    const lines = [...table, '', this.#painted(statusCells(this.#status), columns)];
    this.#out.write(`${this.#erased()}${lines.map((line) => `${line}\n`).join('')}`);
    this.#drawn_lines = lines.length;
  }

  #line(line: EventRow | { at: Date; note: string }, columns: number): string {
    const time: Cell = { text: line.at.toTimeString().slice(0, 8), colour: 'dim' };
    if ('note' in line) return this.#painted([time, { text: `  ${line.note}`, colour: 'yellow' }], columns);
    const { type, event_id, sequence, is_again, outcome } = line;
    // Where there is little room, an event is told by its number.
    const id = columns > WIDE ? event_id : `#${sequence}`;
    const answer: Cell[] =
      outcome === null
        ? [{ text: '…', colour: 'dim' }]
        : [
            { text: outcome.says, colour: outcome.ok ? 'green' : 'red' },
            { text: `${outcome.duration_ms} ms`.padStart(8), colour: 'dim' },
          ];
    return this.#laidOut(
      [time, { text: is_again ? `${type} ↻` : type }, { text: id, colour: 'dim' }, ...answer],
      columns,
    );
  }

  /** Cells under each other. */
  #laidOut(cells: Cell[], columns: number): string {
    const is_wide = columns > WIDE;
    const widths = [8, TYPE_CELLS, is_wide ? ID_CELLS : SEQUENCE_CELLS, is_wide ? SAYS_CELLS : SAYS_CELLS_SHORT];
    return this.#painted(
      cells.map(({ text, ...rest }, index) => {
        const width = widths[index];
        return { ...rest, text: width === undefined ? text : `${fitted(text, width).padEnd(width)}  ` };
      }),
      columns,
    );
  }

  /** Coloured, and cut so that no line breaks. */
  #painted(cells: Cell[], columns: number): string {
    let left = columns - 1;
    return cells
      .map(({ text, colour }) => {
        const cut = printable(text).slice(0, left);
        left -= cut.length;
        return colour === undefined || !this.#colours || cut === '' ? cut : `\x1b[${COLOURS[colour]}m${cut}\x1b[0m`;
      })
      .join('');
  }
}

function statusCells({ forwarded, failed, position, problem }: Status): Cell[] {
  return [
    { text: `${forwarded} forwarded`, colour: 'bold' },
    { text: ', ' },
    { text: `${failed} failed`, ...(failed > 0 && { colour: 'red' }) },
    { text: ` · ${position}` },
    { text: problem === null ? '' : ` · ${problem}`, colour: 'yellow' },
    { text: ' · r again, q quit', colour: 'dim' },
  ];
}

function fitted(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}
