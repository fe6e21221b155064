import type { Test } from 'tap';
import type { Import, Stream, Turn } from '../../kits/typescript/src/api.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type Kills, killWithin } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { allOf } from '../fixtures/colleagues.js';
import { announceFile, sendFile } from '../fixtures/importing.js';

const EMAIL = 'transcripts@x.test';
const MINUTES = 60;
const NAME = { name: 'talk.vtt', captured_at: '2026-01-31T08:30:00.000Z' };

type Step = { ask: () => Promise<unknown>; bytes: Buffer; says: string[] };

scenario<Kills>({
  title: 'a transcript whose server was killed after any commit of its import is one recording, with each turn once',
  smoke: { steps: 1, points: 2 },
  full: { steps: Infinity, points: Infinity },
  run: transcriptImportKills,
});

async function transcriptImportKills(t: Test, kills: Kills): Promise<void> {
  const server = await Servers.open(t, { env: { CHUNK_WORKER: '0' } });
  let app = server.client((await server.signIn(EMAIL)).access_token);
  const importer = () => ({ app, base_url: server.base_url });
  const send = async (bytes: Buffer) => sendFile(importer(), await announceFile(importer(), bytes, NAME), bytes);
  let recordings = 0;

  const prepare = async (): Promise<Step> => {
    const says = Array.from({ length: MINUTES }, (_, minute) => `Talk ${recordings} comes to minute ${minute}.`);
    const bytes = Buffer.from(`WEBVTT\n\n${says.map(cueOf).join('\n')}`);
    const ask = async () => {
      const sent = await send(bytes);
      await server.operator.advanceClock(0); // until it is a recording
      return sent;
    };
    return { ask, bytes, says };
  };

  await killWithin<Step>(
    t,
    server,
    { steps: { import: prepare }, kinds: [['import']], kills },
    async ({ nth, step: { bytes, says } }, t) => {
      app = server.client(app.access_token);
      const { id } = await send(bytes);
      await server.operator.advanceClock(LIMITS.import_lease_ms + 1_000);
      await server.operator.advanceClock(0);
      const done = await app.ask<Import>('GET', `/audio/imports/${id}`);
      t.match(done, { status: 'done' }, `after commit ${nth}`);
      recordings += 1;
      t.equal((await allOf<Stream>(app, '/audio/streams')).length, recordings, 'one recording');
      const turns = await allOf<Turn>(app, '/turns', `stream_id=${done.stream_id}`);
      t.same(
        turns.map(({ text }) => text),
        says,
        'each turn once',
      );
      const { items } = await app.ask<{ items: { name: string }[] }>('GET', '/contacts');
      t.equal(items.filter(({ name }) => name === 'Mira').length, 1, 'one contact');
    },
  );
}

function cueOf(text: string, minute: number): string {
  const at = (second: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:0${second}.000`;
  return `${at(1)} --> ${at(4)}\n<v Mira>${text}\n`;
}
