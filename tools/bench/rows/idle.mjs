import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../own_server.mjs';
import { exactCpuMs, pinnedCommand } from '../processes.mjs';

const PROCESSES = 10;
/** The work after a start is done by then, and the memory that it took is collected. */
const SETTLED_AFTER_MS = 90_000;
const ROUND_MS = 20_000;
const BARE_MB = 8;
/**
 * Wakes and reads a byte of each page of some memory: 0.01 ms where it is at hand. A virtual machine whose host takes back the
 * memory of whoever sleeps makes it 4 ms after half a second, and a server that nobody uses pays the same.
 */
const BARE = `
const memory = Buffer.alloc(${BARE_MB} * 2 ** 20, 1);
let sum = 0;
setInterval(() => { for (let at = 0; at < memory.length; at += 4096) sum += memory[at]; }, 500);
`;

export const title = 'idle: CPU of a server that nobody uses';

export async function run({ rounds }) {
  const [command, ...args] = pinnedCommand([process.execPath, '-e', BARE]);
  const bare = spawn(command, args, { stdio: 'ignore' });
  try {
    return [
      await idleRow('one process', { processes: 1, goal: 0.5 }, { bare, rounds }),
      await idleRow(`${PROCESSES} processes`, { processes: PROCESSES, goal: 2 }, { bare, rounds }),
    ];
  } finally {
    bare.kill();
  }
}

async function idleRow(name, { processes, goal }, { bare, rounds }) {
  const { spool, peer, ratio } = await measured(processes, { bare, rounds });
  return {
    work: `idle server, ${name}`,
    beside: `a bare node process that reads ${BARE_MB} MB twice a second`,
    figure: told(spool),
    peer: told(peer),
    ratio: `${ratio.median.toFixed(1)}x`,
    goal: `≤ ${goal} % of a core`,
    met: spool.median <= goal,
  };
}

/** Per cent of a core that all of its processes use, Redis among them; the same of the bare process at the same time. */
async function measured(processes, { bare, rounds }) {
  const server = await startServer(processes);
  const takenMs = () => [server.exactCpuMs(), exactCpuMs([bare.pid])];
  try {
    await delay(SETTLED_AFTER_MS);
    const parts = { spool: [], peer: [], ratio: [] };
    for (let round = 0; round < rounds; round++) {
      const [[own_before, bare_before], began] = [takenMs(), performance.now()];
      await delay(ROUND_MS);
      const [[own_after, bare_after], ms] = [takenMs(), performance.now() - began];
      parts.spool.push(((own_after - own_before) / ms) * 100);
      parts.peer.push(((bare_after - bare_before) / ms) * 100);
      parts.ratio.push((own_after - own_before) / (bare_after - bare_before));
    }
    return { spool: middleOf(parts.spool), peer: middleOf(parts.peer), ratio: middleOf(parts.ratio) };
  } finally {
    await server.stop();
  }
}

function middleOf(values) {
  values.sort((a, b) => a - b);
  return { median: values[values.length >> 1], least: values[0], most: values.at(-1) };
}

function told({ median, least, most }) {
  return `${median.toFixed(2)} % of a core (${least.toFixed(2)}–${most.toFixed(2)})`;
}
