/**
 * Lets the browser's own player play recordings: it fetches them piece by piece, and can't be told to show a token. Requests
 * for audio that come from our pages get the header here; ranges pass through. The page is asked for the token each time:
 * nothing is kept here.
 */

export type Clients = { claim(): Promise<void>; get(id: string): Promise<Client | undefined> };
type Client = { postMessage(message: unknown, transfer: Transferable[]): void };

const AUDIO = /^\/audio\/(streams|chunks)\/[0-9a-f-]{36}\/content$/;
const TOKEN_MS_MAX = 10_000;

/** Whether a player asks for audio; our own calls have a token already. */
export function isAudioRequest({ method, headers }: Request, pathname: string): boolean {
  return AUDIO.test(pathname) && method === 'GET' && !headers.has('Authorization');
}

/** The audio, with a token of the page that asks. */
export async function answerAudio(request: Request, client_id: string, clients: Clients): Promise<Response> {
  const token = await tokenOf(clients, client_id);
  const first = await fetchWith(request, token);
  if (first.status !== 401) return first;
  return fetchWith(request, await tokenOf(clients, client_id, token));
}

function fetchWith(request: Request, token: string): Promise<Response> {
  const headers = new Headers({ Authorization: `Bearer ${token}`, 'X-API-Version': '1' });
  const range = request.headers.get('Range');
  if (range !== null) headers.set('Range', range);
  return fetch(request.url, { headers, credentials: 'omit', cache: 'no-store', signal: request.signal });
}

/** Asks the page for an access token, over a channel that only it and this worker hold. */
async function tokenOf(clients: Clients, client_id: string, refused: string | null = null): Promise<string> {
  const client = await clients.get(client_id);
  if (client === undefined) throw new Error('the page that asked is gone');
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the page gave no token')), TOKEN_MS_MAX);
    port1.onmessage = ({ data }: MessageEvent<string | null>) => {
      clearTimeout(timer);
      port1.close();
      if (typeof data === 'string') resolve(data);
      else reject(new Error('nobody is signed in'));
    };
    client.postMessage({ wants: 'audio_token', refused }, [port2]);
  });
}
