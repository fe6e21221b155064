import { setTimeout as delay } from 'node:timers/promises';
import type { Turn } from '../../kits/typescript/src/api.js';
import type { AppClient } from '../../kits/typescript/src/app_client.js';
import type { Patience } from '../../kits/typescript/src/retries.js';
import type { SentStream } from './ledger.js';

/** Holds turns against what was said: each utterance is one turn, and there is no other. */

const PAGE = 100;
const LOOK_EVERY_MS = 500;
/** A window whose worker was killed comes again after a minute; one that failed after the second try within six. */
const WAIT_MAX_MS = 8 * 60_000;
/** Samples and windows are cut by the frame and by the ms. */
const TOLERANCE_MS = 20;

type Asking = { app: AppClient; patience: Patience; must: (holds: boolean, says: string) => void };

/** The turns of a stream, once there are as many as there must be. */
export async function verifyTurns({ app, patience, must }: Asking, id: string, sent: SentStream): Promise<Turn[]> {
  const said = new Map(
    [...sent.chunks.values()].flatMap(({ says }) => (says === null ? [] : [[says.text, says] as const])),
  );
  let turns: Turn[] = [];
  for (const late_ms = performance.now() + WAIT_MAX_MS; ; ) {
    turns = await turnsOf({ app, patience }, id);
    if (turns.length >= said.size || performance.now() > late_ms) break;
    await delay(LOOK_EVERY_MS);
  }
  const heard = new Set<string>();
  for (const { text, start_ms, end_ms } of turns) {
    const name = `the turn "${text}" of ${id}`;
    const is = said.get(text);
    must(!heard.has(text), `${name} is there twice`);
    heard.add(text);
    if (is === undefined) must(false, `${name} was never said`);
    else {
      const off_ms = Math.max(Math.abs(start_ms - is.start_ms), Math.abs(end_ms - is.end_ms));
      must(off_ms <= TOLERANCE_MS, `${name} lies ${off_ms} ms off`);
    }
  }
  for (const text of said.keys()) must(heard.has(text), `"${text}" of ${id} was said and is no turn`);
  return turns;
}

async function turnsOf({ app, patience }: Pick<Asking, 'app' | 'patience'>, stream_id: string): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = { stream_id, limit: PAGE, cursor };
    const page = await patience.repeat(() => app.call('GET /turns', { query }));
    turns.push(...page.items);
    if (page.cursor === null) return turns;
    cursor = page.cursor;
  }
}
