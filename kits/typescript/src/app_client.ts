import http from 'node:http';
import https from 'node:https';
import type { PublicApi, Session } from './api.js';
import { type CallAnswer, call, payloadOf } from './http_call.js';
import { type Given, requestOf } from './typed_call.js';

export type SignedIn = Session;

/** The REST API as an app uses it. Paths and payloads are the interface's. */
export class AppClient {
  readonly #base_url: string;
  readonly #agent: http.Agent;
  readonly #timeout_ms: number | undefined;
  access_token: string | null = null;

  /** A call that takes longer than `timeout_ms` rejects; without one it may take for ever. */
  constructor(base_url: string, { timeout_ms }: { timeout_ms?: number } = {}) {
    this.#base_url = base_url;
    const { Agent } = new URL(base_url).protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true });
    this.#timeout_ms = timeout_ms;
  }

  /** The raw answer, for callers that look at status and headers. */
  send(
    method: string,
    path: string,
    options: { body?: unknown; headers?: http.OutgoingHttpHeaders } = {},
  ): Promise<CallAnswer> {
    const headers: http.OutgoingHttpHeaders = { 'X-API-Version': '1', ...options.headers };
    if (this.access_token !== null) headers.Authorization ??= `Bearer ${this.access_token}`;
    const body = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
    if (body !== undefined) headers['Content-Type'] ??= 'application/json';
    const signal = this.#timeout_ms === undefined ? undefined : AbortSignal.timeout(this.#timeout_ms);
    return call({ method, url: new URL(path, this.#base_url), headers, body, agent: this.#agent, signal });
  }

  /** The payload of a success; throws CallRefused otherwise. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.send(method, path, { body });
    return payloadOf<T>(answer, answer.body.length === 0 ? {} : JSON.parse(answer.body.toString()));
  }

  /** As `ask`, typed by the reference. */
  call<Name extends keyof PublicApi & string>(
    name: Name,
    ...[given]: Given<PublicApi[Name]>
  ): Promise<PublicApi[Name]['answer']> {
    const { method, path, body } = requestOf(name, given);
    return this.ask(method, path, body);
  }

  /** Signs in with an emailed code that `readCode` fetches. */
  async signIn(email: string, readCode: () => Promise<string>): Promise<SignedIn> {
    await this.call('POST /auth/otp', { body: { email } });
    const session = await this.call('POST /auth/verify-otp', { body: { email, token: await readCode() } });
    this.access_token = session.access_token;
    return session;
  }

  close(): void {
    this.#agent.destroy();
  }
}
