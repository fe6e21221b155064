import http from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';

/** One request over node's own client: no retries, no redirects, nothing between the caller and the wire. */
export type CallRequest = {
  method: string;
  url: URL;
  headers?: http.OutgoingHttpHeaders;
  body?: Uint8Array | undefined;
  agent?: http.Agent | https.Agent | undefined;
  signal?: AbortSignal | undefined;
};

export type CallAnswer = { status: number; headers: http.IncomingHttpHeaders; body: Buffer };

/** Resolves with any answer, whatever its status; rejects when none comes. */
export function call({ method, url, headers = {}, body, agent, signal }: CallRequest): Promise<CallAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? https.request : http.request;
    const request = send(url, {
      method,
      agent,
      ...(signal === undefined ? {} : { signal }),
      headers: body === undefined ? headers : { 'Content-Length': body.length, ...headers },
    });
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

/** An answer that is not a success, with the server's code and words. */
export class CallRefused extends Error {
  override name = 'CallRefused';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retry_after_s: number | null,
  ) {
    super(`${status} ${code}: ${message}`);
  }
}

/** The payload of an enveloped answer; throws CallRefused on a refusal. */
export function payloadOf<T>(answer: CallAnswer, envelope: unknown): T {
  if (answer.status === 204) return undefined as T;
  const { success, data, error } = envelope as {
    success?: boolean;
    data?: T;
    error?: { code?: string; message?: string };
  };
  if (success === true) return data as T;
  const retry_after = answer.headers['retry-after'];
  throw new CallRefused(
    answer.status,
    error?.code ?? 'UNKNOWN',
    error?.message ?? '',
    retry_after === undefined ? null : Number(retry_after),
  );
}
