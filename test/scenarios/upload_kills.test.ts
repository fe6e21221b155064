import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type BindingView, DeviceClient, sha256Of } from '../../kits/typescript/src/device_client.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { CBOR_ENCODING } from '../../tools/cbor_encoding.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { drawSeed } from '../fixtures/seed.js';
import { ARRIVED, audioOf } from '../fixtures/stored_audio.js';

const EMAIL = 'uploads@x.test';
const CHUNK_BYTES_MAX = 2_048;
/** Requests of one device that are under way. */
const AT_ONCE = 2;
const NOT_REACHED_PAUSE_MS = 20;
const SHOWN_MAX = 10;

type Size = { chunks: number; devices: number; chunks_per_request: number; kill_after_ms: number };

scenario<Size>({
  title: 'H-023 a server killed again and again under uploads loses no acknowledged chunk',
  smoke: { chunks: 500, devices: 3, chunks_per_request: 8, kill_after_ms: 1_000 },
  full: { chunks: 100_000, devices: 8, chunks_per_request: 16, kill_after_ms: 4_000 },
  run: uploadKills,
});

/**
 * Devices send chunks with their bytes until so many are acknowledged, while the server is killed at random moments. At the
 * end every acknowledged chunk is stored, and its bytes lie in the folder of all audio.
 */
async function uploadKills(t: Test, { chunks, devices, chunks_per_request, kill_after_ms }: Size): Promise<void> {
  const random = new SeededRandom(drawSeed(t));
  const server = await Servers.open(t);
  const { access_token } = await server.signIn(EMAIL);
  /** `stream SHA-256` of acknowledged chunks. */
  const acknowledged = new Set<string>();
  let is_over = false;
  let kills = 0;

  /** A device with a stream, whose requests are sent until they are answered. */
  const sender = async () => {
    const { device_id: _, ...credentials } = await server.operator.provision('personal');
    const device = new DeviceClient(server.device_url, credentials, { encoding: CBOR_ENCODING });
    t.teardown(() => device.close());
    const { claim } = await server.client(access_token).ask<{ claim: string }>('POST', '/devices/claims', {
      kind: 'owner',
    });
    const { binding_epoch } = await device.ask<BindingView>('POST', '/device/claims/redeem', { claim });
    const source_stream_ref = randomUUID();
    const { id: stream_id } = await device.ask<{ id: string }>('POST', '/device/streams', {
      ...{ source_stream_ref, captured_at: '2026-11-01T10:00:00Z', clock_uncertainty_ms: 0, binding_epoch },
    });
    let sequence = 0;
    const send = async () => {
      const sent = Array.from({ length: chunks_per_request }, () => {
        const at = sequence++;
        return {
          ...{ source_chunk_ref: randomUUID(), sequence: at, codec: 'opus', container: 'ogg' },
          ...{ source_start_ms: at, publication_start_ms: at, source_end_ms: at + 1 },
          bytes: randomBytes(1 + random.below(CHUNK_BYTES_MAX)),
        };
      });
      while (!is_over) {
        const body = { source_stream_ref, binding_epoch, chunks: sent };
        const asked = device.ask<{ items: { status?: string }[] }>('POST', '/device/chunks', body);
        const answer = await asked.catch(() => null);
        if (answer === null) {
          await new Promise((resolve) => setTimeout(resolve, NOT_REACHED_PAUSE_MS));
          continue;
        }
        for (const [index, { status = '' }] of answer.items.entries())
          if (ARRIVED.has(status)) acknowledged.add(`${stream_id} ${sha256Of(sent[index]?.bytes ?? new Uint8Array())}`);
        return;
      }
    };
    const sendAll = async () => {
      while (!is_over && (acknowledged.size < chunks || kills === 0)) await send();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendAll));
  };

  const sending = Promise.all(Array.from({ length: devices }, sender));
  const killing = (async () => {
    while (!is_over) {
      const before = acknowledged.size;
      await new Promise((resolve) => setTimeout(resolve, random.between(kill_after_ms / 2, kill_after_ms * 1.5)));
      if (acknowledged.size === before || is_over) continue; // it is still starting, or all is sent
      server.kill();
      kills += 1;
      await server.restart();
    }
  })();
  await sending.finally(() => {
    is_over = true;
  });
  await killing;

  const app = server.client((await server.signIn(EMAIL)).access_token);
  const { stored, lying } = await audioOf(app, join(server.folder, 'blobs'));
  const known = { stored: new Set(stored), lying: new Set(lying) };
  const missing = (from: ReadonlySet<string>) => [...acknowledged].filter((one) => !from.has(one)).slice(0, SHOWN_MAX);
  t.strictSame(missing(known.stored), [], 'every acknowledged chunk is stored');
  t.strictSame(missing(known.lying), [], 'its bytes lie there');
  t.ok(kills > 0 && acknowledged.size >= chunks, `${acknowledged.size} chunks were acknowledged, ${kills} kills`);
  t.comment(`${acknowledged.size} acknowledged, ${stored.length} stored, ${lying.length} lie there, ${kills} kills`);
}
