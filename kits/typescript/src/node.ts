import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KeptTokens, TokenStore } from './credential.js';
import { readJson, writeDurably } from './durable_files.js';

/** What apps in Node have beside what browsers have. */

export { type CallAnswer as NodeAnswer, nodeTransport } from './http_call.js';

/** Tokens in a file that its owner alone may read. */
export function fileStore(path: string): TokenStore {
  return {
    load: () => readJson<KeptTokens>(path),
    save: (tokens) => writeDurably(path, JSON.stringify(tokens)),
  };
}

const LOOPBACK = '127.0.0.1';
const CALLBACK_PATH = '/callback';
const DONE = 'You are signed in and can close this page.';

/**
 * Where a program on the person's own machine gets the answer of a sign-in (RFC 8252). The port may be any for a client
 * that has registered `http://127.0.0.1/callback`.
 */
export async function loopbackRedirect(): Promise<{ redirect_uri: string; callback: Promise<URL>; close(): void }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, LOOPBACK, resolve));
  const origin = `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`;
  const callback = new Promise<URL>((resolve) => {
    server.on('request', (request, response) => {
      // Anything on this machine may send anything.
      const url = URL.canParse(request.url ?? '', origin) ? new URL(request.url ?? '', origin) : null;
      const is_callback = url?.pathname === CALLBACK_PATH;
      response.writeHead(is_callback ? 200 : 404, { 'Content-Type': 'text/plain', Connection: 'close' });
      response.end(is_callback ? DONE : '');
      if (is_callback) resolve(url);
    });
  });
  return { redirect_uri: origin + CALLBACK_PATH, callback, close: () => server.close() };
}
