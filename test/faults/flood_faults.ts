import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { AppClient } from '../../src/client/app_client.js';
import { answerOf } from './history.js';
import { FaultRig } from './rig.js';
import type { Trial } from './trial.js';

/** Fault 10: one account floods; the others must hardly notice. */

const OTHERS = 6;
/** Of the others together, a second. */
const RATE = 60;
const FLOODERS = 300;
const COMMANDS_PER_SECOND = 1_500;
const SIGNALS = 500;
const SIGNAL_BYTES = 8_000;
const BATCHES_AT_ONCE = 2;
const FACTOR_MAX = 2;
/** Below this nobody notices, whatever the factor. */
const P99_FLOOR_MS = 25;
const MEMORY_GROWTH_MAX_MIB = 250;

export async function floods(trial: Trial): Promise<void> {
  const rig = await FaultRig.open({ storage: 'own', env: { RATE_LIMITS: 'off' } });
  try {
    const flooder = rig.clients((await rig.signIn('owner@x.test')).token)[0] as AppClient;
    const others: AppClient[] = [];
    for (let n = 0; n < OTHERS; n++)
      others.push(rig.clients((await rig.signIn(`other${n}@x.test`)).token)[0] as AppClient);
    const memory_mib = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${rig.first.process.pid}/status`, 'utf8'))?.[1]) / 1_024;
    const part_s = Math.max(2, trial.size.seconds / 2);
    const alone_ms = await p99Beside(trial, others, pause(part_s * 1_000));
    const before_mib = memory_mib();
    const compare = (what: string, beside_ms: number) => {
      const factor = beside_ms / alone_ms;
      trial.notes.push(
        `p99 of others ${alone_ms.toFixed(1)} ms alone, ${beside_ms.toFixed(1)} ms beside ${what} (${factor.toFixed(1)}x)`,
      );
      const holds = factor <= FACTOR_MAX || beside_ms <= P99_FLOOR_MS;
      trial.must(holds, `others' p99 is ${factor.toFixed(1)} times as long beside ${what}`);
      trial.tries += 1;
    };

    const commands = Math.ceil(part_s * COMMANDS_PER_SECOND);
    compare(`${commands} commands to one account`, await p99Beside(trial, others, flood(trial, flooder, commands)));

    const { id: source_id } = await flooder.ask<{ id: string }>('POST', '/sources', { name: 'signals' });
    const body = { source_id, captured_at: '2026-01-01T12:00:00Z' };
    const { id } = await flooder.ask<{ id: string }>('POST', '/audio/streams', body);
    let stop = false;
    const batches = Array.from({ length: BATCHES_AT_ONCE }, async (_, lane) => {
      for (let n = 0; !stop; n++) {
        const answer = await answerOf(flooder.ask('POST', `/audio/streams/${id}/signals`, batchOf(`${lane} ${n}`)));
        count(trial, answer.status);
        if (answer.status !== 200) await pause(100);
      }
    });
    const signals = (async () => {
      await pause(part_s * 1_000);
      stop = true;
      await Promise.all(batches);
    })();
    compare(`batches of ${(SIGNALS * SIGNAL_BYTES) / 1e6} MB`, await p99Beside(trial, others, signals));
    const grown_mib = memory_mib() - before_mib;
    trial.notes.push(`memory grew by ${Math.round(grown_mib)} MiB`);
    trial.must(grown_mib < MEMORY_GROWTH_MAX_MIB, `memory grew by ${Math.round(grown_mib)} MiB`);
    trial.must(trial.counts.ok >= 100, `only ${trial.counts.ok} commands of the flood came to something`);
  } finally {
    await rig.end();
  }
}

/** So many commands to one account, with many under way at once: each is done, or refused past the bound. */
async function flood(trial: Trial, app: AppClient, commands: number): Promise<void> {
  let left = commands;
  await Promise.all(
    Array.from({ length: FLOODERS }, async () => {
      while (left-- > 0) {
        const { status, retry_after_s } = await answerOf(app.ask('PATCH', '/me', { name: `Name ${left}` }));
        count(trial, status);
        const as_promised = status === 200 || (status === 503 && (retry_after_s ?? 0) > 0);
        if (!as_promised) trial.must(false, `a command of the flood: ${status}`);
      }
    }),
  );
}

function count(trial: Trial, status: number): void {
  trial.counts[status === 200 ? 'ok' : status === 0 ? 'unknown' : 'refused'] += 1;
}

function batchOf(name: string): unknown {
  const text = 'x'.repeat(SIGNAL_BYTES);
  const signals = Array.from({ length: SIGNALS }, (_, n) => ({
    ...{ ref: `${name} ${n}`, type: 'note', start_ms: n, end_ms: n + 1 },
    payload: { text },
  }));
  return { signals };
}

/** The p99 of what others ask at a fixed rate until this is over, in milliseconds. */
async function p99Beside(trial: Trial, apps: AppClient[], other: Promise<unknown>): Promise<number> {
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
  took_ms.sort((a, b) => a - b);
  return took_ms[Math.floor(took_ms.length * 0.99)] ?? 0;
}
