import { statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { OperatorClient } from '../../../kits/typescript/src/operator_client.js';
import { ROUTES } from '../../../routes/index.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber, type WorkView } from '../../fixtures/transcribing.js';

const NOBODY = '01890a5d-ac96-774b-bcce-b302099a8057';

t.test('the token of content workers', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const { worker_token, ops_token } = spool.server.services;
  const url = `http://127.0.0.1:${spool.server.ports.operator}`;
  const operator = new OperatorClient(url, worker_token);
  t.teardown(() => operator.close());
  const worker = new TestTranscriber({ operator });
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const recorded = async () => {
    const recording = await TestRecording.begin(ann);
    await recording.add(20_000);
    await recording.end();
    return recording;
  };
  const audioOf = async ({ audio: [chunk] }: WorkView, token = worker_token) => {
    const answer = await fetch(url + chunk?.content_path, { headers: { Authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    return answer.status;
  };

  await t.test('K-138 it opens jobs and the audio of chunks, and nothing else', async (t) => {
    const rows = ROUTES.operator.filter(({ credential }) => credential === 'operator');
    const headers = { Authorization: `Bearer ${worker_token}` };
    for (const { method, path, worker_too } of rows) {
      const answer = await fetch(url + path.replaceAll(/:[a-z_]+/g, NOBODY), { method, headers });
      t.equal(answer.status === 403, worker_too !== true, `${method} ${path}`);
    }
    t.same(
      rows.filter(({ worker_too }) => worker_too).map(({ method, path }) => `${method} ${path}`),
      [
        'GET /ops/chunks/:chunk_id/content',
        'POST /ops/jobs/claim',
        'GET /ops/jobs/:job/audio',
        'POST /ops/jobs/:job/progress',
        'POST /ops/jobs/:job/publish',
        'POST /ops/jobs/:job/failed',
      ],
    );
  });

  await t.test('K-138 a worker claims, fetches audio and publishes with it, and with the operator token', async (t) => {
    const recording = await recorded();
    const work = await worker.claim(recording.id);
    t.same([await audioOf(work), await audioOf(work, ops_token)], [200, 200]);
    const joined = await fetch(url + work.joined_path, { headers: { Authorization: `Bearer ${worker_token}` } });
    t.equal(joined.status, 200);
    await joined.arrayBuffer();
    await worker.publish(work, [said('The boat leaves at nine.', [500, 2_500])]);
    t.match(await recording.turns(), [{ text: 'The boat leaves at nine.' }]);
  });

  await t.test('K-138 audio is closed to it before a claim, and once the claim is over', async (t) => {
    const recording = await recorded();
    const { items } = await ann.ask<{ items: { id: string }[] }>('GET', `/audio/streams/${recording.id}/chunks`);
    const content_path = `/ops/chunks/${items[0]?.id}/content`;
    const unclaimed = { audio: [{ content_path }] } as WorkView;
    t.same([await audioOf(unclaimed), await audioOf(unclaimed, ops_token)], [403, 200], 'before');
    const work = await worker.claim(recording.id, 60);
    t.equal(await audioOf(work), 200);
    await spool.operator.advanceClock(60_000);
    t.equal(await audioOf(work), 403, 'the lease is over');
    const again = await worker.claim(recording.id);
    t.equal(await audioOf(again), 200);
    await worker.publish(again, []);
    t.same([await audioOf(again), await audioOf(again, ops_token)], [403, 200], 'it was published');
  });

  await t.test('K-138 the audio of a window that another pipeline wants is open while that is claimed', async (t) => {
    ann.app.access_token = (await spool.signIn(ann.email)).session.access_token;
    await ann.entitle('developer.tools', true);
    const recording = await recorded();
    await worker.publish(await worker.claim(recording.id), []);
    const transcription = { engine: 'precise', language: 'de' };
    const { id } = await ann.ask<{ id: string }>('POST', '/pipelines', { name: 'German', transcription });
    await ann.ask('POST', `/pipelines/${id}/runs`, { stream_id: recording.id });
    const work = await worker.claim(recording.id);
    t.equal(work.pipeline.id, id);
    t.equal(await audioOf(work), 200);
    await worker.publish(work, []);
    t.equal(await audioOf(work), 403);
  });

  await t.test('K-138 it signs nobody in to the pages', async (t) => {
    const body = new URLSearchParams({ token: worker_token });
    const answer = await fetch(`${url}/sign-in`, {
      method: 'POST',
      headers: { Origin: url },
      body,
      redirect: 'manual',
    });
    t.equal(answer.status, 401);
  });

  await t.test('without WORKER_TOKEN it lies in the data folder, for its owner alone, and stays', async (t) => {
    t.equal(statSync(join(spool.folder, 'worker_token')).mode & 0o077, 0);
    t.not(worker_token, ops_token);
    await spool.close();
    await spool.open();
    t.equal(spool.server.services.worker_token, worker_token);
    await spool.close();
    await spool.open({ WORKER_TOKEN: 'a-token-of-our-own' });
    t.equal(spool.server.services.worker_token, 'a-token-of-our-own');
  });
});
