import t from 'tap';
import { ScriptedChat } from '../../../tools/speech/scripted_chat.js';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { TestRecording } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

type Summary = { state: string; tasks: { made_by: string }[]; failure: { code: string; message: string } | null };

t.test('K-092 K-184 what a missing model can not do the built-in engine does, and both are told', async (t) => {
  const [engine, chat] = [await ScriptedEngine.start(t), await ScriptedChat.start(t)];
  const settings = { TRANSCRIBE_URL: engine.url, INSIGHTS_URL: chat.url, INSIGHTS_MODEL: 'small-one' };
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', ...settings });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const problems = async () => {
    const { health_problems } = await spool.operator.call('GET /ops/overview', {});
    return health_problems.filter(({ area }) => area === 'insights');
  };
  const memo = async () => {
    const recording = await TestRecording.begin(ann);
    const text = 'I will call the plumber on Tuesday.';
    await recording.add(5_000, { says: [{ text, start_ms: 500, end_ms: 4_500 }] });
    await recording.end();
    await until('it is transcribed', async () => (await recording.turns()).length === 1);
    await spool.operator.advanceClock(11_000);
    const read = () => ann.ask<Summary>('GET', `/audio/streams/${recording.id}/summary`);
    await until('it was looked into', async () => (await read()).state === 'ready');
    return read();
  };
  chat.refuses = () => ({ status: 404, body: '{"error": {"message": "model \\"small-one\\" not found"}}' });
  t.match(await memo(), {
    tasks: [{ made_by: 'extractive' }],
    failure: { code: 'ENGINE_MODEL_MISSING', message: /not on its server.* built-in engine/ },
  });
  t.equal(chat.requests.length, 1);
  t.match(await problems(), [{ name: 'insights_failing', text: /small-one/ }]);
  chat.refuses = () => null;
  t.match(await memo(), { tasks: [{ made_by: 'model' }], failure: null });
  t.same(await problems(), []);
});
