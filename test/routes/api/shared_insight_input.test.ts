import t from 'tap';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

const CAPTURED_AT = '2026-11-01T10:00:00.000Z';

type Work = { stream_id: string; profile: { vocabulary: string[] } };

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const worker = new TestTranscriber(spool);

/** An account that says something of itself wherever it can. */
const ann = await TestAccount.open(spool, 'ann@x.test');
await ann.ask('PUT', '/profile', { revision: 0, about: 'Privatemark', languages: ['en'], vocabulary: ['Zoë'] });
await ann.ask('POST', '/profile/context', { text: 'Contextmark' });
const [pipeline] = (await ann.ask<{ items: { id: string }[] }>('GET', '/pipelines')).items;
await ann.ask('PATCH', `/pipelines/${pipeline?.id}`, { insights: { instructions: 'Instructionmark' } });

/** What a worker gets of a conversation of that recording. */
async function inputOf(recording: TestRecording): Promise<string> {
  await recording.add(20_000);
  await recording.end();
  const texts = ['I will call Zoe tomorrow.', 'And I will bake fresh bread.', 'Bob lives in Graz.'];
  const turns = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], 'A'));
  await worker.publish(await worker.claim(recording.id), turns);
  let work: Work | undefined;
  await until('a conversation is due', async () => {
    await spool.operator.advanceClock(11_000);
    const asked = { kinds: ['insights'], limit: 20, lease_s: 60 };
    const { items } = await spool.operator.ask<{ items: Work[] }>('POST', '/ops/jobs/claim', asked);
    work = items.find(({ stream_id }) => stream_id === recording.id);
    return work !== undefined;
  });
  t.same(work?.profile.vocabulary, ['Zoë']);
  return JSON.stringify(work);
}

t.test('K-122 engines get all that an account tells them for its private recordings', async (t) => {
  const input = await inputOf(await TestRecording.begin(ann, { captured_at: CAPTURED_AT }));
  for (const mark of ['Privatemark', 'Contextmark', 'Instructionmark']) t.match(input, mark);
});

t.test('K-122 engines get vocabulary and languages alone for recordings in a shared workspace', async (t) => {
  const { id: workspace_id } = await ann.workspace('Shared');
  const { id: source_id } = await ann.ask<{ id: string }>('POST', '/sources', { name: 'Desk' });
  const input = await inputOf(
    await TestRecording.inWorkspace(ann, { workspace_id, source_id, captured_at: CAPTURED_AT }),
  );
  for (const mark of ['Privatemark', 'Contextmark', 'Instructionmark']) t.notMatch(input, mark);
});
