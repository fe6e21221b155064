import t from 'tap';
import type { Day, Suggestion } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import { makeInsights } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);

/** Two minutes in which something is said at the beginning and in the second minute. */
const recorded = async (captured_at: string, name: string) => {
  const recording = await TestRecording.begin(ann, { captured_at });
  await recording.add(120_000);
  await recording.end();
  const turns = [said(`This is ${name}.`, [0, 4_000], 'A'), said('I will call.', [90_000, 94_000], 'A')];
  for (const turn of turns) {
    const work = await worker.claim(recording.id);
    await worker.publish(
      work,
      turns.filter(({ start_ms }) => start_ms >= work.from_ms && start_ms < work.to_ms),
    );
    if (work.to_ms > turn.end_ms && work.to_ms >= 120_000) break;
  }
  await makeInsights(ann, recording, {
    span: [0, 120_000],
    conversation: { title: `About ${name}` },
    suggestions: [
      { text: `Decide on ${name}`, kind: 'decision', at: [[0, 4_000]] },
      { text: `Call about ${name}`, at: [[90_000, 94_000]] },
    ],
  });
  return recording;
};
const read = (date: string, query = '', who = ann) => who.ask<Day>('GET', `/days/${date}${query}`);
const textsOf = (items: Suggestion[]) => items.map(({ text }) => text);
const titlesOf = ({ recordings }: Day) => recordings.map(({ title_suggested }) => title_suggested);

const late = await recorded('2026-11-01T22:30:00.000Z', 'late');
await recorded('2026-11-01T22:59:00.000Z', 'midnight');
await recorded('2026-11-01T23:30:00.000Z', 'early');

await t.test('K-186 a day begins and ends by the zone of the profile, or the one that is named', async (t) => {
  t.same(titlesOf(await read('2026-11-01')), ['About late', 'About midnight', 'About early'], 'UTC without a zone');
  await ann.ask('PATCH', '/profile', { revision: 0, time_zone: 'Europe/Vienna' });
  const [first, second] = [await read('2026-11-01'), await read('2026-11-02')];
  t.same(titlesOf(first), ['About late', 'About midnight']);
  t.same(titlesOf(second), ['About midnight', 'About early'], 'what goes on over midnight is of both days');
  t.match(second, { date: '2026-11-02', time_zone: 'Europe/Vienna', from: '2026-11-01T23:00:00.000Z', complete: true });
  t.match(second.recordings[1], { end_ms: 120_000, first_line: 'This is early.' });
  t.same(titlesOf(await read('2026-11-02', '?time_zone=UTC')), []);
  t.same((await read('2026-11-02', '', bob)).recordings, []);
});

await t.test('K-186 what was said is of the day on which it was said', async (t) => {
  const [first, second] = [await read('2026-11-01'), await read('2026-11-02')];
  t.same(textsOf(first.decisions), ['Decide on late', 'Decide on midnight']);
  t.same(textsOf(first.tasks_made), ['Call about late']);
  t.same(textsOf(second.decisions), ['Decide on early']);
  t.same(textsOf(second.tasks_made), ['Call about midnight', 'Call about early']);
});

await t.test('K-180 K-186 what is due that day, and what is overdue and not done', async (t) => {
  const at = (text: string) => Date.parse(text);
  await makeInsights(ann, late, {
    span: [0, 120_000],
    suggestions: [
      { text: 'On the day', due_at_ms: at('2026-11-05T11:00:00Z'), due_date: '2026-11-05' },
      { text: 'Just after midnight', due_at_ms: at('2026-11-04T23:10:00Z') },
      { text: 'Just before', due_at_ms: at('2026-11-04T22:50:00Z') },
      { text: 'The day before', due_at_ms: at('2026-11-04T11:00:00Z'), due_date: '2026-11-04' },
      { text: 'Later', due_at_ms: at('2026-11-06T11:00:00Z') },
      { text: 'At no time' },
    ],
  });
  const day = await read('2026-11-05');
  t.same(textsOf(day.tasks_due), ['Just after midnight', 'On the day']);
  t.same(textsOf(day.tasks_overdue), ['The day before', 'Just before']);
  const set = async (status: string, { id, state_version }: Suggestion | undefined = {} as Suggestion) =>
    ann.ask('PATCH', `/suggestions/${id}`, { state_version, status });
  await set('completed', day.tasks_due[0]);
  await set('dismissed', day.tasks_due[1]);
  await set('completed', day.tasks_overdue[0]);
  await set('accepted', day.tasks_overdue[1]);
  const then = await read('2026-11-05');
  t.same(textsOf(then.tasks_due), ['Just after midnight']);
  t.same(textsOf(then.tasks_overdue), ['Just before']);
});

await t.test('K-186 what is no day, no zone, and who may not', async (t) => {
  for (const date of ['2026-02-30', 'today', '2026-11-2'])
    t.match(await tell(ann.app, 'GET', `/days/${date}`), { status: 400, error: { details: [{ path: 'date' }] } }, date);
  const wrong = await tell(ann.app, 'GET', '/days/2026-11-02?time_zone=Nowhere/Town');
  t.match(wrong, { status: 400, error: { details: [{ path: 'time_zone' }] } });
  for (const permissions of [['turns:read'], ['insights:read']]) {
    const made = await ann.ask<{ value: string }>('POST', '/me/tokens', { name: 'x', permissions, expires_at: null });
    t.equal((await bearer(spool, made.value).send('GET', '/days/2026-11-02')).status, 403);
  }
});
