import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Contact, Suggestion } from '../../../kits/typescript/src/api.js';
import { insightId, libraryId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { orNull } from '../../../src/domain/refusals.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import { makeInsights, privateWorkspaceOf } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

type Page = { items: Suggestion[]; cursor: string | null };
type Revisions = { items: { revision: number; changed_fields: string[]; item: Suggestion }[]; cursor: string | null };

const UNKNOWN = randomUUID();
const DAY_MS = 24 * 3_600_000;

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);
const listed = async (query = '', who = ann) => {
  const found: Suggestion[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await who.ask('GET', `/suggestions?limit=2${query}${cursor && `&cursor=${cursor}`}`);
    t.ok(page.items.length <= 2);
    found.push(...page.items);
    cursor = page.cursor;
  }
  return found;
};
const textsOf = async (query = '', who = ann) => (await listed(query, who)).map(({ text }) => text);
const one = async (text: string, who = ann) => (await listed('', who)).find((item) => item.text === text) as Suggestion;
/** A recording in which these things are said, five seconds each. */
const spoken = async (who: TestAccount, ...texts: string[]) => {
  const recording = await TestRecording.begin(who);
  await recording.add(20_000);
  await recording.end();
  const work = await worker.claim(recording.id);
  await worker.publish(
    work,
    texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], 'A')),
  );
  return recording;
};

const recording = await spoken(ann, 'I will call Zoë tomorrow.', 'And I will bake bread.', 'Could you sweep?');
const anna = await ann.ask<Contact>('POST', '/contacts', { name: 'Anna' });
const events = () => ann.newEvents();

await t.test('K-072 what a run found is listed with what was said; events name what made it', async (t) => {
  await events();
  const { conversation, run_id } = await makeInsights(ann, recording, {
    suggestions: [
      { text: 'Call Zoë', at: [[0, 4_000]], due_at_ms: Date.parse('2026-12-01T10:00:00.000Z') },
      { text: 'Bake bread', at: [[5_000, 9_000]], roles: { owner_contact_id: anna.id } },
      {
        text: 'Sweep',
        kind: 'question',
        at: [
          [10_000, 11_000],
          [0, 4_000],
        ],
      },
    ],
  });
  const items = await listed();
  t.same(items.map(({ text }) => text).sort(), ['Bake bread', 'Call Zoë', 'Sweep']);
  const turns = await recording.turns();
  const call = await one('Call Zoë');
  t.match(call, {
    ...{ conversation_id: conversation, session_id: null, kind: 'task', status: 'open', group_id: null },
    ...{ due_at: '2026-12-01T10:00:00.000Z', review: null, feedback: { helpful: 0, not_helpful: 0, wrong: 0 } },
    roles: { owner_contact_id: null, requester_contact_id: null },
    evidence: [
      {
        ...{ stream_id: recording.id, source_id: recording.source_id, start_ms: 0, end_ms: 4_000 },
        ...{ turn_ids: [turns[0]?.id], quote: 'I will call Zoë tomorrow.', state: 'available' },
      },
    ],
    ...{ protected_fields: [], state_version: 1, revision: 1, made_by: 'external' },
    workspace_id: await privateWorkspaceOf(ann),
  });
  t.strictSame(await ann.ask('GET', `/suggestions/${call.id}`), call);
  t.equal((await one('Bake bread')).roles.owner_contact_id, anna.id);
  t.equal((await one('Sweep')).evidence.length, 2);
  const created = (await events()).filter((event) => event.startsWith('suggestion.created'));
  t.equal(created.length, 3);
  for (const event of created)
    t.ok(
      [run_id, call.pipeline_id, ' 1'].every((part) => event.includes(part)),
      event,
    );
});

await t.test('K-075 K-076 an edit names the version that was read, and protects what it sets', async (t) => {
  const call = await one('Call Zoë');
  const path = `/suggestions/${call.id}`;
  await spool.operator.advanceClock(1_000);
  const edited = await ann.ask<Suggestion>('PATCH', path, {
    ...{ state_version: 1, text: 'Call Zoë Marksecret', due_at: null, status: 'accepted' },
    roles: { owner_contact_id: anna.id },
  });
  t.match(edited, {
    ...{ text: 'Call Zoë Marksecret', due_at: null, status: 'accepted', state_version: 2, revision: 2 },
    roles: { owner_contact_id: anna.id, requester_contact_id: null },
  });
  t.same([...edited.protected_fields].sort(), ['due_at', 'roles', 'status', 'text']);
  t.same((await textsOf())[0], 'Call Zoë Marksecret', 'the newest change first');
  t.strictSame(await ann.ask('PATCH', path, { state_version: 2, status: 'accepted' }), edited, 'nothing to change');
  const late = await tell(ann.app, 'PATCH', path, { state_version: 1, text: 'x' });
  t.match(late, { status: 409, error: { code: 'CONFLICT', state_version: 2 } });
  t.equal(await ann.says('PATCH', path, { state_version: 2, status: 'withdrawn' }), '409 CONFLICT');
  t.equal(await ann.says('PATCH', path, { state_version: 2, roles: { owner_contact_id: UNKNOWN } }), '404 NOT_FOUND');
  for (const wrong of [
    {},
    { state_version: 0 },
    { state_version: 2, text: '' },
    { state_version: 2, text: 'x'.repeat(501) },
  ])
    t.equal(await ann.says('PATCH', path, wrong), '400 BAD_REQUEST');
  t.same(await events(), [`suggestion.updated ${call.id} text due_at roles status 2 ${call.pipeline_id}`]);
  const revisions = await ann.ask<Revisions>('GET', `${path}/revisions`);
  t.match(revisions, {
    items: [{ revision: 1, replaced_by: 'person', item: { text: 'Call Zoë', status: 'open', revision: 1 } }],
    cursor: null,
  });
});

await t.test('K-180 a day is set and read as a day, and a time takes its place', async (t) => {
  const sweep = await one('Sweep');
  const path = `/suggestions/${sweep.id}`;
  await events();
  t.match(sweep, { due_at: null, due_date: null });
  const on_day = await ann.ask<Suggestion>('PATCH', path, { state_version: 1, due_date: '2026-12-07' });
  t.match(on_day, { due_at: '2026-12-07T12:00:00.000Z', due_date: '2026-12-07' });
  t.same([...on_day.protected_fields].sort(), ['due_at', 'due_date']);
  t.match(await listed('&due_before=2026-12-08T00:00:00Z'), [{ id: sweep.id }]);
  for (const due_date of ['2026-02-30', '7.12.2026', 7]) {
    const told = await tell(ann.app, 'PATCH', path, { state_version: 2, due_date });
    t.match(told, { status: 400, error: { details: [{ path: 'due_date', message: /day of the calendar/ }] } });
  }
  const both = { state_version: 2, due_date: '2026-12-07', due_at: '2026-12-07T09:00:00Z' };
  t.match(await tell(ann.app, 'PATCH', path, both), { status: 400, error: { details: [{ path: 'due_date' }] } });
  const at_nine = await ann.ask<Suggestion>('PATCH', path, { state_version: 2, due_at: '2026-12-07T09:00:00Z' });
  t.match(at_nine, { due_at: '2026-12-07T09:00:00.000Z', due_date: null });
  const at_none = await ann.ask<Suggestion>('PATCH', path, { state_version: 3, due_date: null });
  t.match(at_none, { due_at: null, due_date: null });
  const { items } = await ann.ask<Revisions>('GET', `${path}/revisions`);
  t.match(items.find(({ revision }) => revision === 2)?.item, { due_date: '2026-12-07' });
  t.match(await events(), [/ due_at due_date 2 /, / due_at due_date 3 /, / due_at 4 /]);
});

await t.test('K-183 owners follow the speakers that they are, until a person chooses another', async (t) => {
  const meeting = await TestRecording.begin(ann);
  await meeting.add(20_000);
  await meeting.end();
  await worker.publish(await worker.claim(meeting.id), [
    said('I will count the chairs.', [0, 4_000], 'A'),
    said('And I will paint them.', [5_000, 9_000], 'B'),
    said('I will bring the brushes.', [10_000, 14_000], 'C'),
  ]);
  await makeInsights(ann, meeting, {
    suggestions: [
      { text: 'Count the chairs', at: [[0, 4_000]], owner: 1 },
      { text: 'Paint the chairs', at: [[5_000, 9_000]], owner: 2 },
      { text: 'Bring the brushes', at: [[10_000, 14_000]], owner: 3 },
    ],
  });
  const [zoe, ben] = (await Promise.all(
    ['Zoë', 'Ben'].map((name) => ann.ask<Contact>('POST', '/contacts', { name })),
  )) as [Contact, Contact];
  const ownerOf = async (text: string) => (await one(text)).roles.owner_contact_id;
  const speaker = (label: string) => `/audio/streams/${meeting.id}/speakers/${label}`;
  const changes = async () =>
    (await events()).filter((event) => event.startsWith('suggestion.')).map((event) => event.split(' ')[2]);
  t.equal(await ownerOf('Count the chairs'), null);
  await events();
  await ann.ask('PATCH', speaker('S1'), { contact_id: zoe.id });
  t.equal(await ownerOf('Count the chairs'), zoe.id, 'a speaker is named later');
  t.same(await textsOf(`&contact_id=${zoe.id}`), ['Count the chairs']);
  t.same(await changes(), ['roles']);
  await ann.ask('PATCH', speaker('S1'), { contact_id: zoe.id });
  t.same(await changes(), [], 'once');
  await ann.ask('POST', `${speaker('S2')}/merge`, { into: 'S1' });
  t.equal(await ownerOf('Paint the chairs'), zoe.id, 'speakers are one');
  t.same((await textsOf(`&contact_id=${zoe.id}`)).sort(), ['Count the chairs', 'Paint the chairs']);
  const brushes = await one('Bring the brushes');
  await ann.ask('PATCH', `/suggestions/${brushes.id}`, { state_version: 1, roles: { owner_contact_id: anna.id } });
  await changes();
  await ann.ask('PATCH', speaker('S3'), { contact_id: ben.id });
  t.equal(await ownerOf('Bring the brushes'), anna.id, 'a person chose somebody else');
  t.same(await changes(), []);
  await ann.ask('POST', `/contacts/${zoe.id}/merge`, { into: ben.id });
  t.equal(await ownerOf('Count the chairs'), ben.id);
  t.same((await textsOf(`&contact_id=${ben.id}`)).sort(), ['Count the chairs', 'Paint the chairs']);
  t.same(await changes(), ['roles', 'roles'], 'contacts are one');
  await ann.ask('DELETE', `/contacts/${ben.id}`);
  t.equal(await ownerOf('Paint the chairs'), null);
  t.same(await changes(), ['roles', 'roles'], 'the contact is gone');
  for (const text of ['Count the chairs', 'Paint the chairs', 'Bring the brushes'])
    await ann.app.ask('DELETE', `/suggestions/${(await one(text)).id}`);
  await events();
});

await t.test('K-078 a review is a change that is seen, and feedback is none', async (t) => {
  const bread = await one('Bake bread');
  const path = `/suggestions/${bread.id}`;
  const reviewed = await ann.ask<Suggestion>('POST', `${path}/review`, {
    ...{ state_version: 1, verdict: 'contradicted', note: 'Never saidmark.' },
  });
  t.match(reviewed, { review: { verdict: 'contradicted', note: 'Never saidmark.', at: /Z$/ }, state_version: 2 });
  t.equal(await ann.says('POST', `${path}/review`, { state_version: 1, verdict: 'unclear' }), '409 CONFLICT');
  t.same(await events(), [`suggestion.updated ${bread.id} review 2 ${bread.pipeline_id}`]);
  await spool.operator.advanceClock(1_000);
  const given = await ann.ask<{ id: string }>('POST', `${path}/feedback`, { rating: 'wrong', comment: 'Nomark.' });
  t.match(given, { id: /./, rating: 'wrong', comment: 'Nomark.', created_at: /Z$/ });
  t.equal(await ann.says('POST', `${path}/feedback`, { rating: 'wrong' }), '201');
  t.equal(await ann.says('POST', `${path}/feedback`, { rating: 'bad' }), '400 BAD_REQUEST');
  t.equal(await ann.says('POST', `${path}/feedback`, { rating: 'wrong', comment: 'x'.repeat(501) }), '400 BAD_REQUEST');
  const after = await ann.ask<Suggestion>('GET', path);
  t.match(after, { feedback: { helpful: 0, not_helpful: 0, wrong: 2 }, state_version: 2, revision: 2 });
  t.ok(after.updated_at > reviewed.updated_at, 'it counts as a change for retention');
  t.same(await events(), []);
});

await t.test('K-079 suggestions are grouped and separated', async (t) => {
  const [call, bread, sweep] = [await one('Call Zoë Marksecret'), await one('Bake bread'), await one('Sweep')];
  const group = (ids: string[], group_id?: string) =>
    ann.ask<{ group_id: string; items: Suggestion[] }>('POST', '/suggestions/group', {
      suggestion_ids: ids,
      group_id,
    });
  const grouped = await group([call.id, bread.id]);
  t.same(
    grouped.items.map(({ group_id }) => group_id),
    [grouped.group_id, grouped.group_id],
  );
  t.same((await textsOf(`&group_id=${grouped.group_id}`)).sort(), ['Bake bread', 'Call Zoë Marksecret']);
  await group([sweep.id, call.id], grouped.group_id);
  t.equal((await listed(`&group_id=${grouped.group_id}`)).length, 3);
  t.same(
    (await events()).map((event) => event.split(' ').slice(1, 3)),
    [call, bread, sweep].map(({ id }) => [id, 'group_id']),
    'each that changed',
  );
  const separated = await ann.ask<Page>('POST', '/suggestions/separate', { suggestion_ids: [sweep.id] });
  t.match(separated, { items: [{ id: sweep.id, group_id: null }], cursor: null });
  t.equal((await events()).length, 1);
  const says = (ids: string[], group_id?: string) =>
    ann.says('POST', '/suggestions/group', { suggestion_ids: ids, group_id });
  t.equal(await says([call.id]), '400 BAD_REQUEST');
  t.equal(await says(Array.from({ length: 51 }, () => randomUUID())), '400 BAD_REQUEST');
  t.equal(await says([call.id, UNKNOWN]), '404 NOT_FOUND');
  t.equal(await says([call.id, bread.id], UNKNOWN), '404 NOT_FOUND');
  const { library_id } = await makeInsights(bob, await spoken(bob, 'I will go.'), { suggestions: [{ text: 'Go' }] });
  t.equal(await says([call.id, bread.id], insightId(library_id, 'group', 1)), '404 NOT_FOUND', "another's group");
  t.equal(await says([call.id, (await one('Go', bob)).id]), '404 NOT_FOUND', "another's suggestion");
});

await t.test('K-073 lists show what was asked for', async (t) => {
  const due = async (before: string) => (await textsOf(`&due_before=${before}`)).sort();
  const sweep = await one('Sweep');
  await ann.ask('PATCH', `/suggestions/${sweep.id}`, {
    state_version: sweep.state_version,
    due_at: '2026-11-30T00:00:00Z',
  });
  await events();
  t.same(await due('2026-11-30T00:00:00Z'), []);
  t.same(await due('2026-11-30T00:00:01Z'), ['Sweep']);
  t.same(await textsOf('&status=accepted'), ['Call Zoë Marksecret']);
  t.same((await textsOf('&status=open')).sort(), ['Bake bread', 'Sweep']);
  t.same((await textsOf(`&contact_id=${anna.id}`)).sort(), ['Bake bread', 'Call Zoë Marksecret']);
  t.same((await textsOf(`&owner=${anna.id}`)).sort(), ['Bake bread', 'Call Zoë Marksecret']);
  t.same(await textsOf('&owner=me'), [], 'no contact is the account itself');
  t.same(await textsOf('&kind=decision'), []);
  const sorts = await Promise.all(
    ['task', 'follow_up', 'reminder', 'question'].map((kind) => textsOf(`&kind=${kind}`)),
  );
  t.same(sorts.flat().sort(), (await textsOf()).sort(), 'each is of one sort');
  t.ok(sorts.filter((texts) => texts.length > 0).length > 1);
  t.equal((await listed(`&stream_id=${recording.id}`)).length, 3);
  t.same(await listed(`&stream_id=${UNKNOWN}`), []);
  const other = await ann.ask<Contact>('POST', '/contacts', { name: 'Other' });
  await ann.ask('POST', `/contacts/${anna.id}/merge`, { into: other.id });
  t.equal((await listed(`&contact_id=${other.id}`)).length, 2, 'who became a part of another is that one');
  t.equal((await one('Bake bread')).roles.owner_contact_id, other.id);
  t.equal(await ann.says('GET', `/suggestions?contact_id=${UNKNOWN}`), '404 NOT_FOUND');
  t.equal((await listed(`&workspace_id=${await privateWorkspaceOf(ann)}`)).length, 3);
  t.equal(await ann.says('GET', `/suggestions?workspace_id=${UNKNOWN}`), '404 NOT_FOUND');
  t.same(await listed(`&session_id=${UNKNOWN}`), []);
  t.same(await listed(`&group_id=${UNKNOWN}`), []);
  for (const query of ['status=old', 'kind=joke', 'owner=you', 'stream_id=x', 'due_before=soon', 'contact_id=x'])
    t.equal(await ann.says('GET', `/suggestions?${query}`), '400 BAD_REQUEST', query);
  for (const query of ['limit=0', 'cursor=x'])
    t.equal(await ann.says('GET', `/suggestions?${query}`), '400 BAD_REQUEST', query);
  await events();
});

await t.test('K-257 lists narrow to what was said in a time', async (t) => {
  const saidIn = async (query: string) => (await textsOf(query)).sort();
  const all = await saidIn('');
  const later = await saidIn('&said_from=2026-11-01T10:00:05Z');
  t.same(later, ['Bake bread', 'Sweep']);
  t.same(
    await saidIn('&said_to=2026-11-01T12:00:05%2B02:00'),
    all.filter((text) => !later.includes(text)),
  );
  t.same(await saidIn('&said_from=2026-11-01T10:00:05Z&said_to=2026-11-01T10:00:10Z'), ['Bake bread']);
  t.same(await saidIn('&said_from=2026-11-02T00:00:00Z'), []);
  for (const [query, path] of [
    ['said_from=yesterday', 'said_from'],
    ['said_to=2026-11-01', 'said_to'],
    ['said_from=2026-11-02T00:00:00Z&said_to=2026-11-02T00:00:00Z', 'said_to'],
  ] as const) {
    const { status, error } = await tell(ann.app, 'GET', `/suggestions?${query}`);
    t.match({ status, ...error }, { status: 400, code: 'BAD_REQUEST', details: [{ path }] }, query);
  }
});

await t.test('K-074 what is deleted is gone, and what nobody owns was never there', async (t) => {
  const sweep = await one('Sweep');
  const asked = (who: TestAccount, id: string) => [
    who.says('GET', `/suggestions/${id}`),
    who.says('GET', `/suggestions/${id}/revisions`),
    who.says('PATCH', `/suggestions/${id}`, { state_version: 1, text: 'x' }),
    who.says('POST', `/suggestions/${id}/review`, { state_version: 1, verdict: 'unclear' }),
    who.says('POST', `/suggestions/${id}/feedback`, { rating: 'wrong' }),
    who.says('DELETE', `/suggestions/${id}`),
  ];
  const library_id = libraryId(ann.id, await privateWorkspaceOf(ann));
  for (const [who, id] of [
    [bob, sweep.id],
    [ann, UNKNOWN],
    [ann, insightId(library_id, 'suggestion', 99)],
    [ann, insightId(library_id, 'memory', 1)],
    [ann, 'x'],
  ] as const)
    t.same(new Set(await Promise.all(asked(who, id))), new Set(['404 NOT_FOUND']), id);
  t.equal(await ann.says('DELETE', `/suggestions/${sweep.id}`), '204');
  t.same(new Set(await Promise.all(asked(ann, sweep.id))), new Set(['404 NOT_FOUND']));
  t.same(await events(), [`suggestion.deleted ${sweep.id} ${sweep.pipeline_id}`]);
  t.equal((await listed()).length, 2);
});

await t.test('K-072 E-006 no event says what a suggestion says', async (t) => {
  const all = (await ann.app.send('GET', '/events?limit=100')).body.toString();
  for (const text of ['Zoë', 'Marksecret', 'bread', 'saidmark', 'Nomark', 'Sweep', 'Anna'])
    t.notOk(all.includes(text), text);
});

await t.test('K-010 K-082 K-083 quotes are for whoever reads turns, and go with what was said', async (t) => {
  const tokenOf = async (permissions: string[]) => {
    const body = { name: 'tool', permissions, expires_at: null };
    return bearer(spool, (await ann.ask<{ value: string }>('POST', '/me/tokens', body)).value);
  };
  const reader = await tokenOf(['insights:read']);
  const bread = await one('Bake bread');
  const path = `/suggestions/${bread.id}`;
  const evidenceOf = async (app = ann.app) => (await tell<Suggestion>(app, 'GET', path)).data.evidence[0];
  t.match(await evidenceOf(reader), { turn_ids: [], quote: null, speaker_name: null, state: 'available' });
  const said_by_nobody = { quote: 'And I will bake bread.', turn_ids: { length: 1 }, speaker_name: null };
  t.match(await evidenceOf(), said_by_nobody);
  const ida = await ann.ask<Contact>('POST', '/contacts', { name: 'Ida' });
  await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id: ida.id });
  t.match(await evidenceOf(), { ...said_by_nobody, speaker_name: 'Ida' });
  t.match(await evidenceOf(reader), { speaker_name: null });
  await ann.entitle('transcripts.access', false);
  t.match(await evidenceOf(), { turn_ids: [], quote: null, state: 'available' });
  await ann.entitle('transcripts.access', true);
  t.equal((await reader.send('PATCH', path, { body: { state_version: 2 } })).status, 403);
  const [, second] = await recording.turns();
  await ann.ask('DELETE', `/turns/${second?.id}`);
  t.match(await evidenceOf(), { turn_ids: [], quote: null, state: 'deleted' });
  await ann.newEvents();

  const long = await spoken(ann, `${'word '.repeat(390)}end`, 'Short.');
  await makeInsights(ann, long, { suggestions: [{ text: 'Say it', at: [[0, 9_000]] }] });
  const quote = (await one('Say it')).evidence[0]?.quote ?? '';
  t.same([quote.length, quote.at(-1)], [LIMITS.quote_chars_max, '…']);
  for (const [text, deleted] of [
    ['Say it', `/sources/${long.source_id}`],
    ['Call Zoë Marksecret', `/audio/streams/${recording.id}`],
  ] as const) {
    const { id } = await one(text);
    await ann.ask('DELETE', deleted);
    const evidence = [{ turn_ids: [], quote: null, state: 'deleted' }];
    t.match(await ann.ask('GET', `/suggestions/${id}`), { evidence });
  }
});

await t.test('K-083 I-019 what retention removed reads expired, and what rests on it stays', async (t) => {
  const kept = await spoken(ann, 'I will read on.');
  await makeInsights(ann, kept, { suggestions: [{ text: 'Read on', at: [[0, 4_000]] }] });
  const workspace_id = await privateWorkspaceOf(ann);
  await ann.ask('PATCH', `/workspaces/${workspace_id}`, { retention: { transcripts: { days: 1 } } });
  const { actors, retention } = spool.server.services;
  await until('the sweep knows', async () => {
    const sweep = await orNull(actors.sweep(workspace_id).view(), 'NOT_FOUND');
    return sweep?.retention.transcripts.days === 1;
  });
  await spool.operator.advanceClock(3 * DAY_MS);
  const again = await TestAccount.open(spool, 'ann@x.test');
  await until('it is removed', async () => {
    await retention.worker.look();
    return (await one('Read on', again)).evidence[0]?.state !== 'available';
  });
  const { evidence } = await one('Read on', again);
  t.match(evidence, [{ turn_ids: [], quote: null, state: 'expired' }]);
});
