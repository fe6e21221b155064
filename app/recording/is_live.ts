import type { Stream } from '../../kits/typescript/src/api.js';

/** A recording without an end of which nothing new came for so long is not under way. */
const LIVE_MS_MAX = 120_000;

export function isLive({ end_ms, last_stored_at, created_at }: Stream): boolean {
  return end_ms === undefined && Date.now() - Date.parse(last_stored_at ?? created_at) < LIVE_MS_MAX;
}
