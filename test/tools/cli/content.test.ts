import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ScriptedEngine } from '../../../src/tools/speech/scripted_engine.js';
import { TestAccount } from '../../fixtures/account.js';
import { runCli } from '../../fixtures/cli.js';
import { TestSpool } from '../../fixtures/spool.js';
import { TestRecording } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

t.test('spool content', async (t) => {
  const engine = await ScriptedEngine.start(t);
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url });
  t.teardown(() => spool.end());
  const env = { OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}`, DATA_DIR: spool.folder };
  const cli = (...args: string[]) => runCli(args, env);
  const idle = await cli('content', 'status');
  t.match(idle, { code: 0, out: /^transcribed by +the server at TRANSCRIBE_URL \(127\.0\.0\.1:\d+\)$/m });
  t.match(idle.out, /^streams due +0$/m);

  const ann = await TestAccount.open(spool, 'ann@x.test');
  const recording = await TestRecording.begin(ann);
  await recording.add(4_000, { says: [{ text: 'Heard at last.', start_ms: 500, end_ms: 3_000 }] });
  engine.answers = [{ status: 403, body: '' }];
  await recording.end();
  const failures = async () => (await spool.operator.call('GET /ops/content')).last_hour.failures.length;
  await until('it failed', async () => (await failures()) > 0);
  const failed = await cli('content', 'status');
  t.match(failed.out, /^Failing since \S+, 1 in a row, the last with ENGINE_REFUSED\.$/m);
  t.match(failed.out, /^ENGINE_REFUSED +1 +\S+Z$/m);

  t.match(await cli('content', 'retry', recording.id), { code: 0, out: 'What failed is tried again.\n' });
  await until('it is heard', async () => (await recording.turns()).length === 1);
  t.match((await cli('content', 'status')).out, /^last hour +1 windows, 1 turns$/m);

  const asked = engine.requests.length;
  t.match(await cli('content', 'reprocess', recording.id, '--from-ms', '0', '--to-ms', '4000'), { code: 0 });
  await until('it is heard again', () => engine.requests.length > asked);
  const json = JSON.parse((await cli('content', 'reprocess', recording.id, '--json')).out);
  t.same(json, { accepted: true });
  t.match(await cli('content', 'reprocess', recording.id, '--from-ms', 'soon'), { code: 1, errors: /whole millisec/ });
  t.match(await cli('content', 'reprocess', recording.id, '--from-ms', '9', '--to-ms', '9'), {
    code: 1,
    errors: /to_ms/,
  });
  t.match(await cli('content', 'retry', 'nonsense'), { code: 1, errors: /NOT_FOUND/ });
  t.match(await cli('content', 'retry', randomUUID()), { code: 1, errors: /NOT_FOUND/ });
});
