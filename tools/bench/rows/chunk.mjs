import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openFolderBlobStore } from '../../../dist/src/engine/blobs/folder_blob_store.js';
import { closedLoop, interleave, rateRow, verify } from '../measure.mjs';
import { cpuMs, startProgram, temporaryFolder } from '../processes.mjs';
import { payload, peerTls, registerStream, sendChunk, startSpool, tlsPool } from '../spool_setup.mjs';

/** A device has few uploads under way, so many in flight are many devices. */
const IN_FLIGHT_A_DEVICE = 4;

const KIB = 1024;
/** Bytes of a chunk, and how many are under way: 16 KiB are four seconds of speech, 1 MiB four minutes. */
const FORMS = [16 * KIB, 64 * KIB, 1024 * KIB].flatMap((size) => [32, 256].map((in_flight) => [size, in_flight]));

/** Small ones are mostly requests, of which there are two on both sides; a later Node handles those of peers faster. */
const GOAL_UNSYNCED_SMALL = Number.parseInt(process.versions.node, 10) >= 24 ? 2.2 : 2.5;
const GOAL_UNSYNCED = 3;
const GOAL_SYNCED = 4;
const GOAL_BARE = 0.6;

export const title = 'chunks over mutual TLS beside tus and beside a bare handler';

export async function run(options) {
  const rows = [];
  for (const [size, in_flight] of FORMS) rows.push(...(await chunkRows(options, { size, in_flight })));
  return rows;
}

async function chunkRows(options, { size, in_flight }) {
  const unsynced = size <= 16 * KIB ? GOAL_UNSYNCED_SMALL : GOAL_UNSYNCED;
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder);
    stops.push(() => spool.stop());
    const { app } = await spool.signIn('bench@spool.example');
    const devices = [];
    for (let made = 0; made < in_flight / IN_FLIGHT_A_DEVICE; made++) {
      const device = await spool.device(app, IN_FLIGHT_A_DEVICE);
      devices.push({ ...device, stream: await registerStream(device) });
    }
    const tls = await peerTls(folder);
    const peer = async (name, more = {}) => {
      const files = mkdtempSync(join(folder, name));
      const program = await startProgram(name, { folder: files, tls: tls.server, ...more });
      const pool = tlsPool(`https://localhost:${program.ready.port}`, tls.client, in_flight);
      stops.push(
        () => program.stop(),
        () => pool.destroy(),
      );
      return { program, pool, files, sent: 0 };
    };
    const tus = await peer('tus', { is_synced: false });
    const synced = await peer('tus', { is_synced: true });
    const bare = await peer('bare_upload');

    let stored = 0;
    const tusVariant = (server) => ({
      cpuMs: () => cpuMs([server.program.pid]),
      run: (seconds) =>
        counted(
          (ops) => (server.sent += ops),
          { in_flight, seconds },
          (lane) => sendTus(server.pool, payload(lane, size)),
        ),
    });
    const variants = {
      spool: {
        cpuMs: spool.cpuMs,
        run: (seconds) =>
          counted(
            (ops) => (stored += ops),
            { in_flight, seconds },
            (lane) => {
              const device = devices[lane % devices.length];
              return sendChunk(device, device.stream, size);
            },
          ),
      },
      tus: tusVariant(tus),
      synced: tusVariant(synced),
      bare: {
        cpuMs: () => cpuMs([bare.program.pid]),
        run: (seconds) =>
          counted(
            (ops) => (bare.sent += ops),
            { in_flight, seconds },
            (lane) => sendBare(bare.pool, payload(lane, size)),
          ),
      },
    };
    if (options.profile !== undefined) await spool.program.ask('profile_start');
    const taken = await interleave(variants, options);
    if (options.profile !== undefined)
      await spool.program.ask('profile_stop', {
        file: join(options.profile, `chunk_${size / KIB}_${in_flight}.cpuprofile`),
      });

    const streams = [];
    for (let cursor = ''; cursor !== null; ) {
      const page = await app.ask('GET', `/audio/streams?limit=100${cursor}`);
      streams.push(...page.items);
      cursor = page.cursor === null ? null : `&cursor=${page.cursor}`;
    }
    verify('chunks of Spool', sum(streams.map(({ stored_chunks }) => stored_chunks)), stored);
    verify('blobs of Spool', await blobBytes(join(folder, 'spool', 'blobs')), stored * size);
    for (const { files, sent } of [tus, synced])
      verify('bytes of tus', sum(filesBelow(files).filter((found) => found === size)), sent * size);
    verify('bytes of the bare handler', sum(filesBelow(bare.files)), bare.sent * size);

    const work = `chunk of ${size / KIB} KiB, durable, ${in_flight} in flight`;
    return [
      rateRow({ work, beside: '@tus/server, unsynced', ours: taken.spool, peer: taken.tus, goal: unsynced }),
      rateRow({ work, beside: '@tus/server, synced', ours: taken.spool, peer: taken.synced, goal: GOAL_SYNCED }),
      rateRow({ work, beside: 'bare node:https, one PUT', ours: taken.spool, peer: taken.bare, goal: GOAL_BARE }),
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function counted(count, loop, op) {
  const done = await closedLoop({ ...loop, op });
  count(done.ops);
  return done;
}

async function sendTus(pool, { bytes }) {
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

async function sendBare(pool, { bytes, sha256 }) {
  const sent = await pool.request({
    method: 'PUT',
    path: '/',
    headers: { 'content-type': 'application/octet-stream' },
    body: bytes,
  });
  if ((await sent.body.json()).sha256 !== sha256) throw new Error('other bytes arrived');
}

async function blobBytes(folder) {
  const blobs = await openFolderBlobStore(folder);
  let bytes = 0;
  for await (const key of blobs.list()) {
    const { stream } = await blobs.open(key);
    for await (const part of stream) bytes += part.length;
  }
  await blobs.close();
  return bytes;
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size);
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
