/** Rounds of variants in turn, and what is made of them. */
import { spawnSync } from 'node:child_process';
import { kernelMs } from './processes.mjs';

/**
 * Warm is what did as much in two rounds in a row, up to this part; or what has run for so many. Several processes that
 * share a core take longer to compile what is hot than rounds take to agree: such a variant says how many operations it
 * takes (`warm_ops`).
 */
const WARM_WITHIN = 0.05;
const WARM_ROUNDS_MAX = 6;

/**
 * Runs `op` with so many at a time until the time is up; operations under way are still awaited and counted.
 * `op` gets the number of its lane; a lane ends early when it gives false, which counts nothing.
 */
export async function closedLoop({ in_flight, seconds, op }) {
  const began = performance.now();
  const until = began + seconds * 1000;
  let ops = 0;
  const lane = async (number) => {
    while (performance.now() < until) {
      if ((await op(number)) === false) return;
      ops += 1;
    }
  };
  await Promise.all(Array.from({ length: in_flight }, (_, number) => lane(number)));
  return { ops, seconds: (performance.now() - began) / 1000 };
}

/**
 * The same for clients in this process, which stay awake. A server pays for waking a client that sleeps, some 15 us of an
 * answer; the quicker of two servers leaves it no time to sleep, so the slower one alone would pay.
 */
export async function clientLoop(loop) {
  let is_over = false;
  const turn = () => {
    if (!is_over) setImmediate(turn);
  };
  turn();
  try {
    return await closedLoop(loop);
  } finally {
    is_over = true;
  }
}

/**
 * Measures variants A B A B …, once each is warm. Before each round the disk is synced, so that what one variant has
 * left to be written is not written in another's time. A variant is `{ run(seconds), cpuMs() }`:
 * `run` gives `{ ops, seconds }`, `cpuMs` the CPU time its server side has used so far; what a run uses up is made by
 * `prepare(seconds)`, which isn't measured. Resolves with a list of rounds for each variant.
 */
export async function interleave(variants, { rounds, seconds }) {
  for (const variant of Object.values(variants)) await warmUp(variant, seconds);
  const taken = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, variant] of Object.entries(variants)) {
      taken[name].push(await oneRound(variant, seconds));
    }
  }
  return taken;
}

async function oneRound(variant, seconds) {
  await variant.prepare?.(seconds);
  spawnSync('sync');
  const [before_ms, kernel_before_ms] = [variant.cpuMs(), kernelMs()];
  const { ops, seconds: took_s } = await variant.run(seconds);
  const us = (ms) => (ms * 1000) / ops;
  const kernel_us = us(kernelMs() - kernel_before_ms);
  return { ops, rate: ops / took_s, cpu_us: us(variant.cpuMs() - before_ms), kernel_us };
}

async function warmUp(variant, seconds) {
  let left = variant.warm_ops ?? 0;
  let before = 0;
  for (let round = 0; round < WARM_ROUNDS_MAX || left > 0; round++) {
    const { rate, ops } = await oneRound(variant, seconds);
    left -= ops;
    if (left <= 0 && Math.abs(rate - before) <= before * WARM_WITHIN) return;
    before = rate;
  }
}

function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}

/** The value that so large a part of the values does not exceed. */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)];
}

/** Median with least and most. */
export function spreadText(values, unit, digits = 0) {
  const { median, min, max } = spread(values);
  return `${median.toFixed(digits)} ${unit} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

/** A row of the table from rounds of ours and of a peer; the ratio is the median of each round's own. */
/** `by_cpu`: the goal is one of CPU, and not of the rate. */
export function rateRow({ work, beside, ours, peer, goal, by_cpu = false, unit = 'a second' }) {
  const ratio = spread(ours.map(({ rate }, round) => rate / peer[round].rate));
  const cpu_ratio = spread(ours.map(({ cpu_us }, round) => peer[round].cpu_us / cpu_us));
  const told = (rounds) => {
    const { median, min, max } = spread(rounds.map(({ rate }) => rate));
    const [cpu, kernel] = ['cpu_us', 'kernel_us'].map((kind) => spread(rounds.map((round) => round[kind])).median);
    return `${whole(median)} ${unit} (${whole(min)}–${whole(max)}), ${whole(cpu)} µs CPU, kernel ${whole(kernel)} µs`;
  };
  return {
    work,
    beside,
    figure: told(ours),
    peer: told(peer),
    ratio: `${ratio.median.toFixed(2)}x (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}), by CPU ${cpu_ratio.median.toFixed(2)}x`,
    goal: `≥ ${goal}x${by_cpu ? ' by CPU' : ''}`,
    met: (by_cpu ? cpu_ratio : ratio).median >= goal,
  };
}

/** Rows that compare the cost of one thing at two sizes: CPU and time for an operation, the larger over the smaller. */
export function costRow({ work, beside, small, large, goal }) {
  const ratio = spread(large.map(({ rate }, round) => small[round].rate / rate));
  const cpu = spread(large.map(({ cpu_us }, round) => cpu_us / small[round].cpu_us));
  const told = (rounds) => {
    const { median, min, max } = spread(rounds.map(({ rate }) => 1e6 / rate));
    return `${whole(median)} µs (${whole(min)}–${whole(max)}), ${whole(spread(rounds.map(({ cpu_us }) => cpu_us)).median)} µs CPU`;
  };
  return {
    work,
    beside,
    figure: told(large),
    peer: told(small),
    ratio: `${ratio.median.toFixed(2)}x (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}), by CPU ${cpu.median.toFixed(2)}x`,
    goal: `≤ ${goal}x`,
    met: ratio.median <= goal,
  };
}

/** The same by the CPU of an operation alone. */
export function cpuRow({ work, beside, small, large, goal }) {
  const ratio = spread(large.map(({ cpu_us }, round) => cpu_us / small[round].cpu_us));
  const told = (rounds) => {
    const { median, min, max } = spread(rounds.map(({ cpu_us }) => cpu_us));
    return `${whole(median)} µs CPU (${whole(min)}–${whole(max)})`;
  };
  return {
    ...{ work, beside, figure: told(large), peer: told(small) },
    ratio: `${ratio.median.toFixed(2)}x (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
    goal: `≤ ${goal}x`,
    met: ratio.median <= goal,
  };
}

export function whole(value) {
  return Math.round(value).toLocaleString('en');
}

/** Fails unless everything is there that a run claims to have stored. */
export function verify(what, found, wanted) {
  if (found !== wanted) throw new Error(`verification: ${what}: ${found} found, ${wanted} claimed`);
}
