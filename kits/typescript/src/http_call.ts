import http from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { NoAnswer, type Transport } from './call.js';

/** One request over node's own client: no retries, no redirects, nothing between the caller and the wire. */
export type CallRequest = {
  method: string;
  url: URL;
  headers?: http.OutgoingHttpHeaders;
  body?: Uint8Array | undefined;
  agent?: http.Agent | https.Agent | undefined;
  signal?: AbortSignal | undefined;
  /** A connection on which nothing moves for so long is cut. */
  idle_max_ms?: number | undefined;
};

export type CallAnswer = { status: number; headers: http.IncomingHttpHeaders; body: Buffer };

/** Resolves with any answer, whatever its status; rejects with what node says when none comes. */
export function call({
  method,
  url,
  headers = {},
  body,
  agent,
  signal,
  idle_max_ms,
}: CallRequest): Promise<CallAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? https.request : http.request;
    const request = send(url, {
      method,
      agent,
      ...(signal === undefined ? {} : { signal }),
      headers: body === undefined ? headers : { 'Content-Length': body.length, ...headers },
    });
    if (idle_max_ms !== undefined)
      request.setTimeout(idle_max_ms, () => request.destroy(Object.assign(new Error('idle'), { code: 'ETIMEDOUT' })));
    request.on('error', reject);
    request.on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    request.end(body);
  });
}

/** The same with a body that is passed on as it comes, where it is a success; that of a refusal is in the answer. */
export function download(
  { method, url, headers = {}, agent }: CallRequest,
  take: (body: http.IncomingMessage) => Promise<void>,
): Promise<CallAnswer> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, { method, agent, headers });
    request.on('error', reject);
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      const answered = status < 300 ? take(response).then(() => Buffer.of()) : buffer(response);
      answered.then((body) => resolve({ status, headers: response.headers, body }), reject);
    });
    request.end();
  });
}

/** In place of `fetch`: for a certificate authority of one's own (`ca`), or to bound connections (`maxSockets`). */
export function nodeTransport(options: https.AgentOptions = {}): Transport<CallAnswer> {
  const agents = {
    'http:': new http.Agent({ keepAlive: true, ...options }),
    'https:': new https.Agent({ keepAlive: true, ...options }),
  };
  return {
    send: (request) =>
      call({ ...request, agent: agents[request.url.protocol as keyof typeof agents] }).catch((error: unknown) => {
        throw new NoAnswer(request.signal?.aborted ? request.signal.reason : error);
      }),
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
