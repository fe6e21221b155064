import http from 'node:http';
import type { OperatorApi } from './api.js';
import { CallRefused } from './call.js';
import type { DeviceCredentials } from './device_client.js';
import { type CallAnswer, call, download } from './http_call.js';
import { type Given, requestOf } from './typed_call.js';

const POLL_MS = 20;

export type InboxMail = OperatorApi['GET /inbox']['answer']['items'][number];

/** No mail with a code came in time. */
export class NoCode extends Error {
  override readonly name = 'NoCode';
}

/** The operator port. */
export class OperatorClient {
  readonly #url: string;
  readonly #token: string;
  readonly #agent = new http.Agent({ keepAlive: true });

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  send(method: string, path: string, body?: unknown): Promise<CallAnswer> {
    const headers: http.OutgoingHttpHeaders = { Authorization: `Bearer ${this.#token}` };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return call({ method, url: new URL(path, this.#url), headers, body: bytes, agent: this.#agent });
  }

  /** The answer of a success; throws CallRefused otherwise. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.send(method, path, body);
    const parsed = answer.body.length === 0 ? {} : JSON.parse(answer.body.toString());
    if (answer.status < 300) return parsed as T;
    throw new CallRefused(answer.status, parsed.error?.code ?? 'UNKNOWN', parsed.error?.message ?? '', null);
  }

  /** Passes the bytes that lie there on as they come; throws CallRefused where there are none. */
  async download(path: string, take: (body: http.IncomingMessage) => Promise<void>): Promise<void> {
    const headers = { Authorization: `Bearer ${this.#token}` };
    const url = new URL(path, this.#url);
    const answer = await download({ method: 'GET', url, headers, agent: this.#agent }, take);
    if (answer.status < 300) return;
    const { error } = JSON.parse(answer.body.toString());
    throw new CallRefused(answer.status, error?.code ?? 'UNKNOWN', error?.message ?? '', null);
  }

  /** As `ask`, typed by the reference. */
  call<Name extends keyof OperatorApi & string>(
    name: Name,
    ...[given]: Given<OperatorApi[Name]>
  ): Promise<OperatorApi[Name]['answer']> {
    const { method, path, body } = requestOf(name, given);
    return this.ask(method, path, body);
  }

  /** A device with a private key that is made for it. */
  async provision(kind: 'personal' | 'shared'): Promise<DeviceCredentials & { device_id: string }> {
    const { private_key_pem, ...made } = await this.call('POST /ops/devices', { body: { kind } });
    if (private_key_pem === undefined) throw new Error('a device was provisioned without its private key');
    return { ...made, private_key_pem };
  }

  advanceClock(advance_ms: number): Promise<{ now: string }> {
    return this.call('POST /ops/clock', { body: { advance_ms } });
  }

  /** The newest code mailed to an address that is none of `seen`; waits for it, a while. For development: no SMTP. */
  async readCode(email: string, seen: ReadonlySet<string> = new Set(), wait_ms = 5_000): Promise<string> {
    for (const until = performance.now() + wait_ms; performance.now() < until; ) {
      const code = (await this.codes(email)).find((one) => !seen.has(one));
      if (code !== undefined) return code;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new NoCode(`no code came for ${email}`);
  }

  /** The codes mailed to an address that are still in the inbox, the newest first. */
  async codes(email: string): Promise<string[]> {
    const { items } = await this.call('GET /inbox', { query: { limit: 100 } });
    return items.flatMap(({ to, text }) => (to === email ? (/^(\d{6})$/m.exec(text)?.[1] ?? []) : []));
  }

  close(): void {
    this.#agent.destroy();
  }
}
