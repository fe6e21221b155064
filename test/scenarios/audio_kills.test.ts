import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type BindingView, DeviceClient, type IntentView, sha256Of } from '../../kits/typescript/src/device_client.js';
import { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { CBOR_ENCODING } from '../../tools/cbor_encoding.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { ageRecords, segmentsIn } from '../engine/blobs/segments.js';
import { drawSeed } from '../fixtures/seed.js';
import { ARRIVED, audioOf, differences, unclaimed } from '../fixtures/stored_audio.js';

const HOUR_MS = 3_600_000;
const EMAIL = 'audio@x.test';
/** A chunk's status in CBOR, the length before the text. */
const STORED = '\x66stored';

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

type Planned = { bytes: Buffer; sequence: number; source_chunk_ref: string };

type Size = { rounds: number; at_once: number; bytes: number };

scenario<Size>({
  title: 'H-023 a server killed between storing bytes and saying so leaves none that nobody claims',
  smoke: { rounds: 2, at_once: 12, bytes: 100_000 },
  full: { rounds: 40, at_once: 48, bytes: 2_000_000 },
  run: audioKills,
});

/**
 * Uploads chunks to a server that is killed in each round: now as the commit after a rename is under way, now at any
 * moment among many uploads. Some chunks are tried again, some never; after the sweep the equality must hold.
 */
async function audioKills(t: Test, { rounds, at_once, bytes }: Size): Promise<void> {
  const random = new SeededRandom(drawSeed(t));
  const server = await Servers.open(t);
  const blobs = join(server.folder, 'blobs');
  const session = await server.signIn(EMAIL);
  const { device_id: _, ...credentials } = await server.operator.provision('personal');
  const { claim } = await server
    .client(session.access_token)
    .ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
  const device = new DeviceClient(server.device_url, credentials, { encoding: CBOR_ENCODING });
  t.teardown(() => device.close());
  const { binding_epoch } = await device.ask<BindingView>('POST', '/device/claims/redeem', { claim });
  const source_stream_ref = randomUUID();
  await device.ask('POST', '/device/streams', {
    ...{ source_stream_ref, captured_at: '2026-11-01T10:00:00Z', clock_uncertainty_ms: 0, binding_epoch },
  });

  const announced = ({ sequence, source_chunk_ref }: Planned) => ({
    ...{ source_chunk_ref, sequence, codec: 'opus', container: 'ogg' },
    ...{ source_start_ms: sequence, publication_start_ms: sequence, source_end_ms: sequence + 1 },
  });
  const upload = async (planned: Planned) => {
    const { bytes } = planned;
    const { upload_path } = await device.ask<IntentView>('POST', '/device/chunks/intents', {
      ...{ ...announced(planned), source_stream_ref, binding_epoch },
      ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
    await device.upload(upload_path, bytes);
  };
  /** In one request, which is sent twice at once. */
  const send = async (planned: Planned[]) => {
    const chunks = planned.map((one) => ({ ...announced(one), bytes: one.bytes }));
    const ask = () =>
      device.ask<{ items: { status?: string }[] }>('POST', '/device/chunks', {
        ...{ source_stream_ref, binding_epoch, chunks },
      });
    const answers = await Promise.allSettled([ask(), ask()]);
    const answer = answers.find((one) => one.status === 'fulfilled');
    if (answer === undefined) throw new Error('neither request was answered');
    const items = answer.value.items;
    if (!items.every(({ status }) => ARRIVED.has(status ?? ''))) throw new Error(JSON.stringify(items));
  };

  const acknowledged = new Set<string>();
  let orphans_seen = 0;
  let sequence = 0;
  for (let round = 0; round < rounds; round++) {
    const planned = Array.from({ length: at_once }, () => ({
      ...{ bytes: randomBytes(1 + random.below(bytes)), sequence: sequence++ },
      source_chunk_ref: randomUUID(),
    }));
    const is_at_commit = round % 2 === 0;
    // The commit that says so is lost with its server: the bytes lie there, and nobody knows.
    const fault = is_at_commit ? server.loseCommit(1, { what: 'request', text: STORED }) : null;
    const timer = is_at_commit ? undefined : setTimeout(() => server.kill(), random.between(20, 220));
    const [alone, together] = [planned.slice(0, at_once / 2), planned.slice(at_once / 2)];
    const batches = [0, 1, 2].map((first) => together.filter((_, index) => index % 3 === first));
    const results = await Promise.allSettled([
      ...alone.map(async (one) => [await upload(one).then(() => one)]),
      ...batches.map(async (batch) => {
        await send(batch);
        return batch;
      }),
    ]);
    clearTimeout(timer);
    fault?.cancel();
    server.kill();
    for (const result of results)
      if (result.status === 'fulfilled') for (const { bytes } of result.value) acknowledged.add(sha256Of(bytes));

    await server.restart();
    const audio = await audioOf(server.client(session.access_token), blobs);
    orphans_seen += unclaimed(audio).length;
    t.strictSame(differences(audio).missing, [], 'what is marked stored is there');
    // Half of those that failed come again, the others never do.
    const failed = planned.filter(({ bytes }) => !acknowledged.has(sha256Of(bytes)));
    for (const plan of failed.filter(({ sequence }) => sequence % 2 === 0)) {
      await upload(plan);
      acknowledged.add(sha256Of(plan.bytes));
    }
  }

  t.ok(orphans_seen > 0, `${orphans_seen} blobs lay there without a claim`);
  for (const file of filesBelow(blobs)) {
    const then = new Date(Date.now() - 2 * HOUR_MS);
    utimesSync(file, then, then);
  }
  for (const segment of segmentsIn(blobs)) ageRecords(segment, 2 * HOUR_MS);
  // A day until intents without bytes have expired, one until each partition was swept after that.
  for (let days = 0; days < 2; days++) await server.operator.advanceClock(25 * HOUR_MS);
  const { access_token } = await server.signIn(EMAIL);
  const audio = await audioOf(server.client(access_token), blobs);
  t.strictSame(differences(audio), { unclaimed: [], missing: [] }, 'blobs = chunks marked stored');
  const hashes = new Set(audio.stored.map((one) => one.slice(37)));
  t.strictSame(
    [...acknowledged].filter((sha256) => !hashes.has(sha256)),
    [],
    'nothing acknowledged is lost',
  );
  t.ok(acknowledged.size >= rounds, `${acknowledged.size} uploads were acknowledged`);
}
