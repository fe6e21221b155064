import { join } from 'node:path';
import { interleave, rateRow, verify } from '../measure.mjs';
import { temporaryFolder } from '../processes.mjs';
import { registerStream, sendChunks, startSpool } from '../spool_setup.mjs';
import {
  blobBytes,
  counted,
  filesBelow,
  peerVariant,
  sendBare,
  sendTusAtOnce,
  streamsOf,
  sum,
  uploadPeers,
} from '../upload_peers.mjs';

const KIB = 1024;
const IN_FLIGHT = 32;
const IN_FLIGHT_A_DEVICE = 4;

/** Sizes of chunks, and how many are in a request; what each is to reach beside tus unsynced, synced, and a bare PUT. */
const FORMS = [
  {
    size: 16 * KIB,
    batches: [
      { chunks: 16, goals: { tus: 3.5, synced: 5, bare: 1.2 } },
      { chunks: 4, goals: { tus: 2.2, synced: 3, bare: 0.8 } },
      { chunks: 1, goals: { tus: 1, synced: 1.3, bare: 0.35 } },
    ],
  },
  { size: 64 * KIB, batches: [{ chunks: 4, goals: { tus: 2, synced: 3 } }] },
];

export const title = 'chunks with their bytes in one request, beside tus in its single-request form and a bare handler';

export async function run(options) {
  const rows = [];
  for (const form of FORMS) rows.push(...(await formRows(options, form)));
  return rows;
}

async function formRows(options, { size, batches }) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  const loop = { in_flight: IN_FLIGHT, size };
  try {
    const spool = await startSpool(folder);
    stops.push(() => spool.stop());
    const { app } = await spool.signIn('bench@spool.example');
    const devices = [];
    for (let made = 0; made < IN_FLIGHT / IN_FLIGHT_A_DEVICE; made++) {
      const device = await spool.device(app, IN_FLIGHT_A_DEVICE);
      devices.push({ ...device, stream: await registerStream(device) });
    }
    const peer = await uploadPeers(folder, stops, IN_FLIGHT);
    const peers = {
      tus: await peer('tus', { is_synced: false }),
      synced: await peer('tus', { is_synced: true }),
      bare: await peer('bare_upload'),
    };
    let stored = 0;
    const own = batches.map(({ chunks }) => [
      `spool_${chunks}`,
      {
        cpuMs: spool.cpuMs,
        run: (seconds) =>
          counted(
            (ops) => (stored += ops),
            { in_flight: IN_FLIGHT, seconds },
            (lane) => {
              const device = devices[lane % devices.length];
              return sendChunks(device, device.stream, { size, chunks });
            },
            chunks,
          ),
      },
    ]);
    const variants = {
      ...Object.fromEntries(own),
      tus: peerVariant(peers.tus, sendTusAtOnce, loop),
      synced: peerVariant(peers.synced, sendTusAtOnce, loop),
      bare: peerVariant(peers.bare, sendBare, loop),
    };
    if (options.profile !== undefined) await spool.program.ask('profile_start');
    const taken = await interleave(variants, options);
    if (options.profile !== undefined)
      await spool.program.ask('profile_stop', { file: join(options.profile, `arrivals_${size / KIB}.cpuprofile`) });

    const streams = await streamsOf(app);
    verify('chunks of Spool', sum(streams.map(({ stored_chunks }) => stored_chunks)), stored);
    verify('blobs of Spool', await blobBytes(join(folder, 'spool', 'blobs')), stored * size);
    for (const { files, sent } of [peers.tus, peers.synced])
      verify('bytes of tus', sum(filesBelow(files).filter((found) => found === size)), sent * size);
    verify('bytes of the bare handler', sum(filesBelow(peers.bare.files)), peers.bare.sent * size);

    return batches.flatMap(({ chunks, goals }) => {
      const work = `chunk of ${size / KIB} KiB with its bytes, durable, ${chunks} a request, ${IN_FLIGHT} in flight`;
      return Object.entries(goals).map(([name, goal]) =>
        rateRow({ work, beside: BESIDE[name], ours: taken[`spool_${chunks}`], peer: taken[name], goal }),
      );
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

const BESIDE = {
  tus: '@tus/server, creation-with-upload, unsynced',
  synced: '@tus/server, creation-with-upload, synced',
  bare: 'bare node:https, one PUT with fsync',
};
