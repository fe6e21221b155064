import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import tls from 'node:tls';
import type { FuzzRequest, Shown } from './requests.js';
import type { World } from './world.js';

const ANSWER_MAX_MS = 15_000;
const ANSWER_BYTES_MAX = 4_000_000;
const DRIP_BYTES = 40;
const DRIP_MS = 2;

/** `status` is 0 where none came; `why` says what came instead. */
export type Heard = { status: number; retry_after: string | undefined; type: string; body: string; why: string };
export type Ports = { public: string; device: string; operator: string };

/** Sends requests over connections that are kept, or over one of their own where they are no whole HTTP. */
export class Wire {
  readonly #ports: Ports;
  readonly #plain = new http.Agent({ keepAlive: true, maxSockets: 32 });
  readonly #tls = new Map<string, https.Agent>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  send(request: FuzzRequest, world: World): Promise<Heard> {
    const url = new URL(this.#ports[request.listener]);
    return request.way === 'whole' && !isOdd(request) ? this.#whole(url, request, world) : raw(url, request, world);
  }

  #whole(url: URL, request: FuzzRequest, world: World): Promise<Heard> {
    const { method, path, headers, body } = request;
    const agent = url.protocol === 'https:' ? this.#tlsAgent(request.shown, world) : this.#plain;
    const module = url.protocol === 'https:' ? https : http;
    return new Promise((resolve) => {
      const none = (why: string) => resolve({ status: 0, retry_after: undefined, type: '', body: '', why });
      const fields: http.OutgoingHttpHeaders = {};
      for (const [name, value] of headers) fields[name] = value;
      if (body !== null) fields['Content-Length'] = body.length;
      const options = {
        host: url.hostname,
        port: url.port,
        method,
        path,
        headers: fields,
        agent,
        timeout: ANSWER_MAX_MS,
      };
      const sent = module.request(options, (response) => {
        const pieces: Buffer[] = [];
        const type = response.headers['content-type'] ?? '';
        const answered = () =>
          resolve({
            status: response.statusCode ?? 0,
            retry_after: response.headers['retry-after'],
            type,
            body: Buffer.concat(pieces).subarray(0, ANSWER_BYTES_MAX).toString(),
            why: '',
          });
        response.on('data', (piece: Buffer) => {
          pieces.push(piece);
          if (!type.startsWith('text/event-stream')) return;
          answered(); // such an answer has no end
          sent.destroy();
        });
        response.on('error', (error: NodeJS.ErrnoException) => none(error.code ?? error.message));
        response.on('end', answered);
      });
      sent.on('timeout', () => {
        none('no answer in time');
        sent.destroy();
      });
      sent.on('error', (error: NodeJS.ErrnoException) => none(error.code ?? error.message));
      sent.on('continue', () => {});
      sent.end(body ?? undefined);
    });
  }

  #tlsAgent(shown: Shown, world: World): https.Agent {
    const identity = identityOf(shown, world);
    const key = `${shown} ${identity.cert?.slice(60, 160)}`;
    const agent = this.#tls.get(key) ?? new https.Agent({ keepAlive: true, maxSockets: 16, ...identity });
    this.#tls.set(key, agent);
    return agent;
  }

  close(): void {
    this.#plain.destroy();
    for (const agent of this.#tls.values()) agent.destroy();
  }
}

/** What node's own client would not send. */
function isOdd({ method, path, headers, body }: FuzzRequest): boolean {
  if (!/^[A-Z]+$/.test(method) || method === 'TRACE' || /[^\x21-\x7e]/.test(path)) return true;
  const names = headers.map(([name]) => name.toLowerCase());
  if (new Set(names).size < names.length || (body === null && names.includes('expect'))) return true;
  return headers.some(
    ([name, value]) =>
      /^(transfer-encoding|content-length|host|connection|upgrade|expect)$/i.test(name) || /[^\t\x20-\x7e]/.test(value),
  );
}

function identityOf(shown: Shown, world: World): { cert?: string; key?: string; rejectUnauthorized: boolean } {
  if (shown === 'none') return { rejectUnauthorized: false };
  const { certificate_pem, private_key_pem, ca_pem } = world[shown];
  return { cert: certificate_pem + ca_pem, key: private_key_pem, rejectUnauthorized: false };
}

/** Bytes on a connection of their own; resolves with the first answer. */
async function raw(url: URL, request: FuzzRequest, world: World): Promise<Heard> {
  const at = { host: url.hostname, port: Number(url.port) };
  const is_tls = url.protocol === 'https:';
  const socket = is_tls ? tls.connect({ ...at, ...identityOf(request.shown, world) }) : net.connect(at);
  const heard = new Promise<Heard>((resolve) => {
    let text = '';
    const end = (why: string) => {
      clearTimeout(late);
      const head = /^HTTP\/1\.1 (\d{3})[^\r]*\r\n([\s\S]*?)\r\n\r\n([\s\S]*)/.exec(
        text.replace(/^HTTP\/1\.1 100 [\s\S]*?\r\n\r\n/, ''),
      );
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head?.[2] ?? '')?.[1];
      resolve({
        status: Number(head?.[1] ?? 0),
        retry_after: field('retry-after'),
        type: '', // the body may be in pieces
        body: head?.[3] ?? '',
        why,
      });
      socket.destroy();
    };
    const late = setTimeout(() => end('no answer in time'), ANSWER_MAX_MS);
    socket.setEncoding('latin1');
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    socket.on('close', () => end('closed'));
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (/\r\n\r\n/.test(text.replace(/^HTTP\/1\.1 100 [\s\S]*?\r\n\r\n/, ''))) end('');
    });
  });
  await new Promise<void>((resolve) => {
    socket.once(is_tls ? 'secureConnect' : 'connect', resolve).once('error', () => resolve());
  });
  await write(socket, request);
  return heard;
}

async function write(socket: net.Socket, { method, path, headers, body, way }: FuzzRequest): Promise<void> {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines = [`${method} ${path} HTTP/1.1`];
  if (!names.has('host')) lines.push('Host: localhost');
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (body !== null && !names.has('content-length') && !names.has('transfer-encoding'))
    lines.push(`Content-Length: ${body.length}`);
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
  switch (way) {
    case 'pipelined':
      socket.write(Buffer.concat([bytes, bytes, Buffer.from('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')]));
      return;
    case 'cut':
      socket.write(bytes.subarray(0, Math.floor(bytes.length * 0.7)), () => socket.end());
      return;
    case 'dripped':
      for (let at = 0; at < bytes.length && at < 60 * DRIP_BYTES && !socket.destroyed; at += DRIP_BYTES) {
        socket.write(bytes.subarray(at, at + DRIP_BYTES));
        await pause(DRIP_MS);
      }
      socket.end();
      return;
    default:
      socket.write(bytes);
  }
}
