import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { retryAfterMs } from '../../src/domain/webhooks.js';
import { makeMetrics } from '../../src/engine/metrics/metrics.js';
import { openServerKeys } from '../../src/engine/secrets/server_keys.js';
import { readCompletion } from '../../src/features/insights/engines/chat_completion.js';
import { readInsights, readSummary } from '../../src/features/insights/engines/chat_forms.js';
import { checkedInsights } from '../../src/features/insights/library/checked_insights.js';
import { EmbeddingServer } from '../../src/features/search/index/embedding_server.js';
import { Embeddings } from '../../src/features/search/index/embeddings.js';
import { RecallAnswers } from '../../src/features/search/questions/recall_answer.js';
import type { RecallItem } from '../../src/features/search/questions/recall_shapes.js';
import { EngineFailed } from '../../src/features/transcripts/engines/engine.js';
import { readTranscription } from '../../src/features/transcripts/engines/transcription_json.js';
import { turnsOfSegment } from '../../src/features/transcripts/segment_turns.js';
import { WebhookSender } from '../../src/features/webhooks/webhook_sender.js';
import { completion, ScriptedChat } from '../../tools/speech/scripted_chat.js';
import { inputOf } from '../fixtures/insight_input.js';
import { oddJson } from '../fixtures/odd_json.js';
import { Receiver } from '../fixtures/receiver.js';
import { drawSeed, drawsOf } from '../fixtures/seed.js';
import { tempFolder } from '../fixtures/temp_folder.js';

/** What others answer is untrusted: whatever it is, it is read, or counts as no answer. None of it is a fault of the server. */

const QUOTE = 'The spare key lies under the blue flower pot.';
const EVIDENCE = [{ turn: 1, quote: QUOTE }];
const LOG = { warn: () => {} };

function draws(t: Test, runs: number): { seed: number; numRuns: number } {
  return { seed: drawSeed(t), numRuns: drawsOf(runs) };
}

/** Whether it gives something, or says that the engine failed. */
function isReadOrFailed(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof EngineFailed) return true;
    throw error;
  }
}

t.test('whatever a model answers to a question, there is an answer that stands, or none', async (t) => {
  const model = await ScriptedChat.start({ teardown: (end) => t.teardown(end), keeps_requests: false });
  const answers = new RecallAnswers({
    url: model.url,
    key: null,
    model: null,
    metrics: makeMetrics(),
    log: LOG,
    now: Date.now,
  });
  t.teardown(() => answers.close());
  const turn = { id: 'a turn', text: QUOTE, started_at: '2026-11-01T10:00:00.000Z', speaker_name: null };
  const items = [{ turns: [turn] }] as unknown as RecallItem[];
  const names = ['sentences', 'text', 'evidence', 'turn', 'quote'];
  const odd = oddJson(names, [QUOTE, EVIDENCE]);
  const sentence = fc.record({ text: odd, evidence: fc.oneof(odd, fc.constant(EVIDENCE)) }, { requiredKeys: [] });
  const said = fc.oneof(odd, fc.record({ sentences: fc.array(fc.oneof(sentence, odd), { maxLength: 4 }) }));
  await fc.assert(
    fc.asyncProperty(said, async (value) => {
      model.answers = [completion(JSON.stringify(value))];
      const answer = await answers.answer('a', 'Where is the key?', items);
      return answer === null || answer.sentences.every(({ text }) => typeof text === 'string' && text !== '');
    }),
    draws(t, 400),
  );
  const good = [completion(JSON.stringify({ sentences: [{ text: QUOTE, evidence: EVIDENCE }] }))];
  for (let n = 0; n < 2; n++) t.ok(answers.pool.tryTake('a'));
  model.answers = [...good];
  t.equal(await answers.answer('a', 'Where is the key?', items), null, 'an account has its share');
  t.match(await answers.answer('b', 'Where is the key?', items), { sentences: [{ text: QUOTE }] });
});

t.test('whatever a model makes of a conversation, it is read and checked, or the engine failed', async (t) => {
  const keys = await openServerKeys(tempFolder(t));
  const input = inputOf(['I will send the report on Friday.', QUOTE]);
  const names = [
    'conversation',
    'suggestions',
    'memories',
    'title',
    'sentences',
    'topics',
    'op',
    'ref',
    'kind',
    'text',
  ];
  const more = ['due_at', 'due_date', 'owner', 'requester', 'about', 'evidence', 'turn', 'quote'];
  const odd = oddJson([...names, ...more], ['new', 'task', 'fact', EVIDENCE]);
  const item = fc.record(
    {
      op: fc.constantFrom('new', 'revise', 'withdraw'),
      kind: fc.oneof(fc.constantFrom('task', 'fact'), odd),
      text: fc.oneof(fc.constant('Send the report'), odd),
      evidence: fc.oneof(fc.constant([{ turn: 1, quote: 'send the report' }]), odd),
      ...{ ref: odd, due_at: odd, due_date: odd, owner: odd, requester: odd, about: odd },
    },
    { requiredKeys: [] },
  );
  const items = fc.oneof(fc.array(fc.oneof(item, odd), { maxLength: 4 }), odd);
  const conversation = fc.oneof(fc.record({ title: odd, sentences: odd, topics: odd }, { requiredKeys: [] }), odd);
  const said = fc.oneof(odd, fc.record({ conversation, suggestions: items, memories: items }));
  fc.assert(
    fc.property(said, (value) => {
      const read = () => readCompletion(completion(JSON.stringify(value)).body, 'conversation');
      return (
        isReadOrFailed(() => readCompletion(JSON.stringify(value), 'conversation')) &&
        isReadOrFailed(() => readSummary(read(), input)) &&
        isReadOrFailed(() => {
          const { left_out, ...raw } = readInsights(read(), input);
          checkedInsights(raw, { input, keys, made_by: 'model', left_out });
        }) &&
        // A worker's answer comes as it is.
        checkedInsights(value, { input, keys, made_by: 'external' }).ok !== undefined
      );
    }),
    draws(t, 1_000),
  );
});

t.test('whatever a speech engine answers becomes turns, or the engine failed', async (t) => {
  const names = [
    'text',
    'segments',
    'words',
    'word',
    'start',
    'end',
    'language',
    'speaker',
    'speaker_id',
    'confidence',
  ];
  const odd = oddJson([...names, 'avg_logprob'], ['Hello there.']);
  const place = { parts: [{ start_ms: 0, end_ms: 10_000, offset_ms: 0 }], label: '' };
  const parts = place.parts as unknown as Parameters<typeof turnsOfSegment>[1]['parts'];
  fc.assert(
    fc.property(fc.oneof(odd, fc.record({ text: odd, segments: fc.array(odd), words: fc.array(odd) })), (value) =>
      isReadOrFailed(() => {
        for (const segment of readTranscription(JSON.stringify(value), 10).segments)
          turnsOfSegment(segment, { ...place, parts });
      }),
    ),
    draws(t, 1_000),
  );
});

t.test('whatever a model of vectors answers, a question gets a vector or none', async (t) => {
  let body = '';
  const server = createServer((_request, response) => void response.end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const engine = new EmbeddingServer({ url, key: null, model: null, now: Date.now });
  const embeddings = new Embeddings({ engine, metrics: makeMetrics(), log: LOG });
  t.teardown(async () => {
    await embeddings.close();
    server.close();
  });
  const odd = oddJson(['data', 'embedding', 'index'], [[0.1, 0.2], [0, 0], [1e308, 1e308], [5e-324]]);
  const vector = fc.record({ embedding: odd, index: odd }, { requiredKeys: [] });
  const said = fc.oneof(odd, fc.record({ data: fc.array(fc.oneof(vector, odd), { minLength: 1, maxLength: 2 }) }));
  await fc.assert(
    fc.asyncProperty(said, async (value) => {
      body = JSON.stringify(value);
      const found = await embeddings.ofQuestion('Where is the key?', 'a');
      return found === null || (found.length > 0 && found.every((one) => Math.abs(one) <= 127));
    }),
    draws(t, 400),
  );
});

t.test('whatever a receiver answers, a delivery gets a status or an error', async (t) => {
  const receiver = await Receiver.start();
  const sender = new WebhookSender({ block_private: false, extra_ca: receiver.root_pem, proxy: null });
  t.teardown(async () => {
    await sender.close();
    await receiver.end();
  });
  let answer = '';
  const raw = await receiver.raw({ asked: (socket) => void socket.end(answer, 'latin1') });
  const line = fc.oneof(
    fc.constantFrom(
      'HTTP/1.1 200 OK',
      'HTTP/1.1 503',
      'HTTP/1.0 410 Gone',
      'HTTP/1.1 99 x',
      'HTTP/2 200',
      '{"ok":true}',
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const header = fc.oneof(
    fc.constantFrom('content-length: 2', 'content-length: -1', 'transfer-encoding: chunked', 'retry-after: 1e9', ': x'),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const parts = fc.tuple(line, fc.array(header, { maxLength: 4 }), fc.constantFrom('\r\n', '\n'), fc.string());
  await fc.assert(
    fc.asyncProperty(parts, async ([first, headers, end, body]) => {
      answer = [first, ...headers, '', body].join(end);
      const { status_code, error } = await sender.post(new URL(raw.url()), { headers: {}, body: '{}' });
      return (status_code === null) !== (error === null);
    }),
    draws(t, 200),
  );
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 0, max: 8.64e15 }), (value, now_ms) => {
      const wait_ms = retryAfterMs(value, now_ms);
      return wait_ms === null || wait_ms > 0;
    }),
    draws(t, 1_000),
  );
});
