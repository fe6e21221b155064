import { fork } from 'node:child_process';
import { once } from 'node:events';

import { constants, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { answerOf } from '../driver/history.js';
import type { AppClient } from '../fixtures/app_client.js';
import type { Flood, FloodCounts } from './flooder.js';

import type { Trial } from './trial.js';

/** Fault 10: one account floods; the others must hardly notice. */

const OTHERS = 6;
/** Of the others together, a second. */
const RATE = 120;
const FLOODERS = 300;
/** About what a server does on one core, so that the flood lasts. */
const COMMANDS_PER_SECOND = 2_500;
const SIGNALS = 500;
const SIGNAL_BYTES = 8_000;
const BATCHES_AT_ONCE = 2;
const FACTOR_MAX = 2;
/** Below this nobody notices, whatever the factor. */
const P99_FLOOR_MS = 25;
const MEMORY_GROWTH_MAX_MIB = 250;

export async function floods(trial: Trial): Promise<void> {
  const rig = await trial.open({ storage: 'own', env: { RATE_LIMITS: 'off' }, is_measured: true });
  const { access_token: token } = await rig.signIn('owner@x.test');
  const flooder = rig.clients(token)[0] as AppClient;
  const others: AppClient[] = [];
  for (let n = 0; n < OTHERS; n++)
    others.push(rig.clients((await rig.signIn(`other${n}@x.test`)).access_token)[0] as AppClient);
  const part_s = Math.max(2, trial.size.seconds / 2);
  const before_mib = rig.first.memory_mib;
  const alone = await tookBeside(trial, others, pause(part_s * 1_000));
  const commands = Math.ceil(part_s * COMMANDS_PER_SECOND);
  const one = { base_url: rig.first.base_url, access_token: token };
  const asked = flood(trial, { ...one, what: 'commands', commands, at_once: FLOODERS });
  const beside_commands = await tookBeside(trial, others, asked);

  const { id: source_id } = await flooder.call('POST /sources', { body: { name: 'signals' } });
  const body = { source_id, captured_at: '2026-01-01T12:00:00Z' };
  const { id: stream_id } = await flooder.call('POST /audio/streams', { body });
  const batches = flood(trial, {
    ...{ ...one, what: 'signals', stream_id, seconds: part_s },
    ...{ at_once: BATCHES_AT_ONCE, signals: SIGNALS, payload_bytes: SIGNAL_BYTES },
  });
  const beside_batches = await tookBeside(trial, others, batches);
  // On both sides of the floods, since a machine has better and worse moments.
  const alone_ms = p99([...alone, ...(await tookBeside(trial, others, pause(part_s * 1_000)))]);
  for (const [what, took_ms] of [
    [`${commands} commands to one account`, beside_commands],
    [`batches of ${(SIGNALS * SIGNAL_BYTES) / 1e6} MB`, beside_batches],
  ] as const) {
    const beside_ms = p99(took_ms);
    const factor = (beside_ms / alone_ms).toFixed(1);
    trial.notes.push(
      `p99 of others ${alone_ms.toFixed(1)} ms alone, ${beside_ms.toFixed(1)} ms beside ${what} (${factor}x)`,
    );
    const holds = beside_ms <= Math.max(FACTOR_MAX * alone_ms, P99_FLOOR_MS);
    trial.must(holds, `others' p99 is ${factor} times as long beside ${what}`);
    trial.tries += 1;
  }
  const grown_mib = rig.first.memory_mib - before_mib;
  trial.notes.push(`memory grew by ${Math.round(grown_mib)} MiB`);
  trial.must(grown_mib < MEMORY_GROWTH_MAX_MIB, `memory grew by ${Math.round(grown_mib)} MiB`);
  trial.must(trial.counts.ok >= 100, `only ${trial.counts.ok} commands of the flood came to something`);
}

/** Ends with the flood. */
async function flood(trial: Trial, what: Flood): Promise<void> {
  const flooder = fork(fileURLToPath(new URL('./flooder.js', import.meta.url)), [JSON.stringify(what)]);
  setPriority(flooder.pid as number, constants.priority.PRIORITY_LOW);
  const [{ statuses, wrong }] = (await once(flooder, 'message')) as [FloodCounts];
  for (const [status, times] of Object.entries(statuses))
    trial.counts[status === '200' ? 'ok' : status === '0' ? 'unknown' : 'refused'] += times;
  trial.none('answers of the flood', wrong);
}

/** How long it takes what others ask at a fixed rate until this is over, in milliseconds. */
async function tookBeside(trial: Trial, apps: AppClient[], other: Promise<unknown>): Promise<number[]> {
  const took_ms: number[] = [];
  const asked: Promise<unknown>[] = [];
  let is_over = false;
  const over = other.finally(() => {
    is_over = true;
  });
  for (let n = 0; !is_over; n++) {
    const app = apps[n % apps.length] as AppClient;
    const began = performance.now();
    const asking = n % 3 === 0 ? app.ask('PATCH', '/me', { name: `name ${n}` }) : app.ask('GET', '/me');
    asked.push(
      answerOf(asking).then(({ status }) => {
        took_ms.push(performance.now() - began);
        if (status !== 200) trial.must(false, `somebody else was answered ${status}`);
      }),
    );
    await pause(1_000 / RATE);
  }
  await over;
  await Promise.all(asked);
  return took_ms;
}

function p99(took_ms: readonly number[]): number {
  return took_ms.toSorted((a, b) => a - b)[Math.floor(took_ms.length * 0.99)] ?? 0;
}
