import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Import, Stream } from '../../kits/typescript/src/api.js';
import { LIMITS } from '../../src/domain/limits.js';
import { pcm16Format, writeWav } from '../../src/engine/audio/wav.js';
import { type Kills, killWithin } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { allOf } from '../fixtures/colleagues.js';
import { announceFile, sendFile } from '../fixtures/importing.js';
import { audioOf, differences } from '../fixtures/stored_audio.js';

const EMAIL = 'imports@x.test';

type Step = { ask: () => Promise<unknown>; bytes: Buffer };

scenario<Kills>({
  title:
    'K-152 an import whose server was killed after any of its commits becomes one recording, and no bytes are left',
  smoke: { steps: 1, points: 2 },
  full: { steps: Infinity, points: Infinity },
  run: importKills,
});

async function importKills(t: Test, kills: Kills): Promise<void> {
  const server = await Servers.open(t, { env: { CHUNK_WORKER: '0' } });
  let app = server.client((await server.signIn(EMAIL)).access_token);
  const importer = () => ({ app, base_url: server.base_url });
  const streams = () => allOf<Stream>(app, '/audio/streams');
  let recordings = 0;

  const prepare = async (): Promise<Step> => {
    const samples = Buffer.alloc(LIMITS.import_piece_bytes + 4_000);
    randomBytes(64).copy(samples);
    const bytes = writeWav({ fmt: pcm16Format({ channels: 1, frames_per_second: 16_000 }) }, samples);
    const ask = async () => {
      const sent = await sendFile(importer(), await announceFile(importer(), bytes), bytes);
      await server.operator.advanceClock(0); // until it is a recording
      return sent;
    };
    return { ask, bytes };
  };

  await killWithin<Step>(
    t,
    server,
    { steps: { import: prepare }, kinds: [['import']], kills },
    async ({ nth, step: { bytes } }, t) => {
      app = server.client(app.access_token);
      const { id } = await sendFile(importer(), await announceFile(importer(), bytes), bytes);
      await server.operator.advanceClock(LIMITS.import_lease_ms + 1_000);
      await server.operator.advanceClock(0);
      const done = await app.ask<Import>('GET', `/audio/imports/${id}`);
      t.match(done, { status: 'done' }, `after commit ${nth}`);
      recordings += 1;
      const found = await streams();
      t.equal(found.length, recordings, 'one recording');
      t.match(
        found.find((stream) => stream.id === done.stream_id),
        { chunks: 1, stored_chunks: 1 },
      );
      const audio = await app.send('GET', `/audio/streams/${done.stream_id}/content`);
      t.ok(audio.body.equals(bytes), 'all of it');
      await server.operator.advanceClock(0);
      t.same(differences(await audioOf(app, join(server.folder, 'blobs'))), { unclaimed: [], missing: [] });
    },
  );
}
