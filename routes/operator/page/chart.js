import { h } from './dom.js';
import { UNITS } from './words.js';

/** A chart over the time that the server keeps, drawn by uPlot. */

const HEIGHT = 132;
const COLOURS = ['--line-1', '--line-2', '--line-3', '--line-4'];

/** @typedef {{ id: string, title: string, unit: string, lines: [name: string, label: string][] }} ChartRow */
/** @typedef {{ kept_ms: number, at_ms: number[], series: Record<string, (number | null)[]> }} History */

/** @type {any} */
const Plot = /** @type {any} */ (window).uPlot;

/** @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export class Chart {
  /** @param {ChartRow} row */
  constructor(row) {
    this.row = row;
    this.unit = UNITS[row.unit] ?? String;
    this.values = row.lines.map(() => h('span', { class: 'value' }, '–'));
    this.place = h('div', { class: 'plot', role: 'img', 'aria-label': row.title });
    const legend = row.lines.map(([, label], at) =>
      h(
        'li',
        {},
        h('span', { class: `swatch line-${at + 1}`, 'aria-hidden': 'true' }),
        `${label} `,
        this.values[at] ?? null,
      ),
    );
    const heading = `chart-${row.id}`;
    this.element = h(
      'section',
      { class: 'chart', 'aria-labelledby': heading },
      h('h3', { id: heading }, row.title),
      this.place,
      h('ul', { class: 'legend' }, ...legend),
    );
    /** @type {any} */
    this.plot = null;
    /** @type {History | null} */
    this.history = null;
    new ResizeObserver(() => this.resize()).observe(this.place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw());
  }

  /** @param {History} history */
  show(history) {
    this.history = history;
    const rows = this.row.lines.map(([name]) => history.series[name] ?? []);
    const words = rows.map((row, at) => {
      const last = row.at(-1) ?? null;
      const text = last === null ? '–' : this.unit(last);
      const value = this.values[at];
      if (value !== undefined && value.textContent !== text) value.textContent = text;
      return `${this.row.lines[at]?.[1]} ${text}`;
    });
    this.place.setAttribute('aria-label', `${this.row.title}: ${words.join(', ')}`);
    const data = [history.at_ms.map((ms) => ms / 1000), ...rows];
    if (this.plot === null) this.draw(data);
    else this.plot.setData(data);
  }

  redraw() {
    if (this.plot === null || this.history === null) return;
    this.plot.destroy();
    this.plot = null;
    this.show(this.history);
  }

  resize() {
    const width = this.place.clientWidth;
    if (this.plot !== null && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
  }

  /** @param {unknown[]} data */
  draw(data) {
    const text = colour('--soft');
    const grid = { stroke: colour('--edge'), width: 1 };
    const axis = { stroke: text, grid, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    this.plot = new Plot(
      {
        width: this.place.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { time: true, range: () => this.times() }, y: { range: yRange } },
        axes: [
          { ...axis, space: 70, size: 22, values: clockTicks },
          {
            ...axis,
            space: 34,
            size: 62,
            values: (/** @type {unknown} */ _, /** @type {number[]} */ ticks) => ticks.map((tick) => this.unit(tick)),
          },
        ],
        series: [
          {},
          ...this.row.lines.map(([, label], at) => ({
            label,
            stroke: colour(COLOURS[at] ?? '--line-1'),
            width: 1.75,
            points: { show: this.isSparse },
          })),
        ],
      },
      data,
      this.place,
    );
  }

  /** A line needs two samples: what stands alone is a dot. */
  isSparse = (/** @type {any} */ plot, /** @type {number} */ series) => {
    const row = plot.data[series] ?? [];
    return row.length < 3;
  };

  /** The whole time, so that nothing moves but the line. */
  times() {
    const last_s = (this.history?.at_ms.at(-1) ?? Date.now()) / 1000;
    return [last_s - (this.history?.kept_ms ?? 0) / 1000, last_s];
  }
}

/**
 * From nothing up, with some room.
 * @param {unknown} _plot
 * @param {number | null} _low
 * @param {number | null} high
 */
function yRange(_plot, _low, high) {
  return [0, high === null || high <= 0 ? 1 : high * 1.15];
}

/**
 * @param {unknown} _plot
 * @param {number[]} ticks
 */
function clockTicks(_plot, ticks) {
  return ticks.map((s) =>
    new Date(s * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false }),
  );
}
