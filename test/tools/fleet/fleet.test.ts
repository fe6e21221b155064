import { Writable } from 'node:stream';
import t from 'tap';
import { OwnServer } from '../../../tools/demo/own_server.js';
import type { ChosenServer } from '../../../tools/demo/server_choice.js';
import { type FleetOptions, runFleet } from '../../../tools/fleet/run.js';
import { ScriptedChat } from '../../../tools/speech/scripted_chat.js';
import { ScriptedEngine } from '../../../tools/speech/scripted_engine.js';

const OPTIONS: FleetOptions = {
  ...{ devices: 8, minutes: 0.1, seed: 7, shared_percent: 50, chunk_ms: 300, chunk_bytes: 4_096 },
  ...{ faults: true, speech: false, kills: ['server', 'redis'], read_percent: 100 },
};

t.test('a fleet is held to what it sent, over kills of the server and of Redis', async (t) => {
  const [engine, chat] = [await ScriptedEngine.start(t), await ScriptedChat.start(t)];
  const own = await OwnServer.start({ TRANSCRIBE_URL: engine.url, INSIGHTS_URL: chat.url });
  t.teardown(() => own.end());
  const server: ChosenServer = { description: 'its own', own, ...own.addresses, end: () => own.end() };
  let said = '';
  const out = new Writable({
    write(piece, _encoding, done) {
      said += String(piece);
      done();
    },
  });
  const { good, lines, stats, verified } = await runFleet(server, OPTIONS, out);
  t.ok(good, lines.join('\n'));
  t.ok(verified.chunks > 50 && verified.bytes_read > 0, `${verified.chunks} chunks were held against what was sent`);
  t.ok(verified.streams > 8);
  t.ok(stats.calls.finish.count >= 4, 'shared recorders end their sessions');
  t.ok([...stats.retries.values()].reduce((sum, count) => sum + count, 0) > 0, 'calls had to be repeated');
  const spoken = { ...OPTIONS, devices: 4, minutes: 0.05, seed: 8, speech: true, kills: [], read_percent: 0 };
  const speech = await runFleet(server, spoken, out);
  t.ok(speech.good, speech.lines.join('\n'));
  t.ok(speech.verified.turns > 10);
  t.equal(speech.verified.turns, speech.verified.chunks, 'what was said in each is a turn');
  t.ok(speech.verified.suggestions > 5, 'and a promise in every other one a suggestion');
  t.match(said, /the server was killed[\s\S]*is ready[\s\S]*Redis was killed/);
});
