import { setTimeout as delay } from 'node:timers/promises';
import type { Suggestion } from '../../kits/typescript/src/api.js';
import type { AppClient } from '../../kits/typescript/src/app_client.js';
import type { Patience } from '../../kits/typescript/src/retries.js';
import type { Ledger } from './ledger.js';

/** Holds suggestions against what was said: each promise of a conversation is one, and there is no other. */

const PAGE = 100;
const LOOK_EVERY_MS = 1_000;
/** Quiet for ten seconds, a look, a job; one whose worker was killed comes again after its lease. */
const WAIT_MAX_MS = 8 * 60_000;

type Asking = { app: AppClient; patience: Patience; must: (holds: boolean, says: string) => void };

/** Conversations need three turns and ten words: every recording of so many chunks is one, or a part of one. */
const CHUNKS_MIN = 3;

/** Counts the suggestions of an account, once there are as many as there must be. */
export async function verifyInsights({ app, patience, must }: Asking, ledger: Ledger): Promise<number> {
  const said = new Map<string, { stream_id: string; start_ms: number; is_needed: boolean }>();
  for (const { id, chunks } of ledger.streams)
    for (const { says } of chunks.values())
      if (id !== null && says !== null && isPromise(says.text))
        said.set(says.text, { stream_id: id, start_ms: says.start_ms, is_needed: chunks.size >= CHUNKS_MIN });
  const needed = [...said].filter(([, { is_needed }]) => is_needed).map(([text]) => text);
  let found: Suggestion[] = [];
  for (const late_ms = performance.now() + WAIT_MAX_MS; ; await delay(LOOK_EVERY_MS)) {
    found = await suggestionsOf({ app, patience });
    const texts = new Set(found.map(({ text }) => text));
    if (needed.every((text) => texts.has(text)) || performance.now() > late_ms) break;
  }
  const seen = new Set<string>();
  for (const { id, text, status, evidence } of found) {
    const name = `the suggestion "${text}"`;
    const is = said.get(text);
    must(!seen.has(text), `${name} is there twice`);
    seen.add(text);
    must(is !== undefined, `${name} was never said`);
    must(status === 'open', `${name} is ${status}`);
    const [where] = evidence;
    must(
      evidence.length === 1 && where?.stream_id === is?.stream_id && where?.quote === text,
      `${name} (${id}) rests on something else`,
    );
  }
  for (const text of needed) must(seen.has(text), `"${text}" was promised and is no suggestion`);
  return found.length;
}

/** As the scripted model has it (scripted_chat.ts). */
function isPromise(text: string): boolean {
  return /\bI will\b/.test(text);
}

async function suggestionsOf({ app, patience }: Pick<Asking, 'app' | 'patience'>): Promise<Suggestion[]> {
  const found = new Map<string, Suggestion>();
  for (let cursor: string | undefined; ; ) {
    const query = { limit: PAGE, cursor };
    const page = await patience.repeat(() => app.call('GET /suggestions', { query }));
    for (const one of page.items) found.set(one.id, one);
    if (page.cursor === null) return [...found.values()];
    cursor = page.cursor;
  }
}
