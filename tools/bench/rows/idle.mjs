import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../own_server.mjs';

const PROCESSES = 10;
/** The work after a start is done by then, and the memory that it took is collected. */
const SETTLED_AFTER_MS = 45_000;
const ROUND_MS = 20_000;

export const title = 'idle: CPU of a server that nobody uses';

export async function run({ rounds }) {
  const one = await measured(1, rounds);
  const many = await measured(PROCESSES, rounds);
  return [
    row('idle server, one process', '', one, { text: '', goal: '≤ 0.5 % of a core', met: one.median <= 0.5 }),
    row(`idle server, ${PROCESSES} processes`, 'one process', many, {
      text: `${(many.median / one.median).toFixed(2)}x`,
      goal: '≤ 2 % of a core',
      met: many.median <= 2,
      peer: one,
    }),
  ];
}

/** Per cent of a core that all of its processes use, Redis among them. */
async function measured(processes, rounds) {
  const server = await startServer(processes);
  try {
    await delay(SETTLED_AFTER_MS);
    const parts = [];
    for (let round = 0; round < rounds; round++) {
      const [before_ms, began] = [server.exactCpuMs(), performance.now()];
      await delay(ROUND_MS);
      parts.push(((server.exactCpuMs() - before_ms) / (performance.now() - began)) * 100);
    }
    parts.sort((a, b) => a - b);
    return { median: parts[parts.length >> 1], least: parts[0], most: parts.at(-1) };
  } finally {
    await server.stop();
  }
}

function row(work, beside, of, { text, goal, met, peer }) {
  return { work, beside, figure: told(of), peer: peer === undefined ? '' : told(peer), ratio: text, goal, met };
}

function told({ median, least, most }) {
  return `${median.toFixed(2)} % of a core (${least.toFixed(2)}–${most.toFixed(2)})`;
}
