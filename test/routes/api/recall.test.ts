import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Contact, Suggestion } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { makeInsights } from '../../fixtures/insights.js';
import { OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Item = {
  kind: string;
  score: number;
  stream_id: string | null;
  start_ms: number | null;
  end_ms: number | null;
  started_at: string;
  suggestion: { id: string; text: string; status: string } | null;
  turns: { text: string }[];
  highlights: [number, number][][];
  matched: string[];
};
type Answer = {
  items: Item[];
  cursor: null;
  period: { from: string; to: string } | null;
  period_relaxed: boolean;
};

const DAY_MS = 24 * 3_600_000;
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

t.test('recall', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const worker = new TestTranscriber(spool);
  const now_ms = spool.server.services.clock.now();
  const monday_ms = Date.parse(`${day(now_ms - ((new Date(now_ms).getUTCDay() + 6) % 7) * DAY_MS)}T00:00:00.000Z`);
  /** Wednesday of the week before. */
  const last_week_ms = monday_ms - 5 * DAY_MS + 10 * 3_600_000;
  const records = async (at_ms: number, ...texts: string[]) => {
    const recording = await TestRecording.begin(ann, { captured_at: new Date(at_ms).toISOString() });
    await recording.add(60_000);
    await recording.end();
    await worker.publish(
      await worker.claim(recording.id),
      texts.map((text, at) => said(text, [at * 3_000, at * 3_000 + 2_500], at % 2 === 0 ? 'A' : 'B')),
    );
    return recording;
  };
  const ask = (query: string, more: object = {}) => ann.ask<Answer>('POST', '/recall', { query, ...more });
  const textsOf = ({ turns }: Item) => turns.map(({ text }) => text);

  const old = await records(
    now_ms - 200 * DAY_MS,
    ...[
      'The weather was nice.',
      'The dentist called.',
      'She moved the appointment.',
      'It is on Friday.',
      'Good bye.',
      'Bye.',
    ],
  );
  const recent = await records(
    last_week_ms,
    ...[
      'I bought bread.',
      'I will send the offer to Zoe.',
      'Thank you.',
      'The invoice is late.',
      'The weather was bad.',
    ],
  );

  await t.test('K-107 passages with what was said around them, the words that matched, and no answer', async (t) => {
    const { items, cursor, period } = await ask('When was the dentist appointment moved?', { context_turns: 1 });
    const [first] = items as [Item];
    t.match(first, {
      ...{ kind: 'passage', stream_id: old.id, start_ms: 3_000, end_ms: 11_500, suggestion: null },
      matched: ['dentist', 'appointment', 'moved'],
    });
    t.same(textsOf(first), [
      'The weather was nice.',
      'The dentist called.',
      'She moved the appointment.',
      'It is on Friday.',
      'Good bye.',
    ]);
    t.same([cursor, period, items.length], [null, null, 1]);
    t.same(textsOf((await ask('dentist', { context_turns: 0 })).items[0] as Item), ['The dentist called.']);
    t.same((await ask('giraffe')).items, []);
    t.same((await ask('the dentists', { limit: 1 })).items[0]?.matched, ['dentists'], 'by its stem');
    t.match((await ask('invoyce')).items, [{ matched: ['invoyce'], stream_id: recent.id }], 'by its sound');
  });

  await t.test('K-102 K-107 of equals the newer comes first; from, to and limit bound it', async (t) => {
    const streams = async (more: object = {}) => (await ask('weather', more)).items.map(({ stream_id }) => stream_id);
    const { items } = await ask('weather');
    t.ok((items[0]?.score ?? 0) > 0);
    t.same(new Set(await streams()), new Set([recent.id, old.id]));
    t.same(await streams({ from: new Date(last_week_ms).toISOString() }), [recent.id]);
    t.same(await streams({ to: new Date(last_week_ms).toISOString() }), [old.id]);
    t.equal((await streams({ limit: 1 })).length, 1);
  });

  await t.test('K-343 where words of the query stand in each turn', async (t) => {
    const { items } = await ask('When was the dentist appointment moved?', { context_turns: 1 });
    const { turns, highlights } = items[0] as Item;
    const marked = turns.map(({ text }, at) => highlights[at]?.map(([from, to]) => text.slice(from, to)));
    t.same(marked, [[], ['dentist'], ['moved', 'appointment'], [], []]);
  });

  await t.test('K-342 one recording bounds it', async (t) => {
    const streams = async (more: object) => (await ask('weather', more)).items.map(({ stream_id }) => stream_id);
    for (const { id } of [old, recent]) t.same(await streams({ stream_id: id }), [id]);
    t.same((await ask('invoice', { stream_id: old.id })).items, []);
    t.equal(await ann.says('POST', '/recall', { query: 'x', stream_id: randomUUID() }), '404 NOT_FOUND');
    t.equal(await ann.says('POST', '/recall', { query: 'x', stream_id: 'x' }), '400 BAD_REQUEST');
  });

  await t.test('K-108 a time that the query speaks of binds it', async (t) => {
    const { items, period } = await ask('what did we say about the weather last week');
    t.same(
      items.map(({ stream_id }) => stream_id),
      [recent.id],
    );
    t.same(period, {
      from: `${day(monday_ms - 7 * DAY_MS)}T00:00:00.000Z`,
      to: `${day(monday_ms - DAY_MS)}T23:59:59.999Z`,
    });
    // One in which it is the same day now.
    const is_late = new Date(spool.server.services.clock.now()).getUTCHours() >= 12;
    const elsewhere = await ask('last week', { time_zone: is_late ? 'America/Lima' : 'Asia/Tokyo' });
    t.match(elsewhere.period?.from, is_late ? /T05:00:00\.000Z$/ : /T15:00:00\.000Z$/);
    t.match(
      elsewhere.items,
      [{ kind: 'passage', stream_id: recent.id, matched: [] }],
      'nothing else: what was said then',
    );
    t.equal(elsewhere.items[0]?.turns.length, 5);
    t.same((await ask('what happened last week')).items.length, 1);
  });

  await t.test('K-190 a time that was talked about is searched as words', async (t) => {
    for (const query of ['appointment on Friday', 'Who has the invoice this weekend?', 'bread in December'])
      t.match(await ask(query), { period: null, period_relaxed: false }, query);
    t.same((await ask('appointment on Friday')).items[0]?.stream_id, old.id);
    const near = await ask('weather last week');
    t.same([near.items[0]?.stream_id, near.period], [recent.id, null], 'what was said then comes first');
    const other = await ask('weather 200 days ago');
    t.same([other.items[0]?.stream_id, other.period], [old.id, null]);
  });

  await t.test('K-191 nothing in a period: asked again without it, and the answer says so', async (t) => {
    const relaxed = await ask('what did we say about the dentist yesterday');
    t.match(relaxed, { period_relaxed: true, period: { to: /T23:59:59\.999Z$/ } });
    t.same(
      relaxed.items.map(({ stream_id }) => stream_id),
      [old.id],
    );
    t.match(await ask('what did we say about bread last week'), { period_relaxed: false });
    t.match(await ask('what was said yesterday'), { items: [], period_relaxed: false }, 'there is nothing to look for');
    const bounds = { from: new Date(now_ms - DAY_MS).toISOString() };
    t.same((await ask('what did we say about the dentist yesterday', bounds)).items, [], 'from and to bind');
  });

  await t.test('K-109 a contact that is named has said it', async (t) => {
    const zoe = await ann.ask<Contact>('POST', '/contacts', { name: 'Zoe Miller' });
    await ann.ask('PATCH', `/audio/streams/${recent.id}/speakers/S1`, { contact_id: zoe.id });
    const { items } = await ask('what did Zoe say about bread', { context_turns: 0 });
    t.same(textsOf(items[0] as Item), ['I bought bread.']);
    t.same(items[0]?.matched, ['zoe', 'bread']);
    const only = await ask('weather', { contact_ids: [zoe.id] });
    t.same(
      only.items.map(({ stream_id }) => stream_id),
      [recent.id],
    );
    t.equal(await ann.says('POST', '/recall', { query: 'x', contact_ids: [randomUUID()] }), '404 NOT_FOUND');
  });

  await t.test('K-110 what was promised is found with the moment in which it was', async (t) => {
    const self = await ann.ask<Contact>('POST', '/contacts', { name: 'Ann', is_self: true });
    const owner = { owner_contact_id: self.id };
    await makeInsights(ann, recent, {
      suggestions: [
        { text: 'Send the offer', at: [[3_000, 5_500]], roles: owner },
        { text: 'Pay the invoice', at: [[9_000, 11_500]] },
        { text: 'Ask about bread', kind: 'question', at: [[0, 2_500]] },
      ],
    });
    const suggestionsOf = ({ items }: Answer) => items.flatMap(({ suggestion }) => suggestion?.text ?? []);
    const answer = await ask('What did I promise last week?', { context_turns: 1 });
    t.same(suggestionsOf(answer), ['Send the offer', 'Pay the invoice'], 'tasks, the own first');
    t.match(answer.items[0], {
      ...{ kind: 'suggestion', stream_id: recent.id, start_ms: 3_000, end_ms: 5_500, matched: ['promise'] },
      started_at: new Date(last_week_ms + 3_000).toISOString(),
      turns: [{ text: 'I bought bread.' }, { text: 'I will send the offer to Zoe.' }, { text: 'Thank you.' }],
    });
    const bread = await ask('who bought bread', { context_turns: 1 });
    t.same([bread.items[0]?.kind, bread.items.at(-1)?.kind], ['passage', 'suggestion'], 'the same speech once more');
    t.same(suggestionsOf(await ask('what is there to do')).sort(), ['Pay the invoice', 'Send the offer']);
    t.ok(suggestionsOf(await ask('which questions were asked')).includes('Ask about bread'));
    const all = (await ann.ask<{ items: Suggestion[] }>('GET', '/suggestions')).items;
    const offer = all.find(({ text }) => text === 'Send the offer') as Suggestion;
    const { state_version } = offer;
    await ann.ask('PATCH', `/suggestions/${offer.id}`, { state_version, status: 'dismissed' });
    t.same(
      suggestionsOf(await ask('What did I promise last week?')),
      ['Pay the invoice'],
      'dismissed ones are left out',
    );
    const searched = await ann.ask<{ items: unknown[] }>('GET', '/search?q=send+offer&kind=suggestion');
    t.equal(searched.items.length, 1, 'a search finds them');
  });

  await t.test('K-103 what is wrong is named', async (t) => {
    const wrong = async (body: object) => {
      const answer = await ann.app.send('POST', '/recall', { body });
      const { error } = JSON.parse(answer.body.toString()) as {
        error: { details: { path: string; message: string }[] };
      };
      return `${answer.status} ${error.details.map(({ path, message }) => `${path} ${message}`).join()}`;
    };
    t.equal(await wrong({}), '400 query must be a question');
    t.equal(await wrong({ query: '?!' }), '400 query must have a word to look for');
    t.equal(await wrong({ query: 'x'.repeat(1_001) }), '400 query must have at most 1000 characters');
    t.match(await wrong({ query: 'x', time_zone: 'Mars/Base' }), /^400 time_zone must be the name of a time zone/);
    t.equal(await wrong({ query: 'x', limit: 21 }), '400 limit must be a whole number from 1 to 20');
    t.equal(await wrong({ query: 'x', context_turns: 11 }), '400 context_turns must be a whole number from 0 to 10');
    t.equal(await wrong({ query: 'x', contact_ids: [] }), '400 contact_ids must be 1 to 20 contacts');
  });

  await t.test('K-015 C-103 C-107 both permissions together, or recall:read', async (t) => {
    for (const [scope, status] of [
      ['turns:read', 403],
      ['insights:read', 403],
      ['turns:read insights:read', 200],
      ['recall:read', 200],
    ] as const) {
      const { access_token } = await OauthApp.first(spool, 'svc-ios').signInNatively(ann.email, { scope });
      const answer = await bearer(spool, access_token).send('POST', '/recall', { body: { query: 'bread' } });
      t.equal(answer.status, status, scope);
      if (status === 200)
        t.match(JSON.parse(answer.body.toString()).data.items[0].turns[0], { speaker_name: 'Zoe Miller' });
    }
  });
});
