import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { blobKey } from '../../src/blobs/blob_keys.js';
import { openFolderBlobStore } from '../../src/blobs/folder_blob_store.js';
import { streamOfChunk } from '../../src/domain/ids.js';
import type { AppClient } from '../../src/tools/client/app_client.js';
import { type BindingView, DeviceClient, type IntentView, sha256Of } from '../../src/tools/client/device_client.js';
import { ageRecords, hashesOf, isSegment } from '../blobs/segments.js';
import { KilledServer } from '../fixtures/kills.js';

const HOUR_MS = 3_600_000;
const EMAIL = 'audio@x.test';
/** A chunk's status in CBOR, the length before the text. */
const STORED = '\x66stored';

/** Of an account: what its chunks say, and what lies in the folder of all audio. */
export type Audio = { stored: Map<string, string>; lying: Map<string, string> };

type Page<Item> = { items: Item[]; cursor: string | null };

/** A chunk's bytes are there from `stored` on; that they are no audio is found out by whoever checks them. */
export const ARRIVED: ReadonlySet<string> = new Set(['stored', 'processing', 'processed', 'failed']);

/** Keys with SHA-256, of chunks marked stored and of blobs. */
export async function audioOf(app: AppClient, blobs: string): Promise<Audio> {
  const stored = new Map<string, string>();
  for (const { id } of await allOf<{ id: string }>(app, '/audio/streams')) {
    const chunks = await allOf<{ id: string; status: string; sha256: string }>(app, `/audio/streams/${id}/chunks`);
    for (const { id: chunk_id, status, sha256 } of chunks) {
      if (ARRIVED.has(status)) stored.set(blobKey(streamOfChunk(chunk_id)?.stream_id as string, chunk_id), sha256);
    }
  }
  const store = await openFolderBlobStore(blobs);
  const lying = await hashesOf(store);
  await store.close();
  return { stored, lying };
}

/** Blobs = chunks marked stored, and each is of its hash: all of these are empty. */
export function differences(audio: Audio): { unclaimed: string[]; missing: string[]; wrong: string[] } {
  const { stored, lying } = audio;
  const missing = [...stored.keys()].filter((key) => !lying.has(key));
  const wrong = [...stored].flatMap(([key, sha256]) => (lying.has(key) && lying.get(key) !== sha256 ? [key] : []));
  return { unclaimed: unclaimed(audio), missing, wrong };
}

export function unclaimed({ stored, lying }: Audio): string[] {
  return [...lying.keys()].filter((key) => !stored.has(key));
}

async function allOf<Item>(app: AppClient, path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page<Item> = await app.ask('GET', `${path}?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
    items.push(...page.items);
    cursor = page.cursor;
  }
  return items;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

type Planned = { bytes: Buffer; sequence: number; source_chunk_ref: string };

/**
 * Uploads chunks to a server that is killed in each round: now as the commit after a rename is under way, now at any
 * moment among many uploads. Some chunks are tried again, some never; after the sweep the equality must hold.
 */
export async function audioCrashes(
  t: Test,
  { rounds, at_once, chunk_bytes_max }: { rounds: number; at_once: number; chunk_bytes_max: number },
): Promise<void> {
  const server = await KilledServer.open(t);
  const blobs = join(server.folder, 'blobs');
  const session = await server.signIn(EMAIL);
  const { device_id: _, ...credentials } = await server.operator.provision('personal');
  const { claim } = await server
    .client(session.access_token)
    .ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
  let device = new DeviceClient(server.device_url, credentials);
  server.onEnded = () => device.close();
  const { binding_epoch } = await device.ask<BindingView>('POST', '/device/claims/redeem', { claim });
  const source_stream_ref = randomUUID();
  await device.ask('POST', '/device/streams', {
    ...{ source_stream_ref, captured_at: '2026-11-01T10:00:00Z', clock_uncertainty_ms: 0, binding_epoch },
  });

  const upload = async ({ bytes, sequence, source_chunk_ref }: Planned) => {
    const { upload_path } = await device.ask<IntentView>('POST', '/device/chunks/intents', {
      ...{ source_chunk_ref, source_stream_ref, binding_epoch, sequence },
      ...{ source_start_ms: sequence, publication_start_ms: sequence, source_end_ms: sequence + 1 },
      ...{ codec: 'opus', container: 'ogg', size_bytes: bytes.length, sha256: sha256Of(bytes) },
    });
    await device.upload(upload_path, bytes);
  };

  const { proxy } = server;
  const acknowledged = new Set<string>();
  let orphans_seen = 0;
  let sequence = 0;
  for (let round = 0; round < rounds; round++) {
    const planned = Array.from({ length: at_once }, () => ({
      ...{ bytes: randomBytes(1 + Math.floor(Math.random() * chunk_bytes_max)), sequence: sequence++ },
      source_chunk_ref: randomUUID(),
    }));
    const kill = () => server.kill();
    const is_at_commit = round % 2 === 0;
    if (is_at_commit) {
      proxy.onLost = kill;
      // The commit that says so is lost with its server: the bytes lie there, and nobody knows.
      proxy.dropRequest(STORED);
    }
    const timer = is_at_commit ? undefined : setTimeout(kill, 20 + Math.random() * 200);
    const results = await Promise.allSettled(planned.map(upload));
    clearTimeout(timer);
    proxy.loseNothing();
    proxy.onLost = () => {};
    kill();
    results.forEach(({ status }, at) => {
      if (status === 'fulfilled') acknowledged.add(sha256Of((planned[at] as Planned).bytes));
    });

    await server.restart();
    device = new DeviceClient(server.device_url, credentials);
    const audio = await audioOf(server.client(session.access_token), blobs);
    orphans_seen += unclaimed(audio).length;
    t.strictSame(differences(audio).missing, [], 'what is marked stored is there');
    t.strictSame(differences(audio).wrong, [], 'with its hash');
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
    if (isSegment(file)) ageRecords(file, 2 * HOUR_MS);
    utimesSync(file, then, then);
  }
  // A day until intents without bytes have expired, one until each partition was swept after that.
  for (let days = 0; days < 2; days++) await server.operator.advanceClock(25 * HOUR_MS);
  const { access_token } = await server.signIn(EMAIL);
  const audio = await audioOf(server.client(access_token), blobs);
  t.strictSame(differences(audio), { unclaimed: [], missing: [], wrong: [] }, 'blobs = chunks marked stored');
  const hashes = new Set(audio.stored.values());
  t.strictSame(
    [...acknowledged].filter((sha256) => !hashes.has(sha256)),
    [],
    'nothing acknowledged is lost',
  );
  t.ok(acknowledged.size >= rounds, `${acknowledged.size} uploads were acknowledged`);
}
