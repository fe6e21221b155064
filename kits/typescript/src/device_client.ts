import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { decodeCbor, encodeCbor } from '../../../src/wire/cbor.js';
import type { Binding, DeviceApi, Upload, UploadIntent } from './api.js';
import { type CallAnswer, call, payloadOf } from './http_call.js';
import { type Given, requestOf } from './typed_call.js';

export type DeviceCredentials = { certificate_pem: string; private_key_pem: string; ca_pem: string };
export type BindingView = Binding;
export type IntentView = UploadIntent;

/** The device routes as a recorder uses them: CBOR over mutual TLS on connections that are kept. */
export class DeviceClient {
  readonly #url: string;
  readonly #agent: https.Agent;

  /** `ca_pem` is what signs devices and the listener: issuing CA and root. */
  constructor(url: string, credentials: DeviceCredentials | null, options: https.AgentOptions = {}) {
    this.#url = url;
    const identity =
      credentials === null
        ? { rejectUnauthorized: false }
        : {
            cert: credentials.certificate_pem + credentials.ca_pem,
            key: credentials.private_key_pem,
            ca: credentials.ca_pem,
          };
    this.#agent = new https.Agent({ keepAlive: true, ...identity, ...options });
  }

  /** The raw answer to bytes as they are. */
  send(
    method: string,
    path: string,
    options: { body?: Uint8Array; headers?: OutgoingHttpHeaders } = {},
  ): Promise<CallAnswer> {
    return call({
      method,
      url: new URL(path, this.#url),
      headers: options.headers ?? {},
      body: options.body,
      agent: this.#agent,
    });
  }

  /** The payload of a success; throws CallRefused otherwise. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: OutgoingHttpHeaders = { Accept: 'application/cbor' };
    if (body !== undefined) headers['Content-Type'] = 'application/cbor';
    return answerOf<T>(
      await this.send(method, path, { headers, ...(body === undefined ? {} : { body: encodeCbor(body) }) }),
    );
  }

  /** As `ask`, typed by the reference. */
  call<Name extends keyof DeviceApi & string>(
    name: Name,
    ...[given]: Given<DeviceApi[Name]>
  ): Promise<DeviceApi[Name]['answer']> {
    const { method, path, body } = requestOf(name, given);
    return this.ask(method, path, body);
  }

  /** Sends a chunk's bytes to the path that its intent gave. */
  async upload(upload_path: string, bytes: Uint8Array): Promise<Upload> {
    const headers = { 'Content-Type': 'application/octet-stream', Accept: 'application/cbor' };
    return answerOf(await this.send('PUT', upload_path, { body: bytes, headers }));
  }

  close(): void {
    this.#agent.destroy();
  }
}

function answerOf<T>(answer: CallAnswer): T {
  if (answer.body.length === 0) return payloadOf<T>(answer, {});
  const decoded = decodeCbor(answer.body);
  if (!decoded.ok) throw new Error(`the server's CBOR is not valid: ${decoded.message}`);
  return payloadOf<T>(answer, decoded.value);
}

/** SHA-256 of a chunk's bytes as an intent says it. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
