import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Contact, SearchHit, Suggestion, Turn } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { makeInsights, privateWorkspaceOf } from '../../fixtures/insights.js';
import { OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

type Page = { items: SearchHit[]; cursor: string | null };

const UNKNOWN = randomUUID();

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);
const pageOf = (q: string, query = '', app: AppClient = ann.app) =>
  app.ask<Page>('GET', `/search?q=${encodeURIComponent(q)}${query}`);
const found = async (q: string, query = '', app: AppClient = ann.app) => {
  const { items, cursor } = await pageOf(q, query, app);
  t.equal(cursor, null, `all of ${q}`);
  return items.map(({ snippet }) => snippet.text);
};
const marked = ({ snippet: { text, highlights } }: SearchHit) => highlights.map(([from, to]) => text.slice(from, to));
/** A recording in which these are said, five seconds each, by A and B in turns. */
const spoken = async (recording: TestRecording, ...texts: string[]) => {
  await recording.add(20_000);
  await recording.end();
  await worker.publish(
    await worker.claim(recording.id),
    texts.map((text, at) => said(text, [at * 5_000, at * 5_000 + 4_000], at % 2 === 0 ? 'A' : 'B')),
  );
  return recording;
};
const records = async (captured_at: string, ...texts: string[]) =>
  spoken(await TestRecording.begin(ann, { captured_at }), ...texts);
const turnOf = async (recording: TestRecording, text: string) =>
  (await recording.turns()).find((turn) => turn.text.includes(text)) as Turn;

const garden = await records(
  '2026-11-01T10:00:00.000Z',
  'The garden needs a new fence.',
  'I will paint that fence on Saturday, says Schmidt.',
  'The budget is two hundred euros.',
);
const kitchen = await records('2026-11-02T10:00:00.000Z', 'We painted the kitchen.', 'The fence can wait.');

await t.test('K-097 K-099 words, stems, phrases, exclusions, neighbours and sounds', async (t) => {
  t.same(await found('kitchen'), ['We painted the kitchen.']);
  t.same(await found('garden budget'), [], 'two turns apart');
  t.same(await found('budget paint'), [
    'The budget is two hundred euros.',
    'I will paint that fence on Saturday, says Schmidt.',
  ]);
  t.same(
    (await found('painting')).sort(),
    ['I will paint that fence on Saturday, says Schmidt.', 'We painted the kitchen.'],
    'by its stem',
  );
  t.same(await found('"the fence"'), ['The fence can wait.']);
  t.same(await found('fence -wait -"new fence"'), ['I will paint that fence on Saturday, says Schmidt.']);
  t.same(await found('smith'), []);
  t.same(await found('smith', '&fuzzy=1'), ['I will paint that fence on Saturday, says Schmidt.'], 'by its sound');
  const { items } = await pageOf('"that fence" painted');
  t.same(items.map(marked), [['paint', 'that', 'fence']]);
});

await t.test('K-098 a word that nothing has yet finds words that begin with it, while it is the last', async (t) => {
  t.same(await found('kitc'), ['We painted the kitchen.']);
  t.same((await pageOf('painted kitc')).items.map(marked), [['painted', 'kitchen']]);
  t.same((await found('Budg')).length, 1);
  for (const q of ['kit', 'kitc ', '"kitc"', 'kitc painted', 'kitw']) t.same(await found(q), [], q);
  t.same((await found('pain')).sort(), (await found('paint')).sort(), 'by beginning as by the word');
  const walked: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await pageOf('pain', `&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
    walked.push(...page.items.map(({ snippet }) => snippet.text));
    cursor = page.cursor;
  }
  t.same(walked, await found('pain'), 'page by page');
});

await t.test('K-100 a hit says where it is', async (t) => {
  const [hit] = (await pageOf('schmidt')).items;
  const turn = await turnOf(garden, 'Schmidt');
  const { id, stream_id, source_id, start_ms, started_at, contact_id, speaker_name } = turn;
  t.match(hit, { kind: 'turn', id, stream_id, source_id, start_ms, started_at, contact_id, speaker_name });
  t.same(await ann.ask('GET', `/turns/${hit?.id}`), turn);
});

await t.test('K-101 K-102 filters and the order', async (t) => {
  const texts = ['The garden needs a new fence.', 'The fence can wait.'];
  const [early, late] = texts as [string, string];
  t.same(await found('fence -saturday', '&sort=recent'), [late, early]);
  t.same(await found('fence -saturday', '&to=2026-11-01T23:00:00Z'), [early]);
  t.same(await found('fence -saturday', '&from=2026-11-02T10:00:05Z'), [late]);
  t.same(await found('fence -saturday', `&source_id=${kitchen.source_id}`), [late]);
  t.same(await found('fence', '&kind=suggestion'), []);
  t.same(await found('fence', `&session_id=${UNKNOWN}`), []);
  const anna = await ann.ask<Contact>('POST', '/contacts', { name: 'Anna' });
  await ann.ask('PATCH', `/turns/${(await turnOf(kitchen, 'wait')).id}`, { contact_id: anna.id });
  const ben = await ann.ask<Contact>('POST', '/contacts', { name: 'Ben' });
  await ann.ask('PATCH', `/turns/${(await turnOf(garden, 'new fence')).id}`, { contact_id: ben.id });
  t.match((await pageOf('wait')).items, [{ contact_id: anna.id, speaker_name: 'Anna' }]);
  t.same(await found('fence', `&contact_id=${anna.id}`), [late]);
  const other = await ann.ask<Contact>('POST', '/contacts', { name: 'Annie' });
  await ann.ask('POST', `/contacts/${anna.id}/merge`, { into: other.id });
  t.same(await found('fence', `&contact_id=${other.id}`), [late], 'who it is now');
  t.match((await pageOf('wait')).items, [{ contact_id: other.id, speaker_name: 'Annie' }]);
});

await t.test('K-342 a search of one recording finds its turns alone', async (t) => {
  t.same(await found('fence', `&stream_id=${kitchen.id}`), ['The fence can wait.']);
  t.equal((await found('fence', `&stream_id=${garden.id}`)).length, 2);
  t.same(await found('kitchen', `&stream_id=${garden.id}`), []);
  t.same(await found('fence', `&stream_id=${garden.id}&kind=suggestion`), [], 'turns alone');
  const empty = await TestRecording.begin(ann, { captured_at: '2026-11-04T10:00:00.000Z' });
  t.same(await found('fence', `&stream_id=${empty.id}`), [], 'nothing was said in it');
  t.equal(await bob.says('GET', `/search?q=fence&stream_id=${garden.id}`), '404 NOT_FOUND');
  t.equal(await bob.says('POST', '/recall', { query: 'fence', stream_id: garden.id }), '404 NOT_FOUND');
  await ann.ask('DELETE', `/audio/streams/${empty.id}`);
});

await t.test('K-103 what is wrong is named', async (t) => {
  const wrong = async (query: string) => {
    const answer = await ann.app.send('GET', `/search?${query}`);
    const { error } = JSON.parse(answer.body.toString()) as {
      error: { code: string; details?: { path: string; message: string }[] };
    };
    return `${answer.status} ${error.details?.map(({ path, message }) => `${path} ${message}`).join() ?? error.code}`;
  };
  t.equal(await wrong(''), '400 q must be what to look for');
  t.equal(await wrong('q=%20-no'), '400 q must have a word to look for');
  t.equal(await wrong(`q=${'x'.repeat(257)}`), '400 q must have at most 256 characters');
  t.match(await wrong('q=x&kind=turn,thing'), /^400 kind\S* must be names of turn, /);
  t.equal(await wrong('q=x&fuzzy=yes'), '400 fuzzy must be 0 or 1');
  t.equal(await wrong('q=x&cursor=abc'), '400 cursor must be a cursor that this list returned');
  const cursor = (await pageOf('fence', '&limit=1')).cursor;
  t.equal(await wrong(`q=fence&limit=1&sort=recent&cursor=${cursor}`).then((says) => says.slice(0, 10)), '400 cursor');
  for (const name of ['source_id', 'stream_id', 'contact_id', 'workspace_id', 'pipeline_id'])
    t.equal(await wrong(`q=x&${name}=${UNKNOWN}`), '404 NOT_FOUND', name);
});

await t.test('K-104 pages are a partition, while others are said, changed and deleted', async (t) => {
  const many = await records(
    '2026-11-03T10:00:00.000Z',
    ...Array.from({ length: 4 }, (_, at) => `Lantern number ${at}.`),
  );
  const seen: string[] = [];
  let cursor: string | null = '';
  for (let page = 0; cursor !== null; page++) {
    const next: Page = await pageOf('lantern', `&limit=1${cursor && `&cursor=${cursor}`}`);
    seen.push(...next.items.map(({ snippet }) => snippet.text));
    cursor = next.cursor;
    if (page === 0) await records('2026-11-04T10:00:00.000Z', 'Lantern lantern lantern.', 'One more lantern.');
    if (page === 1) await ann.ask('DELETE', `/turns/${(await turnOf(many, 'number 0')).id}`);
  }
  t.equal(new Set(seen).size, seen.length, 'nothing twice');
  for (const text of ['Lantern number 1.', 'Lantern number 2.', 'Lantern number 3.']) t.ok(seen.includes(text), text);
});

await t.test('K-105 every change is found in the next search', async (t) => {
  const one = await records('2026-11-05T10:00:00.000Z', 'A zebra and a tiger met.', 'Nobody saw the tiger.');
  t.same(await found('zebra tiger'), ['A zebra and a tiger met.', 'Nobody saw the tiger.']);
  const turn = await turnOf(one, 'zebra');
  await ann.ask('POST', `/turns/${turn.id}/split`, { at_ms: 1_300 });
  t.same((await found('zebra')).sort(), ['A zebra'], 'split');
  t.same(await found('"a tiger"'), ['and a tiger met.']);
  await ann.ask('DELETE', `/turns/${turn.id}`);
  t.same(await found('zebra'), [], 'deleted');
  const contact = await ann.ask<Contact>('POST', '/contacts', { name: 'Tom' });
  await ann.ask('PATCH', `/audio/streams/${one.id}/speakers/S2`, { contact_id: contact.id });
  t.same(await found('tiger', `&contact_id=${contact.id}`), ['Nobody saw the tiger.'], 'a speaker has a name');
  await ann.ask('POST', `/audio/streams/${one.id}/speakers/S1/merge`, { into: 'S2' });
  t.same((await found('tiger', `&contact_id=${contact.id}`)).length, 2, 'two are one');
  await ann.ask('DELETE', `/sources/${one.source_id}`);
  t.same(await found('tiger'), [], 'its source is deleted');
  const two = await records('2026-11-06T10:00:00.000Z', 'A walrus sang.');
  t.same(await found('walrus'), ['A walrus sang.']);
  await ann.ask('DELETE', `/audio/streams/${two.id}`);
  t.same(await found('walrus'), [], 'the recording is deleted');
});

await t.test('K-100 K-101 suggestions, and what only developers list', async (t) => {
  const task = { owner_contact_id: (await ann.ask<Contact>('POST', '/contacts', { name: 'Zoë' })).id };
  await makeInsights(ann, garden, {
    conversation: { title: 'Planning the greenhouse', topics: ['gardening'] },
    suggestions: [{ text: 'Buy greenhouse paint', at: [[5_000, 9_000]], roles: task }],
    memories: [{ text: 'The greenhouse is old', at: [[0, 4_000]] }],
  });
  const { items } = await pageOf('greenhouse');
  t.match(items, [
    {
      ...{ kind: 'suggestion', snippet: { text: 'Buy greenhouse paint', highlights: [[4, 14]] } },
      ...{ stream_id: garden.id, start_ms: 5_000, started_at: '2026-11-01T10:00:05.000Z', speaker_name: 'Zoë' },
    },
  ]);
  const all = '&kind=turn,suggestion,conversation,memory';
  t.equal(await ann.says('GET', `/search?q=greenhouse${all}`), '403 FORBIDDEN');
  await ann.entitle('developer.tools', true);
  t.same((await found('greenhouse', all)).sort(), [
    'Buy greenhouse paint',
    'Planning the greenhouse\ngardening',
    'The greenhouse is old',
  ]);
  const [first] = (await ann.ask<{ items: Suggestion[] }>('GET', '/suggestions')).items as [Suggestion];
  const { state_version } = first;
  await ann.ask('PATCH', `/suggestions/${first.id}`, { state_version, text: 'Buy blue paint' });
  t.same([await found('greenhouse'), await found('"blue paint"')], [[], ['Buy blue paint']], 'edited');
  await ann.ask('DELETE', `/suggestions/${first.id}`);
  t.same(await found('"blue paint"'), [], 'deleted');
  await ann.entitle('developer.tools', false);
});

await t.test('K-106 members search a shared workspace; nobody else finds anything of others', async (t) => {
  t.same(await found('fence', '', bob.app), []);
  const team = await ann.workspace('Team');
  await ann.bring(team.id, [bob]);
  const { source_id } = garden;
  const captured_at = '2026-11-07T10:00:00.000Z';
  const shared = await TestRecording.inWorkspace(ann, { workspace_id: team.id, source_id, captured_at });
  await spoken(shared, 'A quokka smiled.');
  const anna = await ann.ask<Contact>('POST', '/contacts', { name: 'Quinn' });
  await ann.ask('PATCH', `/audio/streams/${shared.id}/speakers/S1`, { contact_id: anna.id });
  await until('the workspace knows who records there', async () => {
    return (await pageOf('quokka', `&workspace_id=${team.id}`, bob.app)).items.length === 1;
  });
  t.match((await pageOf('quokka', `&workspace_id=${team.id}`, bob.app)).items, [
    { contact_id: null, speaker_name: 'Quinn' },
  ]);
  t.same(await found('quokka', '', bob.app), ['A quokka smiled.'], 'without naming it');
  t.same(await found('quokka', `&stream_id=${shared.id}`, bob.app), ['A quokka smiled.'], 'in that recording');
  t.same(await found('quokka'), ['A quokka smiled.'], 'her own, of all workspaces');
  const asked = { query: 'Did a quokka smile?' };
  t.match(await bob.ask('POST', '/recall', asked), { items: [{ stream_id: shared.id }] });
  t.same(await found('fence', '', bob.app), [], 'nothing of her private workspace');
  await ann.ask('DELETE', `/workspaces/${team.id}/members/${bob.id}`);
  t.equal(await bob.says('GET', `/search?q=quokka&workspace_id=${team.id}`), '404 NOT_FOUND');
  t.same(await found('quokka', '', bob.app), [], 'he has left');
  t.equal(await bob.says('GET', `/search?q=quokka&stream_id=${shared.id}`), '404 NOT_FOUND');
  t.match(await bob.ask('POST', '/recall', asked), { items: [] });
});

await t.test('K-015 C-103 C-107 both permissions together, or recall:read', async (t) => {
  const says = async (scope: string) => {
    const { access_token } = await OauthApp.first(spool, 'svc-ios').signInNatively(ann.email, { scope });
    const answers = [
      await bearer(spool, access_token).send('GET', '/search?q=fence'),
      await bearer(spool, access_token).send('GET', '/turns'),
      await bearer(spool, access_token).send('GET', '/suggestions'),
    ];
    return answers.map(({ status }) => status).join(' ');
  };
  t.equal(await says('turns:read'), '403 200 403');
  t.equal(await says('insights:read'), '403 403 200');
  t.equal(await says('turns:read insights:read'), '200 200 200');
  t.equal(await says('recall:read'), '200 403 403', 'and nothing else');
  const recall = await OauthApp.first(spool, 'svc-ios').signInNatively(ann.email, { scope: 'recall:read' });
  const app = bearer(spool, recall.access_token);
  t.equal((await app.send('GET', '/search?q=x&kind=memory')).status, 403);
  t.match((await pageOf('wait', '', app)).items, [{ speaker_name: 'Annie' }], 'with who said it');
  for (const layer of ['transcripts.access', 'insights.access']) {
    await ann.entitle(layer, false);
    t.equal((await app.send('GET', '/search?q=x')).status, 403, `without ${layer}`);
    t.equal(await ann.says('GET', '/search?q=x'), '403 FORBIDDEN', `nor with an app session`);
    await ann.entitle(layer, true);
  }
});

await t.test('K-105 what retention removes is found no more', async (t) => {
  t.same(await found('budget'), ['The budget is two hundred euros.']);
  const workspace_id = await privateWorkspaceOf(ann);
  await ann.ask('PATCH', `/workspaces/${workspace_id}`, { retention: { transcripts: { days: 1 } } });
  await spool.operator.advanceClock(0);
  await spool.operator.advanceClock(3 * 24 * 3_600_000);
  ann.app.access_token = (await spool.signIn(ann.email)).session.access_token;
  await until('all turns are removed', async () => {
    await spool.server.services.retention.worker.look();
    return (await ann.ask<{ items: Turn[] }>('GET', `/turns?workspace_id=${workspace_id}`)).items.length === 0;
  });
  t.same(await found('budget'), []);
});
