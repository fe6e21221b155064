/** A Spool on the server's core, with the people and devices that rows need. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'undici';
import { makeDeviceKey, openAuthority } from '../../dist/certs/authority.js';
import { AppClient } from '../../dist/kits/typescript/src/app_client.js';
import { DeviceClient } from '../../dist/kits/typescript/src/device_client.js';
import { OperatorClient } from '../../dist/kits/typescript/src/operator_client.js';
import { pcm16Format, writeWav } from '../../dist/src/engine/audio/wav.js';
import { randomId } from '../../dist/src/engine/random/random.js';
import { decodeCbor, encodeCbor } from '../../dist/src/engine/wire/cbor.js';
import { cpuMs, startProgram } from './processes.mjs';

const CHUNK_BYTES = 64 * 1024;
const PAYLOADS_MAX = 64;
const payloads = new Map();

const WAV_HEADER_BYTES = 44;

/** One of a few bodies of a size, noise of a second as WAV, with its SHA-256 in hex. */
export function payload(number, size = CHUNK_BYTES) {
  const known = payloads.get(size) ?? [];
  payloads.set(size, known);
  const at = number % PAYLOADS_MAX;
  if (known[at] === undefined) {
    const samples = randomBytes(size - WAV_HEADER_BYTES);
    const bytes = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: samples.length / 2 }) }, samples);
    known[at] = { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
  }
  return known[at];
}

/** Starts a Spool with its data in `folder`. */
export async function startSpool(folder, settings = {}) {
  const data_dir = join(folder, 'spool');
  mkdirSync(data_dir);
  const program = await startProgram('spool', { data_dir, ...settings }, { node_args: ['--expose-gc'] });
  const { ports, ops_token, redis_pid, socket_path } = program.ready;
  const operator = new OperatorClient(`http://127.0.0.1:${ports.operator}`, ops_token);
  const clients = [operator];
  const base_url = `http://127.0.0.1:${ports.public}`;
  const device_url = `https://localhost:${ports.device}`;
  return {
    ...{ program, operator, ports, base_url, device_url, socket_path },
    cpuMs: () => cpuMs([program.pid, redis_pid]),
    /** With the code that all are when it was fixed, else with the one in the mail. */
    async signIn(email, fixed_code) {
      const app = new AppClient(base_url);
      clients.push(app);
      const seen = new Set(fixed_code === undefined ? await operator.codes(email) : []);
      const session = await app.signIn(email, async () => fixed_code ?? operator.readCode(email, seen));
      return { app, session };
    },
    /** A device claimed for the account, and a pool of kept connections that are its own. */
    async device(app, connections) {
      const { device_id, ...credentials } = await operator.provision('personal');
      const client = new DeviceClient(device_url, credentials);
      const { claim } = await app.ask('POST', '/devices/claims', { kind: 'owner' });
      const { binding_epoch: epoch } = await client.ask('POST', '/device/claims/redeem', { claim });
      const pool = tlsPool(device_url, credentials, connections);
      clients.push(client, { close: () => pool.destroy() });
      return { device_id, client, epoch, pool, credentials };
    },
    async stop() {
      for (const client of clients) await client.close();
      await program.stop();
    },
  };
}

/** Kept connections over mutual TLS, one request at a time on each. */
export function tlsPool(url, { certificate_pem, ca_pem, private_key_pem }, connections) {
  const identity = { cert: certificate_pem + ca_pem, key: private_key_pem, ca: ca_pem };
  return new Pool(url, {
    connections,
    pipelining: 1,
    keepAliveTimeout: 60_000,
    connect: { ...identity, servername: 'localhost' },
  });
}

export async function registerStream({ client, epoch }) {
  const source_stream_ref = randomUUID();
  const body = {
    source_stream_ref,
    captured_at: new Date().toISOString(),
    clock_uncertainty_ms: 10,
    binding_epoch: epoch,
  };
  const { id } = await client.ask('POST', '/device/streams', body);
  return { id, source_stream_ref, sequence: 0 };
}

/** One chunk as a device sends it: intent, then its bytes. */
export async function sendChunk({ pool, epoch }, stream, size = CHUNK_BYTES) {
  const sequence = stream.sequence++;
  const { bytes, sha256 } = payload(sequence, size);
  const intent = {
    ...{ source_chunk_ref: randomUUID(), source_stream_ref: stream.source_stream_ref, sequence, binding_epoch: epoch },
    ...{
      source_start_ms: sequence * 1000,
      publication_start_ms: sequence * 1000,
      source_end_ms: sequence * 1000 + 1000,
    },
    ...{ codec: 'pcm_s16le', container: 'wav', size_bytes: bytes.length, sha256 },
  };
  const cbor = { accept: 'application/cbor' };
  const headers = { ...cbor, 'content-type': 'application/cbor' };
  const { upload_path } = await answerOf(
    pool.request({ method: 'POST', path: '/device/chunks/intents', headers, body: encodeCbor(intent) }),
  );
  const raw = { ...cbor, 'content-type': 'application/octet-stream' };
  const stored = await answerOf(pool.request({ method: 'PUT', path: upload_path, headers: raw, body: bytes }));
  if (stored.status !== 'stored' || stored.sha256 !== sha256) throw new Error('a chunk was not stored as it was sent');
}

/** Several chunks with their bytes in one request. */
export async function sendChunks({ pool, epoch }, stream, { size, chunks: count }) {
  const chunks = Array.from({ length: count }, () => {
    const sequence = stream.sequence++;
    const { bytes, sha256 } = payload(sequence, size);
    const start = sequence * 1000;
    return {
      ...{ source_chunk_ref: randomUUID(), sequence, source_start_ms: start, publication_start_ms: start },
      ...{ source_end_ms: start + 1000, codec: 'pcm_s16le', container: 'wav', sha256, bytes },
    };
  });
  const body = encodeCbor({ source_stream_ref: stream.source_stream_ref, binding_epoch: epoch, chunks });
  const headers = { accept: 'application/cbor', 'content-type': 'application/cbor' };
  const { items } = await answerOf(pool.request({ method: 'POST', path: '/device/chunks', headers, body }));
  const is_stored = ({ sha256 }, index) => items[index].status === 'processed' && items[index].sha256 === sha256;
  if (!chunks.every(is_stored)) throw new Error(`chunks were not stored as they were sent: ${JSON.stringify(items)}`);
}

async function answerOf(asked) {
  const { statusCode, body } = await asked;
  const decoded = decodeCbor(Buffer.from(await body.arrayBuffer()));
  if (statusCode !== 200) throw new Error(`${statusCode}: ${JSON.stringify(decoded.value)}`);
  return decoded.value.data;
}

/** TLS of the same kind as Spool's for peers, and a client's for them. */
export async function peerTls(folder) {
  const now_ms = Date.now();
  const authority = await openAuthority(join(folder, 'peer_certs'), now_ms);
  const own = await authority.issueListenerCertificate({ names: ['localhost', '127.0.0.1'], now_ms });
  const { private_key_pem, public_key } = makeDeviceKey();
  const device_id = randomId({ partition: 0, now_ms });
  const issued = authority.issueDeviceCertificate({ device_id, now_ms, days: 30, public_key });
  return {
    server: { key: own.private_key_pem, cert: own.certificate_pem, ca: own.ca_pem },
    client: { certificate_pem: issued.certificate_pem, ca_pem: issued.ca_pem, private_key_pem },
  };
}
