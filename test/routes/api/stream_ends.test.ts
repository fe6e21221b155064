import t from 'tap';
import type { Stream } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { TestRecording } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const endOf = async ({ id }: TestRecording) => (await ann.ask<Stream>('GET', `/audio/streams/${id}`)).end_ms;

t.test('K-254 a stream ends after a while unless it goes on', async (t) => {
  const [left, continued] = [await TestRecording.begin(ann), await TestRecording.begin(ann)];
  for (const recording of [left, continued]) {
    await recording.add(1_000);
    const body = { end_ms: 1_000, unless_continued_s: 120 };
    const answer = await ann.ask<Stream>('POST', `/audio/streams/${recording.id}/end`, body);
    t.equal(answer.end_ms, undefined);
  }
  await continued.add(1_000);
  await spool.operator.advanceClock(119_000);
  t.equal(await endOf(left), undefined);
  await spool.operator.advanceClock(1_500);
  await until('the one that was left has an end', async () => (await endOf(left)) === 1_000);
  t.equal(await endOf(continued), undefined);
  await continued.end();
  t.equal(await endOf(continued), 2_000);
});

t.test('K-254 how long it waits is refused where it is none', async (t) => {
  const { id } = await TestRecording.begin(ann);
  for (const unless_continued_s of [0, 601, 1.5, '60'])
    t.equal(
      await ann.says('POST', `/audio/streams/${id}/end`, { end_ms: 0, unless_continued_s }),
      '400 BAD_REQUEST',
      String(unless_continued_s),
    );
});
