/** The rows as a drawing: how far each got towards its goal. Light and dark, without a script. */

const WIDTH = 1040;
const LABELS = 600;
const ROW = 22;
const TOP = 34;
/** The scale is logarithmic: from a hundredth of the goal to ten times it. */
const [LEAST, MOST] = [0.01, 10];
const MARKS = [0.01, 0.1, 1, 10];

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1c2321; }
  .axis { fill: #5b6663; } .line { stroke: #d5dad8; } .goal { stroke: #5b6663; stroke-dasharray: 3 3; }
  .met { fill: #0f766e; } .missed { fill: #b45309; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6ebe9; } .axis { fill: #9aa5a2; } .line { stroke: #39423f; } .goal { stroke: #9aa5a2; }
    .met { fill: #2dd4bf; } .missed { fill: #f59e0b; }
  }`;

/** Share of the goal that a row reached, 1 for just met; null where it has no figure to compare. */
function shareOf({ ratio, figure, goal }) {
  const [, sense, wanted] = /^([≥≤<])\s*([\d.,]+)/.exec(goal) ?? [];
  const [, got] = /^([\d.,]+)/.exec(ratio || figure) ?? [];
  if (wanted === undefined || got === undefined) return null;
  const number = (text) => Number(text.replaceAll(',', ''));
  const share = number(got) / number(wanted);
  return sense === '≥' ? share : 1 / share;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export function chartText(rows) {
  const drawn = rows.map((row) => ({ ...row, share: shareOf(row) })).filter(({ share }) => share !== null);
  const height = TOP + drawn.length * ROW + 12;
  const x = (share) => {
    const at = Math.log(Math.min(MOST, Math.max(LEAST, share)) / LEAST) / Math.log(MOST / LEAST);
    return LABELS + at * (WIDTH - LABELS - 60);
  };
  const lines = MARKS.map((mark) => {
    const at = x(mark).toFixed(1);
    return `<line class="${mark === 1 ? 'goal' : 'line'}" x1="${at}" x2="${at}" y1="${TOP - 8}" y2="${height - 8}"/><text class="axis" x="${at}" y="${TOP - 14}" text-anchor="middle">${mark === 1 ? 'goal' : `${mark}x`}</text>`;
  });
  const bars = drawn.map(({ work, beside, share, met }, nth) => {
    const y = TOP + nth * ROW;
    const label = escaped(cut(beside === '' ? work : `${work} / ${beside}`, 92));
    const length = Math.max(2, x(share) - x(LEAST)).toFixed(1);
    return `<text x="${LABELS - 10}" y="${y + 13}" text-anchor="end">${label}</text><rect class="${met ? 'met' : 'missed'}" x="${x(LEAST).toFixed(1)}" y="${y + 3}" width="${length}" height="${ROW - 8}" rx="2"/><text x="${(x(share) + 6).toFixed(1)}" y="${y + 13}">${share.toFixed(2)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="How far each row got towards its goal">
<style>${STYLE}
</style>
${[...lines, ...bars].join('\n')}
</svg>
`;
}
