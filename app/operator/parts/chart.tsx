import { useEffect, useRef, useState } from 'preact/hooks';
import Plot from 'uplot';
import { colourNamed } from '../../parts/scheme.js';
import { UNITS } from '../format.js';

/** A chart over the time that the server keeps, drawn by uPlot. */

const HEIGHT = 132;
const DARK = matchMedia('(prefers-color-scheme: dark)');

export type ChartRow = {
  id: string;
  title: string;
  unit: keyof typeof UNITS;
  lines: readonly (readonly [series: string, label: string])[];
};
export type History = { kept_ms: number; at_ms: number[]; series: Record<string, (number | null)[]> };

export function Chart({ row, history }: { row: ChartRow; history: History | null }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  /** The times to show, all of them, so that nothing moves but the line. */
  const times = useRef<[number, number]>([0, 0]);
  const [dark, setDark] = useState(DARK.matches);
  const unit = UNITS[row.unit];
  const rows = row.lines.map(([name]) => history?.series[name] ?? []);
  const values = rows.map((values) => {
    const last = values.at(-1) ?? null;
    return last === null ? '–' : unit(last);
  });

  useEffect(() => {
    const change = () => setDark(DARK.matches);
    DARK.addEventListener('change', change);
    return () => DARK.removeEventListener('change', change);
  }, []);

  // Made anew for other colours.
  useEffect(() => {
    const element = place.current;
    if (history === null || element === null) return;
    const drawn = new Plot(optionsOf(row, element, times), [[]], element);
    plot.current = drawn;
    const observer = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && width !== drawn.width) drawn.setSize({ width, height: HEIGHT });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
    };
  }, [history === null, dark]);

  useEffect(() => {
    if (history === null) return;
    const last_s = (history.at_ms.at(-1) ?? Date.now()) / 1000;
    times.current = [last_s - history.kept_ms / 1000, last_s];
    plot.current?.setData([history.at_ms.map((ms) => ms / 1000), ...rows]);
  }, [history, dark]);

  const words = row.lines.map(([, label], at) => `${label} ${values[at]}`);
  const name = history === null ? row.title : `${row.title}: ${words.join(', ')}`;
  return (
    <div class="panel chart">
      <h3>{row.title}</h3>
      <div ref={place} class="plot" role="img" aria-label={name} />
      <ul class="legend">
        {row.lines.map(([series, label], at) => (
          <li key={series}>
            <span class={`swatch line-${at + 1}`} aria-hidden="true" />
            {label} <span class="value">{values[at]}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function optionsOf(row: ChartRow, element: HTMLElement, times: { current: [number, number] }): Plot.Options {
  const grid = { stroke: colour('--edge'), width: 1 };
  const axis = { stroke: colour('--soft'), grid, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  const unit = UNITS[row.unit];
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { time: true, range: () => times.current }, y: { range: yRange } },
    axes: [
      { ...axis, space: 70, size: 22, values: clockTicks },
      { ...axis, space: 34, size: 62, values: (_, ticks) => ticks.map((tick) => unit(tick)) },
    ],
    series: [
      {},
      ...row.lines.map(([, label], at) => ({
        label,
        stroke: colour(`--line-${at + 1}`),
        width: 1.75,
        points: { show: isSparse },
      })),
    ],
  };
}

function colour(name: string): string {
  return colourNamed(name, document.body);
}

/** A line needs two samples: what stands alone is a dot. */
function isSparse({ data }: Plot, series: number): boolean {
  return (data[series] ?? []).length < 3;
}

/** From nothing up, with some room. */
function yRange(_plot: Plot, _low: number | null, high: number | null): [number, number] {
  return [0, high === null || high <= 0 ? 1 : high * 1.15];
}

function clockTicks(_plot: Plot, ticks: number[]): string[] {
  return ticks.map((s) =>
    new Date(s * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false }),
  );
}
