import { setTimeout as pause } from 'node:timers/promises';
import { answerOf } from '../driver/history.js';
import { AppClient } from '../fixtures/app_client.js';

/**
 * Floods one account, as a process of its own that anything else on the machine goes before: what this side does with
 * its thousands of answers must not count as the time that others waited for theirs.
 */

export type Flood = { base_url: string; access_token: string } & (
  | { what: 'commands'; commands: number; at_once: number }
  | { what: 'signals'; stream_id: string; seconds: number; at_once: number; signals: number; payload_bytes: number }
);
/** How often each status came, and the answers that should not be. */
export type FloodCounts = { statuses: Record<number, number>; wrong: string[] };

const WRONG_KEPT_MAX = 20;
const AFTER_REFUSAL_MS = 100;
/** A rush of connections is a fault of its own; here they are as many, but come one by one. */
const BETWEEN_LANES_MS = 1;

const flood = JSON.parse(process.argv[2] as string) as Flood;
const app = new AppClient(flood.base_url, { timeout_ms: 20_000 });
app.access_token = flood.access_token;
const counts: FloodCounts = { statuses: {}, wrong: [] };

const lanes = { commands, signals }[flood.what];
const begin = async (lane: number) => {
  await pause(lane * BETWEEN_LANES_MS);
  await lanes(lane);
};
await Promise.all(Array.from({ length: flood.at_once }, (_, lane) => begin(lane)));
app.close();
process.send?.(counts);

/** Each is done, or refused past the bound. */
async function commands(): Promise<void> {
  if (flood.what !== 'commands') return;
  while (flood.commands-- > 0) await asked('PATCH', '/me', { name: `Name ${flood.commands}` });
}

async function signals(lane: number): Promise<void> {
  if (flood.what !== 'signals') return;
  const { stream_id, seconds } = flood;
  const payload = { text: 'x'.repeat(flood.payload_bytes) };
  const end_ms = performance.now() + seconds * 1_000;
  for (let n = 0; performance.now() < end_ms; n++) {
    const batch = Array.from({ length: flood.signals }, (_, index) => ({
      ...{ ref: `${lane} ${n} ${index}`, type: 'note', start_ms: index, end_ms: index + 1 },
      payload,
    }));
    const status = await asked('POST', `/audio/streams/${stream_id}/signals`, { signals: batch });
    if (status !== 200) await pause(AFTER_REFUSAL_MS);
  }
}

async function asked(method: string, path: string, body: unknown): Promise<number> {
  const { status, code, retry_after_s } = await answerOf(app.ask(method, path, body));
  counts.statuses[status] = (counts.statuses[status] ?? 0) + 1;
  const as_promised = status === 200 || ([429, 503].includes(status) && (retry_after_s ?? 0) > 0);
  if (!as_promised && counts.wrong.length < WRONG_KEPT_MAX) counts.wrong.push(`${method} ${path}: ${status} ${code}`);
  return status;
}
