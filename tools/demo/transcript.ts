import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { PublicApi } from '../../kits/typescript/src/api.js';
import type { AppClient } from '../../kits/typescript/src/app_client.js';
import type { Patience } from '../../kits/typescript/src/retries.js';
import { clockText } from '../../src/domain/span_text.js';

/** The turns that a server transcribes of a stream, as they come. */

export type Turn = PublicApi['GET /turns']['answer']['items'][number];
type Transcript = PublicApi['GET /audio/streams/{id}/transcript']['answer'];

export type Reading = { app: AppClient; patience: Patience; stream_id: string };

type Showing = {
  /** Where the recording ends. */
  end_ms: number;
  /** Ids of turns that were printed before; grows. */
  shown?: Set<string>;
  out: Writable;
  /** Gets the first turn, once. */
  onFirst?: (turn: Turn) => Promise<void>;
};

const POLL_MS = 300;
/** Without anything new for so long, nothing more is waited for. */
const SILENCE_MS_MAX = 120_000;
const PAGE = 100;
/** A recording's end is that of its last chunk, to within this. */
const END_MS = 1_000;

/** Prints new turns as they come until all is transcribed; gives all there are then. Null where the server has no engine. */
export async function showTurns(
  reading: Reading,
  { end_ms, shown = new Set(), out, onFirst }: Showing,
): Promise<Turn[] | null> {
  let [reached_ms, revision] = [0, -1];
  for (let moved = performance.now(); performance.now() - moved < SILENCE_MS_MAX; await delay(POLL_MS)) {
    const transcript = await transcriptOf(reading);
    if (transcript.engine === null) return null;
    const now_ms = reachedBy(transcript);
    if (transcript.revision !== revision || now_ms !== reached_ms) moved = performance.now();
    if (transcript.revision !== revision) {
      for (const turn of await turnsOf(reading)) {
        if (shown.has(turn.id)) continue;
        out.write(`  ${lineOf(turn)}\n`);
        if (shown.size === 0) await onFirst?.(turn);
        shown.add(turn.id);
      }
    }
    [reached_ms, revision] = [now_ms, transcript.revision];
    if (transcript.waiting.length === 0 && reached_ms >= end_ms - END_MS) break;
  }
  for (const { from_ms, to_ms, code } of (await transcriptOf(reading)).failed)
    out.write(`  ${clockText(from_ms)} to ${clockText(to_ms)} failed: ${code}\n`);
  return turnsOf(reading);
}

function reachedBy({ covered, failed }: Transcript): number {
  const ends = [...covered.map(([, to_ms]) => to_ms), ...failed.map(({ to_ms }) => to_ms)];
  return Math.max(0, ...ends);
}

/** All turns of the stream, in their order. */
async function turnsOf({ app, patience, stream_id }: Reading): Promise<Turn[]> {
  const turns: Turn[] = [];
  let cursor: string | undefined;
  do {
    const query: { stream_id: string; limit: number; cursor: string | undefined } = { stream_id, limit: PAGE, cursor };
    const page = await patience.repeat(() => app.call('GET /turns', { query }));
    turns.push(...page.items);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return turns;
}

export function transcriptOf({ app, patience, stream_id }: Reading): Promise<Transcript> {
  return patience.repeat(() => app.call('GET /audio/streams/{id}/transcript', { path: { id: stream_id } }));
}

export function lineOf({ start_ms, speaker, speaker_name, text }: Turn): string {
  const who = speaker_name ?? speaker;
  return `${clockText(start_ms)} ${who === null ? '' : `${who}: `}${text}`;
}
