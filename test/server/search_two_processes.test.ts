import t from 'tap';
import type { SearchHit, Turn } from '../../kits/typescript/src/api.js';
import { Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import type { AppClient } from '../fixtures/app_client.js';
import { type Recorder, said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';

t.test('K-105 what one process publishes, changes and deletes, another finds so in its next search', async (t) => {
  const servers = await Servers.open(t, {
    count: 2,
    storage: 'beside',
    env: { CHUNK_WORKER: '1', CONTENT_WORKER: '0' },
  });
  const [one, two] = servers.all as [SpoolProcess, SpoolProcess];
  const { operator } = servers;
  const { access_token } = await servers.signIn('ann@x.test');
  const [app, there] = [one.client(access_token), two.client(access_token)];
  const ann: Recorder = {
    ...{ app, spool: { base_url: one.base_url } },
    ask: <T>(method: string, path: string, body?: unknown) => app.ask<T>(method, path, body),
  };
  const found = async (q: string, at: AppClient) => {
    const { items } = await at.ask<{ items: SearchHit[] }>('GET', `/search?q=${encodeURIComponent(q)}`);
    return items.map(({ snippet }) => snippet.text);
  };
  const both = async (q: string) => [await found(q, there), await found(q, app)];
  const worker = new TestTranscriber({ operator });
  const publish = async (...texts: string[]) => {
    const recording = await TestRecording.begin(ann);
    await recording.add(20_000);
    await recording.end();
    const turns = texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], 'A'));
    await worker.publish(await worker.claim(recording.id), turns);
    return recording;
  };

  t.same(await both('heron'), [[], []], 'both know the library as it is');
  const recording = await publish('A heron flew by.', 'Nobody saw it.');
  t.same(await both('heron'), [['A heron flew by.'], ['A heron flew by.']]);
  const [turn] = (await recording.turns()) as [Turn];
  await there.ask('POST', `/turns/${turn.id}/split`, { at_ms: 2_000 });
  t.same(await both('heron'), [['A heron'], ['A heron']], 'split at the other');
  await app.ask('DELETE', `/turns/${turn.id}`);
  t.same(await both('heron'), [[], []]);
  for (let round = 0; round < 5; round++) {
    const made = await publish(`Round number${round} begins.`);
    t.same((await found(`number${round}`, there)).length, 1);
    await app.ask('DELETE', round % 2 === 0 ? `/audio/streams/${made.id}` : `/sources/${made.source_id}`);
    t.same(await found(`number${round}`, there), [], `round ${round}`);
  }

  await publish('The crane was published last.');
  await one.kill();
  t.same(await found('crane', there), ['The crane was published last.'], 'the process that published it is dead');
  const three = await servers.add();
  t.same(
    await found('crane', three.client(access_token)),
    ['The crane was published last.'],
    'and one that begins anew',
  );
});
