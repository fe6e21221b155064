/** Peers of uploads, over the same TLS, and the bytes that lie in their folders afterwards. */
import { existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { openFolderBlobStore } from '../../dist/src/engine/blobs/folder_blob_store.js';
import { scanSegment } from '../../dist/src/engine/blobs/segment_scan.js';
import { clientLoop } from './measure.mjs';
import { cpuMs, startProgram } from './processes.mjs';
import { payload, peerTls, tlsPool } from './spool_setup.mjs';

/** Starts peers in folders of their own; what ends them is put into `stops`. */
export async function uploadPeers(folder, stops, in_flight) {
  const tls = await peerTls(folder);
  return async (name, more = {}) => {
    const files = mkdtempSync(join(folder, name));
    const program = await startProgram(name, { folder: files, tls: tls.server, ...more });
    const pool = tlsPool(`https://localhost:${program.ready.port}`, tls.client, in_flight);
    stops.push(
      () => program.stop(),
      () => pool.destroy(),
    );
    return { program, pool, files, sent: 0 };
  };
}

/** A variant that sends bodies of a size to a peer; `server.sent` counts them. */
export function peerVariant(server, send, { in_flight, size }) {
  return {
    cpuMs: () => cpuMs([server.program.pid]),
    run: (seconds) =>
      counted(
        (ops) => (server.sent += ops),
        { in_flight, seconds },
        (lane) => send(server.pool, payload(lane, size)),
      ),
  };
}

/** `chunks`: how many each operation sends. */
export async function counted(count, loop, op, chunks = 1) {
  const { ops, seconds } = await clientLoop({ ...loop, op });
  count(ops * chunks);
  return { ops: ops * chunks, seconds };
}

export async function sendTus(pool, { bytes }) {
  const base = { 'tus-resumable': '1.0.0' };
  const made = await pool.request({
    method: 'POST',
    path: '/files',
    headers: { ...base, 'upload-length': String(bytes.length) },
  });
  await made.body.dump();
  const { location } = made.headers;
  const headers = { ...base, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
  const sent = await pool.request({ method: 'PATCH', path: location, headers, body: bytes });
  await sent.body.dump();
  if (sent.statusCode !== 204) throw new Error(`tus answered ${sent.statusCode}`);
}

/** The form of tus with the fewest requests: creation-with-upload. */
export async function sendTusAtOnce(pool, { bytes }) {
  const headers = {
    'tus-resumable': '1.0.0',
    'upload-length': String(bytes.length),
    'content-type': 'application/offset+octet-stream',
  };
  const sent = await pool.request({ method: 'POST', path: '/files', headers, body: bytes });
  await sent.body.dump();
  if (sent.statusCode !== 201 || sent.headers['upload-offset'] !== String(bytes.length))
    throw new Error(`tus answered ${sent.statusCode}, ${sent.headers['upload-offset']} bytes`);
}

export async function sendBare(pool, { bytes, sha256 }) {
  const sent = await pool.request({
    method: 'PUT',
    path: '/',
    headers: { 'content-type': 'application/octet-stream' },
    body: bytes,
  });
  if ((await sent.body.json()).sha256 !== sha256) throw new Error('other bytes arrived');
}

export async function blobBytes(folder) {
  const blobs = await openFolderBlobStore(folder);
  let bytes = 0;
  for await (const key of blobs.list()) bytes += (await blobs.open(key, { end: -1 })).size_bytes;
  await blobs.close();
  // Large chunks have files of their own, and no segment.
  const segments = join(folder, 'segments');
  for (const file of existsSync(segments) ? readdirSync(segments) : []) {
    const segment = await open(join(segments, file));
    await scanSegment(segment.fd, ({ header }) => {
      if (!header.is_erased) bytes += header.size_bytes;
    });
    await segment.close();
  }
  return bytes;
}

/** The sizes of all files in a folder. */
export function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size);
}

export async function streamsOf(app) {
  const streams = [];
  for (let cursor = ''; cursor !== null; ) {
    const page = await app.ask('GET', `/audio/streams?limit=100${cursor}`);
    streams.push(...page.items);
    cursor = page.cursor === null ? null : `&cursor=${page.cursor}`;
  }
  return streams;
}

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
