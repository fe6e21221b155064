import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Conversation, Memory, Stream, Suggestion, Turn } from '../../kits/typescript/src/api.js';
import { ROUTES } from '../../routes/index.js';
import { PARAMETERS } from '../../routes/path_parameters.js';
import type { PathParameter } from '../../src/edge/http/route.js';
import { TestAccount } from '../fixtures/account.js';
import { aboutFile } from '../fixtures/importing.js';
import { makeInsights } from '../fixtures/insights.js';
import { TestSpool } from '../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';

/** What belongs to one account is not there for another one: every route that names something in its path, or its body. */

type Page<Item> = { items: Item[] };
type Kind = keyof typeof PARAMETERS;

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
for (const who of [ann, bob]) await who.entitle('developer.tools', true);
const worker = new TestTranscriber(spool);

const recording = await TestRecording.begin(ann);
await recording.add(20_000);
await recording.end();
await worker.publish(await worker.claim(recording.id), [said('I will call Zoe.', [0, 4_000], 'A')]);
await makeInsights(ann, recording, {
  conversation: { title: 'A talk' },
  suggestions: [{ text: 'Call Zoe' }],
  memories: [{ text: 'Zoe is away' }],
});
const made = async (path: string, body: object) => (await ann.ask<{ id: string }>('POST', path, body)).id;
const first = async <Item extends { id: string }>(path: string) =>
  (await ann.ask<Page<Item>>('GET', path)).items[0]?.id as string;
const of = `stream_id=${recording.id}`;
const team = await ann.workspace('Team');
const invited = { email: 'cy@x.test', role: 'member' };
const by_hand = await made('/suggestions', {
  text: 'By hand',
  due_date: '2026-12-07',
  stream_id: recording.id,
  at_ms: 0,
});
await ann.ask('PATCH', `/audio/streams/${recording.id}`, { starred: true, tags: ['Family'] });
const samples = { size_bytes: 4, sha256: 'a'.repeat(64) };

/** One of Ann's of each kind. */
const ANNS: { [Parameter in Kind]?: string } = {
  chunk: await first(`/audio/streams/${recording.id}/chunks`),
  contact: await made('/contacts', { name: 'Zoe' }),
  conversation: await first<Conversation>('/conversations'),
  endpoint: (await ann.ask<{ endpoint: { id: string } }>('POST', '/endpoints', { url: 'https://ann.example/hook' }))
    .endpoint.id,
  export: await made('/me/exports', {}),
  file: (
    await ann.ask<{ file: { id: string } }>('POST', '/files', { name: 'a.txt', media_type: 'text/plain', ...samples })
  ).file.id,
  import: await made('/audio/imports', aboutFile(Buffer.from('abcd'))),
  invitation: await made(`/workspaces/${team.id}/invitations`, invited),
  member: ann.id,
  memory: await first<Memory>('/memories'),
  pipeline: await first('/pipelines'),
  profile_item: await made('/profile/context', { text: 'I build boats.' }),
  share_link: await made(`/audio/streams/${recording.id}/links`, {}),
  source: recording.source_id,
  speaker: 'S1',
  stream: recording.id,
  suggestion: await first<Suggestion>('/suggestions'),
  token: (
    await ann.ask<{ token: { id: string } }>('POST', '/me/tokens', {
      name: 'tool',
      permissions: ['audio:read'],
      expires_at: null,
    })
  ).token.id,
  turn: await first<Turn>(`/turns?${of}`),
  workspace: team.id,
};
/** Their tests make these; each says that they are nobody else's. */
const ELSEWHERE: readonly Kind[] = ['connection', 'delivery', 'device', 'recorder_session', 'day'];

const place = { source_id: recording.source_id, captured_at: '2026-11-01T10:00:00.000Z' };
const bobs_source = (await bob.ask<{ id: string }>('POST', '/sources', { name: 'Desk' })).id;
const bobs = (await bob.ask<Stream>('POST', '/audio/streams', { ...place, source_id: bobs_source })).id;
const bobs_contact = (await bob.ask<{ id: string }>('POST', '/contacts', { name: 'Bo' })).id;
const bobs_pipeline = (await bob.ask<Page<{ id: string }>>('GET', '/pipelines')).items[0]?.id;
const pieces = {
  ...{ source_chunk_ref: randomUUID(), sequence: 9, source_start_ms: 0, publication_start_ms: 0, source_end_ms: 100 },
  ...{ codec: 'pcm_s16le', container: 'wav', ...samples },
};

/** A body with which its owner would be served. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /workspaces/:id': { name: 'Mine' },
  'POST /workspaces/:id/transfer': { account_id: bob.id },
  'PATCH /workspaces/:id/members/:account_id': { role: 'admin' },
  'POST /workspaces/:id/invitations': { email: 'dee@x.test', role: 'member' },
  'PATCH /endpoints/:id': { status: 'disabled' },
  'PATCH /sources/:id': { name: 'Mine' },
  'PATCH /audio/streams/:id': { title: 'Mine', starred: false, tags: [] },
  'POST /audio/streams/:id/end': { end_ms: 20_000 },
  'POST /audio/streams/:id/chunks/intents': pieces,
  'POST /audio/streams/:id/deletions': { from_ms: 0, to_ms: 1_000 },
  'POST /audio/streams/:id/links': {},
  'POST /audio/streams/:id/signals': { signals: [{ ref: 'a', type: 'mark', start_ms: 0, payload: {} }] },
  'PATCH /turns/:id': { text: 'I will not.' },
  'POST /turns/:id/split': { at_ms: 2_000 },
  'PATCH /audio/streams/:id/speakers/:speaker': { contact_id: null },
  'POST /audio/streams/:id/speakers/:speaker/merge': { into: 'S2' },
  'PATCH /contacts/:id': { name: 'Mine' },
  'POST /contacts/:id/merge': { into: bobs_contact },
  'PATCH /conversations/:id': { title: 'Mine' },
  'PATCH /memories/:id': { text: 'Zoe is here' },
  'PATCH /suggestions/:id': { state_version: 1, status: 'completed' },
  'POST /suggestions/:id/review': { state_version: 1, verdict: 'supported' },
  'POST /suggestions/:id/feedback': { rating: 'helpful' },
  'PATCH /audio/streams/:id/summary': { sentences: null },
  'PATCH /profile/context/:id': { text: 'Mine' },
  'PATCH /pipelines/:id': { name: 'Mine' },
  'POST /pipelines/:id/runs': { stream_id: bobs },
  'PATCH /files/:id': { name: 'mine.txt' },
  'POST /debug/streams/:id/reprocess': { kinds: ['insights'] },
};

/** What else an address needs to be understood. */
const QUERIES: Readonly<Record<string, string>> = {
  'PUT /audio/imports/:id/content': `?offset=0&sha256=${samples.sha256}`,
};

const named = ROUTES.public.filter(
  ({ path, credential, dialect = 'rest' }) =>
    path.includes('/:') && dialect === 'rest' && (credential === 'account' || credential === 'app'),
);

function kindOf(parameter: PathParameter | undefined): Kind {
  return Object.keys(PARAMETERS).find((name) => PARAMETERS[name as Kind] === parameter) as Kind;
}

const seenByAnn = async () => {
  const paths = [
    `/audio/streams/${recording.id}?include=tags`,
    `/audio/streams/${recording.id}/transcript`,
    `/audio/streams/${recording.id}/summary`,
    `/suggestions/${by_hand}`,
    ...['conversation', 'memory', 'suggestion'].map(
      (kind) => `/${kind === 'memory' ? 'memories' : `${kind}s`}/${ANNS[kind as Kind]}`,
    ),
    `/contacts/${ANNS.contact}`,
    `/files/${ANNS.file}`,
    `/workspaces/${team.id}/members`,
    ...[
      '/me/calendar',
      '/me/omi',
      '/me/links',
      '/me/due-mail',
      '/profile/context',
      '/pipelines',
      '/endpoints',
      '/me/tokens',
    ],
  ];
  return Promise.all(paths.map(async (path) => [path, await ann.ask('GET', path)]));
};

await ann.ask('POST', '/me/calendar');
await ann.ask('POST', '/me/omi');
const before = await seenByAnn();

await t.test('D-044 there is one of each kind', async (t) => {
  for (const [kind, id] of Object.entries(ANNS)) t.ok(id, kind);
});

for (const { method, path, params = {} } of named) {
  const row = `${method} ${path}`;
  const kinds = Object.values(params).map(kindOf);
  if (kinds.some((kind) => ELSEWHERE.includes(kind))) continue;
  await t.test(`D-044 ${row}: another account's is not there`, async (t) => {
    const url = Object.entries(params).reduce(
      (address, [name, parameter]) => address.replace(`:${name}`, ANNS[kindOf(parameter)] ?? `no ${kindOf(parameter)}`),
      path,
    );
    t.equal(await bob.says(method, url + (QUERIES[row] ?? ''), BODIES[row]), '404 NOT_FOUND');
  });
}

await t.test('D-044 what a body or a query names is not there either', async (t) => {
  const calls: [method: string, path: string, body?: object][] = [
    ['POST', '/audio/streams', place],
    ['POST', '/audio/streams', { ...place, source_id: bobs_source, workspace_id: team.id }],
    ['PATCH', `/audio/streams/${bobs}`, { workspace_id: team.id }],
    ['POST', '/audio/imports', aboutFile(Buffer.from('efgh'), { workspace_id: team.id })],
    ['POST', '/suggestions', { text: 'Mine', stream_id: recording.id, at_ms: 0 }],
    ['POST', `/contacts/${bobs_contact}/merge`, { into: ANNS.contact }],
    ['POST', `/pipelines/${bobs_pipeline}/runs`, { stream_id: recording.id }],
    ['POST', '/turns/speakers', { stream_id: recording.id, count: 2 }],
    ['POST', '/turns/speakers/undo', { stream_id: recording.id }],
    ['POST', '/suggestions/group', { suggestion_ids: [by_hand, ANNS.suggestion] }],
    ['GET', `/turns?${of}`],
    ['GET', `/turns?workspace_id=${team.id}`],
    ['GET', `/audio/streams?workspace_id=${team.id}`],
    ['GET', `/suggestions?workspace_id=${team.id}`],
    ['GET', `/conversations?workspace_id=${team.id}`],
    ['GET', `/memories?workspace_id=${team.id}`],
    ['GET', `/search?q=zoe&${of}`],
    ['GET', `/search?q=zoe&workspace_id=${team.id}`],
  ];
  for (const [method, path, body] of calls)
    t.equal(await bob.says(method, path, body), '404 NOT_FOUND', `${method} ${path.slice(0, 40)}`);
});

await t.test("D-044 no list of one account holds anything of another's", async (t) => {
  const ids = [...Object.values(ANNS), by_hand].filter((id) => id.length > 10);
  const lists = ROUTES.public.filter(
    ({ method, path, credential, dialect = 'rest' }) =>
      method === 'GET' &&
      !path.includes('/:') &&
      dialect === 'rest' &&
      (credential === 'account' || credential === 'app'),
  );
  const queries: Record<string, string> = { '/turns': `?stream_id=${bobs}`, '/search': '?q=zoe' };
  for (const { path } of lists) {
    const answer = await bob.app.send('GET', `${path}${queries[path] ?? ''}`);
    const text = answer.body.toString();
    t.notOk(
      ids.some((id) => text.includes(id)),
      `GET ${path}`,
    );
  }
  for (const query of ['tag=Family', 'starred=true'])
    t.same((await bob.ask<Page<Stream>>('GET', `/audio/streams?${query}`)).items, []);
});

await t.test('D-044 none of these calls has changed anything', async (t) => {
  t.same(await seenByAnn(), before);
});
