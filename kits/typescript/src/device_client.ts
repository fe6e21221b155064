import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Binding, ChunkArrivals, DeviceApi, Upload, UploadIntent } from './api.js';
import { NoAnswer, payloadOf } from './call.js';
import { encodeCborBody } from './cbor_body.js';
import { type CallAnswer, call } from './http_call.js';
import { type Given, requestOf } from './typed_call.js';

export type DeviceCredentials = { certificate_pem: string; private_key_pem: string; ca_pem: string };
export type BindingView = Binding;
export type IntentView = UploadIntent;

type ArrivalsBody = DeviceApi['POST /device/chunks']['body'];

/** A request with chunks and their bytes. */
export type ChunkArrivalsBody = Omit<ArrivalsBody, 'chunks'> & {
  chunks: (Omit<ArrivalsBody['chunks'][number], 'bytes'> & { bytes: Uint8Array })[];
};

/** How bodies are written: as JSON, or as CBOR by a library of one's own. */
export type Encoding = {
  media_type: string;
  encode(value: unknown): Uint8Array;
  /** Throws for what is malformed. */
  decode(bytes: Uint8Array): unknown;
};

export type DeviceOptions = https.AgentOptions & {
  encoding?: Encoding;
  /** A connection on which nothing moves for so long is cut. */
  idle_max_ms?: number;
};

const IDLE_MAX_MS = 30_000;

export const JSON_ENCODING: Encoding = {
  media_type: 'application/json',
  encode: (value) => Buffer.from(JSON.stringify(value)),
  decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()),
};

/** The device routes as a recorder uses them: over mutual TLS on connections that are kept. */
export class DeviceClient {
  readonly #url: string;
  readonly #agent: https.Agent;
  readonly #encoding: Encoding;
  readonly #idle_max_ms: number;

  /** `ca_pem` is what signs devices and the listener: issuing CA and root. */
  constructor(
    url: string,
    credentials: DeviceCredentials | null,
    { encoding = JSON_ENCODING, idle_max_ms = IDLE_MAX_MS, ...options }: DeviceOptions = {},
  ) {
    this.#url = url;
    this.#encoding = encoding;
    this.#idle_max_ms = idle_max_ms;
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

  /** The raw answer to bytes as they are; rejects with NoAnswer when none comes. */
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
      idle_max_ms: this.#idle_max_ms,
    }).catch((error: unknown) => {
      throw new NoAnswer(error);
    });
  }

  /** The payload of a success; throws CallRefused otherwise. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { media_type, encode } = this.#encoding;
    const headers: OutgoingHttpHeaders = { Accept: media_type };
    if (body !== undefined) headers['Content-Type'] = media_type;
    return this.#payloadOf(
      await this.send(method, path, { headers, ...(body === undefined ? {} : { body: encode(body) }) }),
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
    const headers = { 'Content-Type': 'application/octet-stream', Accept: this.#encoding.media_type };
    return this.#payloadOf(await this.send('PUT', upload_path, { body: bytes, headers }));
  }

  /** Announces chunks and stores their bytes, in one request. */
  async storeChunks(body: ChunkArrivalsBody): Promise<ChunkArrivals> {
    const headers = { 'Content-Type': 'application/cbor', Accept: this.#encoding.media_type };
    return this.#payloadOf(await this.send('POST', '/device/chunks', { body: encodeCborBody(body), headers }));
  }

  close(): void {
    this.#agent.destroy();
  }

  #payloadOf<T>(answer: CallAnswer): T {
    return payloadOf<T>(answer, answer.body.length === 0 ? {} : this.#encoding.decode(answer.body));
  }
}

/** SHA-256 of a chunk's bytes as an intent says it. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
