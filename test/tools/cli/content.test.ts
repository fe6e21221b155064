import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ScriptedChat } from '../../../tools/speech/scripted_chat.js';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
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

  t.match(await cli('content', 'retry', recording.id), { code: 0, out: 'What failed is being tried again.\n' });
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

t.test('spool content says how insights go, and has what failed tried again', async (t) => {
  const [engine, chat] = [await ScriptedEngine.start(t), await ScriptedChat.start(t)];
  const settings = { TRANSCRIBE_URL: engine.url, INSIGHTS_URL: chat.url };
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', ...settings });
  t.teardown(() => spool.end());
  const env = { OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}`, DATA_DIR: spool.folder };
  const cli = (...args: string[]) => runCli(args, env);
  const content = async () => (await spool.operator.call('GET /ops/content')).insights;
  t.match(await content(), { by: 'server', hosts: [new URL(chat.url).host], failing: null, in_hand: 0 });
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const suggestions = async () => (await ann.ask<{ items: { text: string }[] }>('GET', '/suggestions?limit=9')).items;
  const promise = 'I will paint the fence on Sunday.';
  const said = ['The fence is in a bad state by now.', promise, 'And I help you with that, of course.'];
  chat.answers = [{ status: 403, body: '' }];
  const recording = await TestRecording.begin(ann);
  const says = said.map((text, at) => ({ text, start_ms: at * 5_000 + 500, end_ms: at * 5_000 + 4_500 }));
  await recording.add(15_000, { says });
  await recording.end();
  await until('it is transcribed', async () => (await recording.turns()).length === said.length);
  t.match(await content(), { waiting: { due: 0, later: 1, oldest_due_s: null, beyond: false } });
  await spool.operator.advanceClock(11_000);
  await until('it failed', async () => (await content()).failing !== null);
  const failed = await cli('content', 'status');
  t.match(failed.out, /^insights by +the model at INSIGHTS_URL \(127\.0\.0\.1:\d+\)$/m);
  t.match(failed.out, /^Conversations fail since \S+, 1 in a row, the last with ENGINE_REFUSED\.$/m);
  await until('the built-in engine stands in', async () => (await suggestions()).length === 1);

  t.match(await cli('content', 'retry', recording.id), { code: 0, out: 'What failed is being tried again.\n' });
  await cli('content', 'reprocess', recording.id, '--insights');
  await until('the model is asked again', async () => (await content()).failing === null);
  t.equal(chat.requests.length, 2);
  t.match(await suggestions(), [{ text: promise }]);
  const made = await cli('content', 'status');
  t.match(made.out, /^last hour +\d conversations, \d suggestions, 0 memories$/m);
  t.notMatch(made.out + JSON.stringify(await content()), /fence/, 'no text');

  const asked = chat.requests.length;
  await cli('content', 'retry', recording.id);
  const tried = await cli('content', 'try', recording.id, '--engine', 'extractive');
  t.match(tried, { code: 0, out: /^PUBLISHED +EXTRACTIVE$/m });
  t.match(await cli('content', 'try', recording.id, '--engine', 'nobody'), {
    code: 1,
    errors: /engine must be one of/,
  });
  await cli('content', 'reprocess', recording.id, '--insights');
  await until('it was asked once more', () => chat.requests.length > asked);
  t.equal(chat.requests.length, asked + 1, 'what did not fail is not tried again');
  t.equal(engine.requests.length, 1, 'nothing is transcribed again');
  t.equal((await suggestions()).length, 1);
  // A run that is cut off would wait for whoever runs it again.
  await until('nothing is under way', async () => {
    const { in_hand, waiting } = await content();
    return in_hand + waiting.due + waiting.later === 0;
  });

  await spool.close();
  await spool.open({ INSIGHTS_URL: '', INSIGHTS: 'off' });
  const off = { ...env, OPS_URL: `http://127.0.0.1:${spool.server.ports.operator}` };
  t.match(await runCli(['content', 'reprocess', recording.id, '--insights'], off), { code: 1, errors: /INSIGHTS=off/ });
  t.match(await runCli(['content', 'retry', recording.id], off), { code: 0 });
  t.match(await content(), { by: 'nobody' });
  await until('nothing waits for nobody', async () => {
    const { waiting } = await content();
    return waiting.due === 0 && waiting.later === 0;
  });
});
