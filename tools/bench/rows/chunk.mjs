import { join } from 'node:path';
import { interleave, rateRow, verify } from '../measure.mjs';
import { temporaryFolder } from '../processes.mjs';
import { registerStream, sendChunk, startSpool } from '../spool_setup.mjs';
import {
  blobBytes,
  counted,
  filesBelow,
  peerVariant,
  sendBare,
  sendTus,
  streamsOf,
  sum,
  uploadPeers,
} from '../upload_peers.mjs';

/** A device has few uploads under way, so many in flight are many devices. */
const IN_FLIGHT_A_DEVICE = 4;

const KIB = 1024;
/** Bytes of a chunk, and how many are under way: 16 KiB are four seconds of speech, 1 MiB four minutes. */
const FORMS = [16 * KIB, 64 * KIB, 1024 * KIB].flatMap((size) => [32, 256].map((in_flight) => [size, in_flight]));

/** The goals of an intent with its upload, beside two requests of tus and beside one bare PUT, by the size of chunks. */
const GOALS = { small: { unsynced: 1.2, synced: 1.8, bare: 0.6 }, large: { unsynced: 1, synced: 1.4, bare: 0.6 } };

export const title = 'chunks over mutual TLS beside tus and beside a bare handler';

export async function run(options) {
  const rows = [];
  for (const [size, in_flight] of FORMS) rows.push(...(await chunkRows(options, { size, in_flight })));
  return rows;
}

async function chunkRows(options, { size, in_flight }) {
  const goals = size < 1024 * KIB ? GOALS.small : GOALS.large;
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
    const peer = await uploadPeers(folder, stops, in_flight);
    const tus = await peer('tus', { is_synced: false });
    const synced = await peer('tus', { is_synced: true });
    const bare = await peer('bare_upload');

    let stored = 0;
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
      tus: peerVariant(tus, sendTus, { in_flight, size }),
      synced: peerVariant(synced, sendTus, { in_flight, size }),
      bare: peerVariant(bare, sendBare, { in_flight, size }),
    };
    if (options.profile !== undefined) await spool.program.ask('profile_start');
    const taken = await interleave(variants, options);
    if (options.profile !== undefined)
      await spool.program.ask('profile_stop', {
        file: join(options.profile, `chunk_${size / KIB}_${in_flight}.cpuprofile`),
      });

    const streams = await streamsOf(app);
    verify('chunks of Spool', sum(streams.map(({ stored_chunks }) => stored_chunks)), stored);
    verify('blobs of Spool', await blobBytes(join(folder, 'spool', 'blobs')), stored * size);
    for (const { files, sent } of [tus, synced])
      verify('bytes of tus', sum(filesBelow(files).filter((found) => found === size)), sent * size);
    verify('bytes of the bare handler', sum(filesBelow(bare.files)), bare.sent * size);

    const work = `chunk of ${size / KIB} KiB, durable, ${in_flight} in flight`;
    return [
      rateRow({ work, beside: '@tus/server, unsynced', ours: taken.spool, peer: taken.tus, goal: goals.unsynced }),
      rateRow({ work, beside: '@tus/server, synced', ours: taken.spool, peer: taken.synced, goal: goals.synced }),
      rateRow({ work, beside: 'bare node:https, one PUT', ours: taken.spool, peer: taken.bare, goal: goals.bare }),
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
