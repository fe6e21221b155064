import t from 'tap';
import type { Suggestion, Turn } from '../../../kits/typescript/src/api.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { makeInsights } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

/** Corrections of what was said in a turn. */

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const worker = new TestTranscriber(spool);
const SAID = [
  said('We meat on choose day.', [0, 4_000], 'A'),
  said('And I will bake bread.', [5_000, 9_000], 'B'),
  said('Bob lives in Graz.', [10_000, 14_000], 'A'),
];

async function spoken(): Promise<{ recording: TestRecording; turns: [Turn, Turn, Turn] }> {
  const recording = await TestRecording.begin(ann);
  await recording.add(20_000);
  await recording.end();
  await worker.publish(await worker.claim(recording.id), SAID);
  const turns = (await recording.turns()) as [Turn, Turn, Turn];
  await ann.newEvents();
  return { recording, turns };
}

const correct = (turn: Turn, body: object) => ann.ask<Turn>('PATCH', `/turns/${turn.id}`, body);

await t.test(
  'K-142 a person corrects what was said, the same again changes nothing, and null restores it',
  async (t) => {
    const { recording, turns } = await spoken();
    const [first] = turns;
    t.notOk('heard_text' in first);
    const corrected = await correct(first, { text: '  We meet on Tuesday.\nAt noon.\n' });
    t.same(corrected, { ...first, text: 'We meet on Tuesday.\nAt noon.', heard_text: first.text });
    t.same(await ann.ask('GET', `/turns/${first.id}`), corrected);
    t.same((await recording.turns())[0], corrected);
    const words = await ann.ask<{ words: object[] }>('GET', `/turns/${first.id}?include=words`);
    t.equal(words.words.length, 5, 'words are those that were heard');
    const event = `turn.updated ${first.id} text ${recording.source_id}`;
    t.same(await ann.newEvents(), [event]);
    const revision = async () =>
      (await ann.ask<{ revision: number }>('GET', `/audio/streams/${recording.id}/transcript`)).revision;
    const before = await revision();
    t.same(await correct(first, { text: 'We meet on Tuesday.\nAt noon.' }), corrected);
    t.same([await ann.newEvents(), await revision()], [[], before], 'the same again');
    t.same(await correct(first, { text: null }), first, 'what was heard is back');
    t.same(await ann.newEvents(), [event]);
    t.same(await correct(first, { text: null }), first);
    t.same(await correct(first, { text: first.text }), first, 'what was heard is no correction');
    t.same(await ann.newEvents(), []);
    await correct(first, { text: 'We meet.' });
    t.same(await correct(first, { text: first.text }), first, 'what was heard restores it as well');

    const { id: contact_id } = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Bob' });
    await ann.newEvents();
    t.match(await correct(first, { contact_id, text: 'We meet.' }), {
      contact_id,
      speaker_name: 'Bob',
      text: 'We meet.',
    });
    t.match(await correct(first, { speaker: 'S2', text: null }), { speaker: 'S2', contact_id, text: first.text });
    t.same(await ann.newEvents(), [
      `turn.updated ${first.id} contact_id text ${recording.source_id}`,
      `turn.updated ${first.id} speaker text ${recording.source_id}`,
    ]);
  },
);

await t.test('K-142 a wrong text is refused with its field and its rule', async (t) => {
  const { turns } = await spoken();
  const [first] = turns;
  const max = LIMITS.corrected_text_chars_max;
  const rule = `must be 1 to ${max} characters after trimming`;
  const refused = async (body: object) => {
    const answer = await ann.app.send('PATCH', `/turns/${first.id}`, { body });
    const { error } = JSON.parse(answer.body.toString());
    return [answer.status, error.code, error.message, error.details?.[0]?.path];
  };
  for (const text of ['', ' \n ', 'x'.repeat(max + 1), 5])
    t.same(await refused({ text }), [400, 'BAD_REQUEST', `text: ${rule}.`, 'text']);
  const hidden = 'must not hold control characters, marks of direction or characters without width';
  for (const text of ['a\u0000b', 'Hello \u202ethere', 'To\u200bday', '\u200b', ' \u2060 '])
    t.same(await refused({ text }), [400, 'BAD_REQUEST', `text: ${hidden}.`, 'text'], JSON.stringify(text));
  const family = 'The 👩\u200d👧 say می\u200cخواهم';
  t.equal((await correct(first, { text: family })).text, family, 'joiners stay');
  t.equal((await refused({}))[0], 400);
  t.match(await refused({ contact_id: null, speaker: 'S1', text: 'x' }), [
    ...[400, 'BAD_REQUEST', /^speaker: must not be combined with contact_id/, 'speaker'],
  ]);
  t.equal((await correct(first, { text: '😀'.repeat(max) })).text.length, 2 * max, 'characters are code points');
  t.same(await refused({ speaker: 'S9', text: 'x' }), [
    404,
    'NOT_FOUND',
    'There is no such speaker in this stream.',
    undefined,
  ]);
  t.notMatch(await ann.ask('GET', `/turns/${first.id}`), { text: 'x' }, 'a change is made whole or not at all');
  const eve = await TestAccount.open(spool, 'eve@x.test');
  t.equal(await eve.says('PATCH', `/turns/${first.id}`, { text: 'x' }), '404 NOT_FOUND');
  await ann.ask('DELETE', `/turns/${first.id}`);
  t.equal(await ann.says('PATCH', `/turns/${first.id}`, { text: 'x' }), '404 NOT_FOUND');
});

await t.test('K-143 a corrected text outlives a later run', async (t) => {
  const { recording, turns } = await spoken();
  const rerun = async (again: typeof SAID) => {
    await spool.operator.ask('POST', `/ops/streams/${recording.id}/reprocess`, {});
    return worker.publish(await worker.claim(recording.id), again);
  };
  await correct(turns[0], { text: 'We meet on Tuesday.' });
  await ann.newEvents();
  t.match(await rerun(SAID), { published: { replaced: 0, protected: 1 } });
  t.same(await ann.newEvents(), [], 'heard as before, nothing has changed');
  const other = said('We meet on Tuesday!', [100, 4_100], 'A');
  t.match(await rerun([other, ...SAID.slice(1)]), { published: { replaced: 1, protected: 1 } });
  const [first, second] = await recording.turns();
  t.match(first, { text: 'We meet on Tuesday.', heard_text: 'We meet on Tuesday!' });
  t.equal(second?.id, turns[1].id);
  t.equal(await ann.says('GET', `/turns/${turns[0].id}`), '404 NOT_FOUND');
});

await t.test('K-144 E-006 no event holds a text', async (t) => {
  const { turns } = await spoken();
  await correct(turns[0], { text: 'Marksecret' });
  const all = (await ann.app.send('GET', '/events?limit=100&type=turn.updated')).body.toString();
  t.match(all, /"changed_fields":\["text"\]/);
  for (const text of ['Marksecret', 'choose']) t.notOk(all.includes(text), text);
});

await t.test('K-145 K-105 everything that reads turns has the corrected text at once', async (t) => {
  const { recording, turns } = await spoken();
  const { id } = recording;
  const found = async (q: string) => {
    const { items } = await ann.ask<{ items: { stream_id: string; snippet: { text: string } }[] }>(
      'GET',
      `/search?q=${q}`,
    );
    return items.filter((one) => one.stream_id === id).map(({ snippet }) => snippet.text);
  };
  t.same(await found('choose'), [SAID[0]?.text]);
  await correct(turns[0], { text: 'We meet on Tuesday.\nAt noon.' });
  t.same([await found('choose'), await found('tuesday')], [[], ['We meet on Tuesday.\nAt noon.']]);
  const recalled = await ann.ask<{ items: { turns: Turn[] }[] }>('POST', '/recall', { query: 'When do we meet?' });
  t.ok(recalled.items.some((item) => item.turns.some(({ text }) => text.startsWith('We meet on Tuesday.'))));
  const textAs = async (format: string) =>
    (await ann.app.send('GET', `/audio/streams/${id}/transcript/text?format=${format}`)).body.toString();
  for (const format of ['txt', 'srt', 'vtt']) {
    t.match(await textAs(format), 'We meet on Tuesday. At noon.\n', 'and no text adds a line');
    t.notMatch(await textAs(format), 'choose');
  }
  type Work = { stream_id: string; turns: { text: string }[] };
  let work: Work | undefined;
  await until('a conversation is due', async () => {
    await spool.operator.advanceClock(11_000);
    const asked = { kinds: ['insights'], limit: 20, lease_s: 60 };
    const { items } = await spool.operator.ask<{ items: Work[] }>('POST', '/ops/jobs/claim', asked);
    work = items.find(({ stream_id }) => stream_id === id);
    return work !== undefined;
  });
  t.equal(work?.turns[0]?.text, 'We meet on Tuesday.\nAt noon.', 'engines of insights are told it');
});

await t.test('K-145 a quote follows the corrected text', async (t) => {
  const { recording, turns } = await spoken();
  await makeInsights(ann, recording, { suggestions: [{ text: 'Meet', at: [[0, 4_000]] }] });
  const quote = async () => {
    const { items } = await ann.ask<{ items: Suggestion[] }>('GET', '/suggestions');
    return items.find(({ text }) => text === 'Meet')?.evidence[0]?.quote;
  };
  t.equal(await quote(), turns[0].text);
  await correct(turns[0], { text: 'We meet on Tuesday.' });
  t.equal(await quote(), 'We meet on Tuesday.');
});
