import t from 'tap';
import { completion, ScriptedChat } from '../../../tools/speech/scripted_chat.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Answer = {
  items: { turns: { id: string; text: string }[] }[];
  answer: { sentences: { text: string; citations: { item: number; turn_id: string }[] }[] } | null;
};
type Sentence = { text: unknown; evidence?: { turn: unknown; quote: unknown }[] };

const TURNS = ['When is the picnic?', 'Then we go on June twelfth.', 'Bring forty chairs to the picnic.'];
const QUERY = 'When is the picnic?';

async function open(t: Pick<typeof import('tap').t, 'teardown'>, env: Record<string, string> = {}) {
  const model = await ScriptedChat.start({ teardown: (end) => t.teardown(end) });
  model.isAnswered = ({ user }) => user.question !== undefined;
  const spool = await TestSpool.start({
    ...{ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0', INSIGHTS_URL: model.url, INSIGHTS_MODEL: 'small' },
  });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const worker = new TestTranscriber(spool);
  const recording = await TestRecording.begin(ann);
  await recording.add(60_000);
  await recording.end();
  await worker.publish(
    await worker.claim(recording.id),
    TURNS.map((text, at) => said(text, [at * 3_000, at * 3_000 + 2_500], 'A')),
  );
  // The worker of this test has published: from now on the server asks the model itself.
  await spool.close();
  await spool.open(env);
  const again = await TestAccount.open(spool, ann.email);
  const ask = (more: object = { answer: true }) => again.ask<Answer>('POST', '/recall', { query: QUERY, ...more });
  const says = (...sentences: Sentence[]) => {
    model.answers = [completion({ sentences })];
  };
  const asked = () => model.requests.filter(({ system }) => system.startsWith('You answer a question'));
  return { model, ask, says, asked };
}

t.test('K-196 a model answers a question from the passages, each sentence with the turns that bear it', async (t) => {
  const { model, ask, says, asked } = await open(t, { CONTENT_WORKER: '1' });
  t.equal((await ask({})).answer, null, 'it is not asked for');
  t.same(asked(), []);
  says({ text: 'The picnic is on June 12.', evidence: [{ turn: 2, quote: TURNS[1] }] });
  const { answer, items } = await ask();
  const turn_id = items[0]?.turns.find(({ text }) => text === TURNS[1])?.id;
  t.same(answer, { sentences: [{ text: 'The picnic is on June 12.', citations: [{ item: 0, turn_id }] }] });
  const [request] = asked();
  t.match(request?.user, { question: QUERY, what_people_said: { turns: TURNS.map((text) => ({ text })) } });
  t.match(request?.body, { model: 'small' });
  for (const text of [...TURNS, QUERY]) t.notOk(request?.system.includes(text), 'what was said is data');

  const stands = { text: 'It is in June.', evidence: [{ turn: '2', quote: 'we go on June twelfth' }] };
  const dropped: [what: string, sentence: Sentence][] = [
    ['no evidence', { text: 'It is in June.' }],
    ['another quotation', { text: 'It is in May.', evidence: [{ turn: 2, quote: 'Then we go on May third.' }] }],
    ['a quotation of another turn', { text: 'It is in June.', evidence: [{ turn: 1, quote: TURNS[1] }] }],
    ['no such turn', { text: 'It is in June.', evidence: [{ turn: 9, quote: TURNS[1] }] }],
    ['a number that nobody said', { text: 'It is on June 13.', evidence: [{ turn: 2, quote: TURNS[1] }] }],
    ['an address', { text: 'See picnic.example.com.', evidence: [{ turn: 2, quote: TURNS[1] }] }],
    ['no text', { text: '', evidence: [{ turn: 2, quote: TURNS[1] }] }],
  ];
  for (const [what, sentence] of dropped) {
    says(sentence, stands);
    t.same(
      (await ask()).answer?.sentences.map(({ text }) => text),
      [stands.text],
      what,
    );
    says(sentence);
    t.equal((await ask()).answer, null, `${what} alone`);
  }
  for (const broken of [{ status: 500, body: '' }, completion('no JSON'), completion([]), 'cut off'] as const) {
    model.answers = [broken];
    const { answer: none, items: found } = await ask();
    t.same([none, found.length > 0], [null, true], 'the rest does not fail');
  }
  const before = asked().length;
  t.match(await ask({ answer: true, query: 'giraffe' }), { items: [], answer: null });
  t.equal(asked().length, before, 'without passages nobody is asked');
});

t.test('K-196 without a model there is no answer', async (t) => {
  const { ask, asked } = await open(t);
  t.equal((await ask()).answer, null);
  t.same(asked(), []);
});
