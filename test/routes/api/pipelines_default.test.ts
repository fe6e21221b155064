import t from 'tap';
import type { Conversation, DebugRun, Memory, Pipeline, Suggestion, Turn } from '../../../kits/typescript/src/api.js';
import { defaultPipelineId } from '../../../src/domain/ids.js';
import { TestAccount } from '../../fixtures/account.js';
import { makeInsights } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

t.test('K-114 what the default pipeline makes tells which one that was', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  await ann.entitle('developer.tools', true);
  const worker = new TestTranscriber(spool);
  const first = defaultPipelineId(ann.id);

  const recorded = async (liked: string) => {
    const recording = await TestRecording.begin(ann);
    await recording.add(20_000);
    await recording.end();
    const work = await worker.claim(recording.id);
    const { pipeline_id } = (await runsOf(recording))[0] as DebugRun;
    await worker.publish(work, [said('I will send it to you.', [500, 2_000])]);
    await makeInsights(ann, recording, {
      suggestions: [{ text: 'Send it.' }],
      memories: [{ text: `Bob likes ${liked}.` }],
    });
    await ann.ask('POST', '/memories', { text: 'By hand.', kind: 'fact' });
    return { recording, pipeline_id, wanted: work.pipeline };
  };
  const runsOf = async ({ id }: TestRecording) =>
    (await ann.ask<{ items: DebugRun[] }>('GET', `/debug/streams/${id}/runs`)).items;
  const itemsOf = async <Item>(kind: string, query = '') =>
    (await ann.ask<{ items: Item[] }>('GET', `/${kind}?limit=100${query}`)).items;
  const made = async (query = '') => ({
    suggestions: (await itemsOf<Suggestion>('suggestions', query)).map(({ pipeline_id }) => pipeline_id),
    conversations: (await itemsOf<Conversation>('conversations', query)).map(({ pipeline_id }) => pipeline_id),
    memories: (await itemsOf<Memory>('memories', query)).map(({ pipeline_id }) => pipeline_id),
  });
  const suggested = async () => {
    const { items } = await ann.ask<{ items: { data: { pipeline_id?: string } }[] }>(
      ...(['GET', '/events?type=suggestion.created&limit=100'] as const),
    );
    return items.map(({ data }) => data.pipeline_id);
  };

  const before = await recorded('tea');
  const own = await ann.ask<Pipeline>('POST', '/pipelines', {
    // Workers outside know engines that nobody here does.
    ...{ name: 'Notes', transcription: { engine: 'precise', diarize: true }, insights: { engine: 'large' } },
  });
  await ann.ask('PATCH', `/pipelines/${own.id}`, { default: true });
  const after = await recorded('walks');
  t.same(before.wanted, { id: first, engine: 'default', diarize: false });
  t.same(after.wanted, { id: own.id, engine: 'precise', diarize: true });
  t.same([before.pipeline_id, after.pipeline_id], [first, own.id], 'while a worker has it');
  for (const [recording, pipeline_id] of [
    [before.recording, first],
    [after.recording, own.id],
  ] as const) {
    const turns: Turn[] = await recording.turns();
    t.same([turns.length, turns[0]?.pipeline_id], [1, pipeline_id]);
    const read = await ann.ask<Turn>('GET', `/turns/${turns[0]?.id}`);
    t.equal(read.pipeline_id, pipeline_id);
    t.same(
      (await runsOf(recording)).map((run) => `${run.kind} ${run.pipeline_id}`),
      [`insights ${pipeline_id}`, `transcribe ${pipeline_id}`],
    );
  }
  // The newest change comes first.
  const all = {
    suggestions: [own.id, first],
    conversations: [own.id, first],
    memories: [own.id, own.id, first, first],
  };
  t.same(await made(), all);
  t.same(await made(`&pipeline_id=${own.id}`), all, 'it is the default');
  t.same(await made(`&pipeline_id=${first}`), { suggestions: [], conversations: [], memories: [] }, 'its own output');
  t.same(await suggested(), [own.id, first]);
  await ann.ask('PATCH', `/pipelines/${first}`, { default: true });
  t.same(await made(), all, 'what was made stays what it is');
  const [newest] = await itemsOf<Suggestion>('suggestions');
  await ann.newEvents();
  await ann.ask('PATCH', `/suggestions/${newest?.id}`, { state_version: newest?.state_version, text: 'Send it soon.' });
  const [event] = await ann.newEvents();
  t.match(event, new RegExp(`^suggestion.updated ${newest?.id} .*${own.id}`));
});
