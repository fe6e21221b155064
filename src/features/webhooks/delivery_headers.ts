import type { KeyObject } from 'node:crypto';
import { signedHeaders } from './signing_secret.js';

const USER_AGENT = 'Spool-Webhooks/1';

/** All headers of a delivery that this server sets. */
export function deliveryHeaders(
  key: Uint8Array | KeyObject,
  delivery: { id: string; at_ms: number; body: string | Uint8Array },
): Record<string, string> {
  return { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...signedHeaders(key, delivery) };
}
