import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Export } from '../../kits/typescript/src/api.js';
import { LIMITS } from '../../src/domain/limits.js';
import { openFolderBlobStore } from '../../src/engine/blobs/folder_blob_store.js';
import { type Kills, killWithin } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { addFile } from '../fixtures/files.js';
import { manifestFaults, unzip } from '../fixtures/zip.js';

const DAY_MS = 24 * 3_600_000;
const EMAIL = 'exported@x.test';

type Step = { ask: () => Promise<unknown>; known: Set<string> };

scenario<Kills & { rounds: number }>({
  title: 'K-132 an export whose server was killed after any of its commits is made by the next, and no bytes are left',
  smoke: { steps: 1, points: 2, rounds: 1 },
  full: { steps: Infinity, points: Infinity, rounds: 20 },
  run: exportKills,
});

async function exportKills(t: Test, { rounds, ...kills }: Kills & { rounds: number }): Promise<void> {
  const server = await Servers.open(t, { env: { CHUNK_WORKER: '0' } });
  const signedIn = async () => server.client((await server.signIn(EMAIL)).access_token);
  let app = await signedIn();
  const bytes = randomBytes(LIMITS.export_part_bytes + 1_000);
  const file_id = await addFile({ app, base_url: server.base_url }, 'a.bin', bytes);
  const exports = async () => (await app.ask<{ items: Export[] }>('GET', '/me/exports')).items;

  /** A day on, so that another one may be asked for. */
  const prepare = async (): Promise<Step> => {
    await server.operator.advanceClock(DAY_MS);
    app = await signedIn();
    const known = new Set((await exports()).map(({ id }) => id));
    const ask = async () => {
      const made = await app.ask('POST', '/me/exports', { files: true });
      await server.operator.advanceClock(0); // until it is made
      return made;
    };
    return { ask, known };
  };

  for (let round = 0; round < rounds; round++)
    await killWithin<Step>(
      t,
      server,
      { steps: { export: prepare }, kinds: [['export']], kills },
      async ({ nth, step, answer }, t) => {
        app = server.client(app.access_token);
        await server.operator.advanceClock(LIMITS.export_lease_ms + 1_000);
        await server.operator.advanceClock(0);
        const made = (await exports()).filter(({ id }) => !step.known.has(id));
        // Killed before anything was written, nobody has asked.
        if (made.length === 0) return void t.equal(answer, null, `after commit ${nth}`);
        t.match(made, [{ status: 'ready' }], `after commit ${nth}`);
        const archive = (await app.send('GET', `/me/exports/${made[0]?.id}/content`)).body;
        const files = await unzip(archive);
        t.same(manifestFaults(files), []);
        t.ok(files.get(`files/${file_id}/a.bin`)?.equals(bytes));
        const ready = (await exports()).filter(({ status }) => status === 'ready');
        t.equal(
          await archiveBytes(join(server.folder, 'blobs')),
          ready.reduce((sum, one) => sum + (one.bytes ?? 0), 0),
        );
        for (const { id } of ready) await app.ask('DELETE', `/me/exports/${id}`);
        await server.operator.advanceClock(0);
        t.equal(await archiveBytes(join(server.folder, 'blobs')), 0, 'a deleted one leaves nothing');
      },
    );
}

/** Of all parts of archives that lie in a blob store. */
async function archiveBytes(folder: string): Promise<number> {
  const store = await openFolderBlobStore(folder);
  let sum = 0;
  for await (const key of store.list()) {
    if (!key.includes('/exports-')) continue;
    const blob = await store.open(key);
    sum += blob?.size_bytes ?? 0;
    blob?.stream.destroy();
  }
  await store.close();
  return sum;
}
