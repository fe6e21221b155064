import { answerAudio, type Clients, isAudioRequest } from './audio_requests.js';
import { DOCUMENT, fileOf, isFileRequest, isPageRequest, keepShell, keptDocument } from './shell_cache.js';

/** Stands between the pages at /app and the server: shows the app without a connection, and lets players play audio. */

type Scope = typeof globalThis & { skipWaiting(): Promise<void>; clients: Clients };
type FetchEvent = Event & {
  request: Request;
  clientId: string;
  respondWith(answer: Promise<Response>): void;
  waitUntil(work: Promise<unknown>): void;
};

const worker = self as unknown as Scope;

addEventListener('install', (event) => {
  void worker.skipWaiting();
  // Audio is played without the kept document, too.
  (event as FetchEvent).waitUntil(
    fetch(DOCUMENT, { cache: 'no-store', credentials: 'omit' })
      .then((answer) => keepShell(caches, answer))
      .catch(() => {}),
  );
});
addEventListener('activate', (event) => (event as FetchEvent).waitUntil(worker.clients.claim()));
addEventListener('fetch', (event) => {
  const { request, clientId } = event as FetchEvent;
  const { origin, pathname } = new URL(request.url);
  if (origin !== location.origin) return;
  const respond = (answer: Promise<Response>) => (event as FetchEvent).respondWith(answer);
  if (isPageRequest(request, pathname)) respond(page(event as FetchEvent));
  else if (isFileRequest(request, pathname)) respond(fileOf(caches, request));
  else if (isAudioRequest(request, pathname)) respond(answerAudio(request, clientId, worker.clients));
});

/** The server's page, which is kept; without a connection the kept one. */
async function page(event: FetchEvent): Promise<Response> {
  try {
    const answer = await fetch(event.request);
    event.waitUntil(keepShell(caches, answer.clone()).catch(() => {}));
    return answer;
  } catch {
    return keptDocument(caches);
  }
}
