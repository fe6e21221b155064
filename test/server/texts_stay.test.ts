import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import t, { type Test } from 'tap';
import { libraryId } from '../../src/domain/ids.js';
import { orNull } from '../../src/domain/refusals.js';
import { StoreUnavailable } from '../../src/engine/store/store.js';
import { completion, ScriptedChat } from '../../tools/speech/scripted_chat.js';
import { json, ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { addFile } from '../fixtures/files.js';
import { privateWorkspaceOf } from '../fixtures/insights.js';
import { Receiver } from '../fixtures/receiver.js';
import { TestSpool } from '../fixtures/spool.js';
import { TestRecording, TestTranscriber } from '../fixtures/transcribing.js';
import { until } from '../fixtures/until.js';

/** In everything that is said, and in all names: it must be found nowhere but in turns, transcripts, contacts and insights. */
const MARKED = /zyzzyva/i;

t.test('K-006 E-006 what is said, and who says it, shows up nowhere but in turns and contacts', async (t) => {
  const traces: Buffer[] = [];
  const collector = createServer(async (request, response) => {
    for await (const part of request) traces.push(part as Buffer);
    response.setHeader('Content-Type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    collector.close();
    collector.closeAllConnections();
  });
  const receiver = await Receiver.start();
  t.teardown(() => receiver.end());
  const engine = await ScriptedEngine.start(t);
  const chat = await ScriptedChat.start(t);
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const env = {
    ...receiver.env,
    ...{ RATE_LIMITS: 'off', CHUNK_WORKER: '1', TRANSCRIBE_URL: engine.url, INSIGHTS_URL: chat.url },
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
  };
  const spool = await TestSpool.start(env, log);
  t.teardown(() => spool.end());
  const { actors, runtime, watch } = spool.server.services;
  const ann = await TestAccount.open(spool, 'ann@x.test');
  await TestEndpoint.open(ann, receiver.on('/ann', 204));
  const elsewhere: Record<string, string> = {};
  const answers: string[] = [];
  const says = async (method: string, path: string, body?: unknown) => {
    const answer = await ann.app.send(method, path, { body });
    if (answer.status >= 400) answers.push(answer.body.toString());
    return answer.status;
  };

  // An engine and a model that fail, and repeat what they were sent, before they hear anything.
  await ann.entitle('developer.tools', true);
  chat.answers = [{ status: 500, body: 'no memory for "zyzzyva the first"' }, completion('zyzzyva is no JSON')];
  engine.answers = [
    { status: 500, body: 'out of memory at "zyzzyva the first"' },
    { status: 200, body: '<html>zyzzyva in HTML</html>' },
    json({ text: 7, zyzzyva: 'zyzzyva' }),
    { status: 503, body: 'zyzzyva', headers: { 'x-zyzzyva': 'zyzzyva', 'retry-after': 'zyzzyva' } },
  ];
  const recording = await TestRecording.begin(ann);
  const script = ['Good morning, zyzzyva.', 'My name is Zyzzyva.', 'I will never spell zyzzyva.'].map((text, at) => {
    return { text, start_ms: at * 3_000, end_ms: at * 3_000 + 2_500, speaker: `zyzzyva ${at}` };
  });
  await recording.add(10_000, { says: script });
  await recording.end();
  for (let tries = 1; tries <= 4; tries++) {
    await until(`try ${tries} failed`, async () => {
      const transcript = await orNull(actors.transcript(recording.id).view(), 'NOT_FOUND');
      return transcript?.retry?.tries === tries;
    });
    await spool.operator.advanceClock([60_000, 240_000, 960_000, 1_800_000][tries - 1] as number);
    if (tries === 4) await spool.operator.advanceClock(1_799_000); // not longer than a sign-in in all
  }
  const signed_in = await TestAccount.open(spool, 'ann@x.test');
  ann.app.access_token = signed_in.app.access_token;
  await spool.operator.advanceClock(60_000);
  await until('it is heard', async () => (await recording.turns()).length === 3);
  t.match((await recording.turns())[0], { text: MARKED });

  await insightsOf(t, { ann, chat, says });

  const made = await ann.ask<{ id: string; name: string }>('POST', '/contacts', { name: 'Zyzzyva Smith' });
  const other = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Zyzzyva Jones' });
  t.match(made, { name: MARKED });
  await ann.ask('PATCH', `/contacts/${made.id}`, { name: 'Zyzzyva Smythe' });
  await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id: made.id });
  await ann.ask('POST', `/contacts/${made.id}/merge`, { into: other.id });
  const [first, second] = await recording.turns();
  t.match(first, { speaker_name: MARKED });
  await ann.ask('POST', `/turns/${first?.id}/split`, { at_ms: 1_250 });
  await ann.ask('DELETE', `/turns/${second?.id}`);

  // What is refused is not repeated either.
  for (const [method, path, body] of [
    ['POST', '/contacts', { name: `zyzzyva ${'x'.repeat(1_000)}` }],
    ['POST', '/contacts', { name: 'x', is_self: 'zyzzyva' }],
    ['PATCH', `/contacts/${other.id}`, { name: { zyzzyva: 'x' } }],
    ['POST', `/turns/${first?.id}/split`, { at_ms: 'zyzzyva' }],
    ['PATCH', `/turns/${first?.id}`, { speaker: 'zyzzyva' }],
    ['POST', `/audio/streams/${recording.id}/speakers/S1/merge`, { into: 'zyzzyva' }],
    ['GET', '/contacts?limit=zyzzyva'],
    ['POST', '/memories', { text: 'zyzzyva', kind: 'zyzzyva' }],
    ['POST', '/profile/context', { text: `zyzzyva ${'x'.repeat(5_000)}` }],
    ['PUT', '/profile', { revision: 1, about: { zyzzyva: 'x' } }],
    ['POST', '/pipelines', { name: 'zyzzyva', insights: { instructions: 'zyzzyva', kinds: ['zyzzyva'] } }],
    ['GET', '/suggestions?status=zyzzyva'],
    ['PATCH', '/suggestions/zyzzyva', { state_version: 'zyzzyva', text: 'zyzzyva' }],
  ] as const)
    t.ok((await says(method, path, body)) >= 400, `${method} ${path}`);
  const worker = new TestTranscriber(spool);
  for (const turns of [[{ start_ms: 0, end_ms: 1, text: 'zyzzyva \u0007' }], [{ text: 'zyzzyva' }]]) {
    const job = `/ops/jobs/${recording.id}.1/publish`;
    const refused = await spool.operator.send('POST', job, { claim: 'zyzzyva', turns });
    t.ok(refused.status >= 400);
    answers.push(refused.body.toString());
  }
  t.match(await worker.says(`/ops/jobs/${recording.id}.1/failed`, failure), /^409/);
  const { ask } = runtime;
  for (const fault of [new StoreUnavailable('away'), new TypeError('a bug')]) {
    runtime.ask = () => Promise.reject(fault);
    t.ok((await says('POST', '/contacts', { name: 'Zyzzyva' })) >= 500);
    t.ok((await says('GET', '/contacts?q=zyzzyva')) >= 500);
    runtime.ask = ask;
  }

  await until('hooks arrived', () => receiver.arrived.some(({ body }) => body.includes('turn.deleted')));
  await watch.sample();
  const operator = async (path: string) => (await spool.operator.send('GET', path)).body.toString();
  const events = await ann.app.send('GET', '/events?limit=100');
  elsewhere.events = events.body.toString();
  for (const type of [
    'turn.created',
    'turn.updated',
    'turn.deleted',
    'contact.created',
    'contact.updated',
    ...OF_INSIGHTS,
  ])
    t.match(elsewhere.events, `"${type}"`, 'there are events');
  elsewhere.webhooks = JSON.stringify(receiver.arrived);
  elsewhere.metrics = await operator('/metrics');
  t.match(elsewhere.metrics, /turns_published_total 3/);
  for (const path of ['/ops/overview', '/ops/content', '/ops/actors', '/ops/endpoints', '/ops/devices'])
    elsewhere[path] = await operator(path);
  for (const [kind, id] of [
    ['transcript', recording.id],
    ['contacts', ann.id],
    ['context', ann.id],
    ['files', ann.id],
    ['exports', ann.id],
    ['library', libraryId(ann.id, await privateWorkspaceOf(ann))],
    ['stream', recording.id],
    ['account', ann.id],
  ]) {
    elsewhere[`/ops/entity of ${kind}`] = await operator(`/ops/entity?kind=${kind}&id=${id}`);
    t.match(elsewhere[`/ops/entity of ${kind}`], `"${kind}"`);
    elsewhere[`/ops/entities of ${kind}`] = await operator(`/ops/entities?find=${id}`);
  }
  t.match(elsewhere['/ops/entity of transcript'], /"turns":\s*3/);
  elsewhere.answers = answers.join('\n');
  await spool.close();
  elsewhere.log = lines.join('');
  t.match(elsewhere.log, 'a window could not be transcribed');
  t.match(elsewhere.log, 'a conversation could not be looked into');
  t.match(elsewhere.log, 'a bug', 'what went wrong is in the log');
  elsewhere.traces = Buffer.concat(traces).toString('latin1');
  t.ok(elsewhere.traces.length > 1_000, 'there are traces');
  for (const [where, text] of Object.entries(elsewhere)) {
    const [found] = MARKED.exec(text) ?? [];
    t.equal(
      found,
      undefined,
      `${where}: ${text.slice(Math.max(0, text.search(MARKED) - 200), text.search(MARKED) + 50)}`,
    );
  }
  await spool.open();
});

const failure = { claim: 'zyzzyva', code: 'BAD_AUDIO', message: 'zyzzyva could not be heard' };

const OF_INSIGHTS = [
  ...['conversation.created', 'conversation.updated', 'suggestion.created', 'suggestion.updated', 'suggestion.deleted'],
  ...['memory.created', 'memory.updated', 'suggestion_profile.updated', 'memory_context.updated'],
];

/** What a model makes of it once it works, and all that a person says of that. */
async function insightsOf(
  t: Test,
  {
    ann,
    chat,
    says,
  }: {
    ann: TestAccount;
    chat: ScriptedChat;
    says: (method: string, path: string, body?: unknown) => Promise<number>;
  },
): Promise<void> {
  const { spool } = ann;
  const suggestions = async () => {
    const { items } = await ann.ask<{ items: { id: string; text: string }[] }>('GET', '/suggestions');
    return items;
  };
  await until('the model is heard', async () => {
    await spool.operator.advanceClock(60_000);
    return (await suggestions()).length > 0;
  });
  const [task] = await suggestions();
  t.match(task, { text: MARKED });
  t.ok(chat.requests.length >= 3, 'it failed before');
  const { items: talks } = await ann.ask<{ items: { id: string }[] }>('GET', '/conversations');
  const path = `/suggestions/${task?.id}`;
  for (const [method, at, body] of [
    ['PATCH', `/conversations/${talks[0]?.id}`, { title: 'All about zyzzyva' }],
    ['PATCH', path, { state_version: 1, text: 'Spell zyzzyva' }],
    ['POST', `${path}/review`, { state_version: 2, verdict: 'unclear', note: 'What is a zyzzyva?' }],
    ['POST', `${path}/feedback`, { rating: 'wrong', comment: 'It is a zyzzyva' }],
    ['POST', '/profile/context', { text: 'A zyzzyva is a weevil.' }],
    ['POST', '/pipelines', { name: 'Zyzzyvas', insights: { instructions: 'Look for the zyzzyva.' } }],
    ['PUT', '/profile', { revision: 0, about: 'I keep a zyzzyva.', vocabulary: ['zyzzyva'] }],
  ] as const)
    t.ok((await says(method, at, body)) < 400, `${method} ${at}`);
  await addFile({ app: ann.app, base_url: spool.base_url }, 'zyzzyva.txt', Buffer.from('zyzzyva'));
  await ann.ask('POST', '/me/exports', { files: true });
  const memory = await ann.ask<{ id: string }>('POST', '/memories', { text: 'Zyzzyvas eat palms', kind: 'fact' });
  await ann.ask('PATCH', `/memories/${memory.id}`, { text: 'Zyzzyvas live in palms' });
  await ann.ask('DELETE', path);
}
