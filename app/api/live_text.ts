import type { LiveEvent } from '../../kits/typescript/src/api.js';
import { backoffAfter } from '../../src/domain/backoff.js';
import { payloadOf, send } from './api.js';
import { ApiError } from './api_error.js';
import { serverEventsOf } from './server_events.js';

const RETRY = { first_ms: 1_000, max_ms: 30_000 };
/** The server would say the same again. */
const LASTING = ['BAD_REQUEST', 'FORBIDDEN', 'NOT_FOUND', 'UNAUTHORIZED', 'ACCOUNT_DELETED'];

/**
 * Calls back with what is said in a recording, until its event `end` or the signal. Where the answer ends before, it is asked
 * for again from there on.
 */
export async function followLiveText(
  stream_id: string,
  signal: AbortSignal,
  hear: (event: LiveEvent) => void,
): Promise<void> {
  let last_id: string | null = null;
  let failures = 0;
  while (!signal.aborted) {
    let asked_ms = 0;
    try {
      const headers: Record<string, string> = last_id === null ? {} : { 'Last-Event-ID': last_id };
      const answer = await send('GET', `/audio/streams/${stream_id}/live`, { headers, signal });
      if (!answer.ok || answer.body === null) await payloadOf(answer);
      for await (const { event, id, data } of serverEventsOf(answer.body as ReadableStream<Uint8Array>)) {
        failures = 0;
        last_id = id ?? last_id;
        if (!signal.aborted) hear({ event, id, data: JSON.parse(data) } as LiveEvent);
        if (event === 'end') return;
      }
    } catch (error) {
      if (error instanceof ApiError && LASTING.includes(error.code)) return;
      asked_ms = error instanceof ApiError ? (error.retry_after_s ?? 0) * 1_000 : 0;
    }
    failures += 1;
    await wait(Math.max(asked_ms, backoffAfter(failures, RETRY)), signal);
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
