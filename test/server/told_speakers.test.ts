import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BUILT_IN_MODEL } from '../../src/engine/speech/speech_model.js';
import { TestAccount } from '../fixtures/account.js';
import { importFile } from '../fixtures/importing.js';
import { audioFixture, NO_MODEL } from '../fixtures/speech.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { TestRecording } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

t.test('K-462 a wrong number, and a server that tells nobody apart', { skip: NO_MODEL }, async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: '1' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const recording = await TestRecording.begin(ann);
  await recording.add(1_000);
  await recording.end();
  const body = { stream_id: recording.id, count: 2 };
  for (const count of [1, 4, 2.5, '2'])
    t.equal(await ann.says('POST', '/turns/speakers', { ...body, count }), '400 BAD_REQUEST', `${count}`);
  t.equal(await ann.says('POST', '/turns/speakers', body), '409 CONFLICT');
  t.equal(await ann.says('POST', '/turns/speakers/undo', body), '409 CONFLICT');
  t.match(await ann.ask('GET', `/audio/streams/${recording.id}/transcript`), {
    tells_speakers: false,
    told_speakers: null,
  });
});

t.test(
  'K-463 models for speakers that cannot be loaded: it fails with a reason, and may be asked for again',
  { skip: NO_MODEL },
  async (t) => {
    const folder = tempFolder(t);
    for (const name of readdirSync(BUILT_IN_MODEL)) symlinkSync(join(BUILT_IN_MODEL, name), join(folder, name));
    for (const name of ['segmentation.onnx', 'speaker.onnx']) writeFileSync(join(folder, name), 'no model');
    const spool = await TestSpool.start({
      ...{ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_BUILT_IN: '1', TRANSCRIBE_MODEL_DIR: folder },
    });
    t.teardown(() => spool.end());
    const ann = await TestAccount.open(spool, 'ann@x.test');
    // A transcript beside the audio: no engine is asked for its text.
    const words = 'WEBVTT\n\n00:00.100 --> 00:05.000\nThe xylophone is in the cellar.\n';
    const file = Buffer.concat([audioFixture('said.m4a'), Buffer.from(words)]);
    const importer = { app: ann.app, base_url: spool.server.base_url };
    const { stream_id } = await importFile(importer, file, { transcript_bytes: Buffer.byteLength(words) });
    const body = { stream_id, count: 2 };
    const tell = () => ann.ask<{ state: string }>('POST', '/turns/speakers', body);
    const told = async () => {
      const path = `/audio/streams/${stream_id}/transcript`;
      return (await ann.ask<{ told_speakers: { state: string; code: string | null } | null }>('GET', path))
        .told_speakers;
    };
    t.match(await tell(), { state: 'under_way' });
    t.match(await tell(), { state: 'under_way' }, 'the same again');
    await until('all tries are over', async () => {
      await spool.operator.advanceClock(30_000);
      return (await told())?.state === 'failed';
    });
    t.match(await told(), { state: 'failed', code: /^[A-Z_]+$/ });
    t.match(await tell(), { state: 'under_way' }, 'once more');
    t.not((await ann.ask<{ state: string }>('POST', '/turns/speakers/undo', { stream_id })).state, 'done');
  },
);
