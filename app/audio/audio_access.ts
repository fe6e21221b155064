import { payloadOf, send } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { say } from '../language/say.js';
import { accessToken, accessTokenAfter } from '../session/session.js';
import { serviceWorkers } from '../shell/service_worker.js';

/**
 * Gives the browser's player access to audio: through the service worker, or where there is none, by a copy in memory.
 */

const WORKER_MS_MAX = 4_000;
/** Of a copy in memory. */
const COPY_BYTES_MAX = 200_000_000;

let ready: Promise<boolean> | null = null;

/** Whether requests of this page pass the worker. */
function workerReady(): Promise<boolean> {
  ready ??= startWorker().catch(() => false);
  return ready;
}

async function startWorker(): Promise<boolean> {
  const container = await serviceWorkers();
  if (container === null) return false;
  container.addEventListener('message', (event) => {
    const { data, ports } = event as MessageEvent<{ wants?: string; refused: string | null }>;
    const [port] = ports;
    if (data.wants !== 'audio_token' || port === undefined) return;
    const token = data.refused === null ? accessToken() : accessTokenAfter(data.refused);
    token.then(
      (text) => port.postMessage(text),
      () => port.postMessage(null),
    );
  });
  container.startMessages();
  if (container.controller !== null) return true;
  // A page that was loaded past the worker (by a forced reload) stays outside.
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), WORKER_MS_MAX);
    container.addEventListener('controllerchange', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** An address for a media element. `done` gives back what it holds. */
export async function audioSource(stream_id: string): Promise<{ url: string; done: () => void }> {
  const path = pathOf(stream_id);
  if (await workerReady()) return { url: path, done: () => {} };
  const url = URL.createObjectURL(await fetchAudio(stream_id));
  return { url, done: () => URL.revokeObjectURL(url) };
}

/** The server's reason for refusing audio; null where it refuses nothing. A media element tells only that it failed. */
export async function whyNoAudio(stream_id: string): Promise<string | null> {
  try {
    const answer = await send('GET', pathOf(stream_id), { headers: { Range: 'bytes=0-0' } });
    if (answer.ok) return null;
    return await payloadOf<null>(answer);
  } catch (error) {
    return error instanceof ApiError ? error.message : null;
  }
}

/** How loud a recording is over its timeline, a byte for each sixteenth of a second; throws where the server has none. */
export async function fetchWaveform(stream_id: string, signal: AbortSignal): Promise<Uint8Array> {
  const answer = await send('GET', `/audio/streams/${stream_id}/waveform`, { signal });
  return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : payloadOf<Uint8Array>(answer);
}

function pathOf(stream_id: string): string {
  return `/audio/streams/${stream_id}/content`;
}

/** All of it; throws where it is too large to be held in memory. */
async function fetchAudio(stream_id: string): Promise<Blob> {
  const answer = await send('GET', pathOf(stream_id));
  if (!answer.ok) return payloadOf<Blob>(answer);
  if (Number(answer.headers.get('Content-Length')) > COPY_BYTES_MAX) {
    await answer.body?.cancel();
    throw new RangeError(say('The recording is too large to be held in memory.'));
  }
  return answer.blob();
}
