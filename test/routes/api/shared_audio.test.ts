import t from 'tap';
import { TestAccount } from '../../fixtures/account.js';
import { silentFlac } from '../../fixtures/flac_file.js';
import { announceFile, sendFile } from '../../fixtures/importing.js';
import { TestSpool } from '../../fixtures/spool.js';
import { TestRecording } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';
import { counting, wav16 } from '../../fixtures/window.js';

const LONG_MS = 6 * 3_600_000 - 1_000;
const FLAC = { codec: 'flac', container: 'flac' };

/** Files that take long to decode and are small. */
const long = { ...FLAC, bytes: silentFlac({ seconds: LONG_MS / 1_000, rate: 48_000, block: 4_608 }) };
const short = { ...FLAC, bytes: silentFlac({ seconds: 1 }) };

t.test('K-256 long audio of one account', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const [ann, eve] = await Promise.all([TestAccount.open(spool, 'ann@x.test'), TestAccount.open(spool, 'eve@x.test')]);
  const { decoders, joined_files } = spool.server.services;
  const play = (account: TestAccount, id: string, signal?: AbortSignal) =>
    fetch(`${spool.base_url}/audio/streams/${id}/content`, {
      headers: { Authorization: `Bearer ${account.app.access_token}` },
      ...(signal !== undefined && { signal }),
    });

  await t.test('keeps nobody else from playing, and its decoding ends with its client', async (t) => {
    const theirs: TestRecording[] = [];
    for (let n = 0; n < 4; n++) {
      const recording = await TestRecording.begin(eve);
      await recording.add(LONG_MS, { file: long });
      await recording.add(1_000, { file: short });
      theirs.push(recording);
    }
    const mine = await TestRecording.begin(ann);
    await mine.add(1_000, { file: short });
    await mine.add(1_000);
    const gone = new AbortController();
    const asked = theirs.map(({ id }) => play(eve, id, gone.signal).then((answer) => answer.arrayBuffer()));
    for (const one of asked) one.catch(() => {});
    await until('one is decoded', () => decoders.long.counts.taken === 1);
    t.equal((await play(ann, mine.id)).status, 200);
    gone.abort();
    await until(
      'nothing of it is left',
      () => decoders.long.counts.taken + joined_files.pool.counts.taken + joined_files.pool.counts.waiting === 0,
    );
  });

  await t.test('keeps no short imports of others waiting', async (t) => {
    const announce = async (account: TestAccount, bytes: Buffer) => {
      const imports = { app: account.app, base_url: spool.base_url };
      const announced = await announceFile(imports, bytes);
      await sendFile(imports, announced, bytes);
      return announced.id;
    };
    const other = silentFlac({ seconds: LONG_MS / 1_000 - 1, rate: 48_000, block: 4_608 });
    const theirs = [await announce(eve, long.bytes), await announce(eve, other)];
    const id = await announce(ann, wav16(counting(16_000), 8_000));
    const statusOf = async (account: TestAccount, one: string) =>
      (await account.ask<{ status: string }>('GET', `/audio/imports/${one}`)).status;
    await until('the short one is a recording', async () => (await statusOf(ann, id)) === 'done');
    const left = await Promise.all(theirs.map((one) => statusOf(eve, one)));
    t.notOk(left.includes('failed'), left.join());
  });
});
