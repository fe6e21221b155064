import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { NO_MODEL } from '../fixtures/speech.js';
import { TestSpool } from '../fixtures/spool.js';
import { TestRecording } from '../fixtures/transcribing.js';

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
