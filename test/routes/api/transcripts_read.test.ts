import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Turn } from '../../../kits/typescript/src/api.js';
import { ROUTES } from '../../../routes/index.js';
import { writeCursor } from '../../../src/access/cursors.js';
import { turnId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer, tell } from '../../fixtures/answers.js';
import type { AppClient } from '../../fixtures/app_client.js';
import { OauthApp } from '../../fixtures/oauth.js';
import { TestSpool } from '../../fixtures/spool.js';
import { type Said, said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

type Page = { items: Turn[]; cursor: string | null };

const UNKNOWN = randomUUID();
const PAGE_MS = LIMITS.transcript_page_ms;

/** Every route of the layer, as the table of routes has it. */
const LAYER = ROUTES.public.filter(
  ({ method, path }) =>
    path.startsWith('/turns') ||
    path.startsWith('/contacts') ||
    path.startsWith('/audio/streams/:id/transcript') ||
    path.startsWith('/audio/streams/:id/speakers') ||
    (method === 'DELETE' && path === '/audio/streams/:id'),
);

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const bob = await TestAccount.open(spool, 'bob@x.test');
const worker = new TestTranscriber(spool);
const transcribe = async (recording: TestRecording, spoken: Said[]) =>
  worker.publish(await worker.claim(recording.id), spoken);
/** Ten turns in two pages of the timeline; one of the first reaches into the second. */
const tenTurns = async (name: string, recording: TestRecording) => {
  await recording.add(5_000);
  await recording.add(5_000, { from_ms: PAGE_MS - 2_000 });
  await recording.end();
  const at = (first: number, begin_ms: number, count: number) =>
    Array.from({ length: count }, (_, n) =>
      said(`${name} ${first + n}`, [begin_ms + n * 300, begin_ms + n * 300 + 200], 'A'),
    );
  const reaching = said(`${name} 4`, [PAGE_MS - 1_500, PAGE_MS + 1_500]);
  await transcribe(recording, [...at(0, 0, 4), reaching, ...at(5, PAGE_MS - 1_000, 2)]);
  await transcribe(recording, at(7, PAGE_MS + 1_000, 3));
  return recording;
};

const first = await tenTurns('first', await TestRecording.begin(ann));
const second = await tenTurns(
  'second',
  await TestRecording.begin(ann, { captured_at: '2026-11-02T10:00:00.000Z', source_id: first.source_id }),
);
const third = await tenTurns('third', await TestRecording.begin(ann, { captured_at: '2026-11-03T10:00:00.000Z' }));
const textsOf = (name: string) => Array.from({ length: 10 }, (_, n) => `${name} ${n}`);
const list = async (query: string) => (await ann.ask<Page>('GET', `/turns?limit=100&${query}`)).items;
const texts = async (query: string) => (await list(query)).map(({ text }) => text);
const newest = ['third', 'second', 'first'].flatMap((name) => textsOf(name).reverse());
const [turn] = (await list(`stream_id=${first.id}`)) as [Turn];

/** What comes of a list, page by page. */
const walk = async (query: string, limit: number) => {
  const found: string[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null; pages++) {
    if (pages > 100) throw new Error('pages without end');
    const page: Page = await ann.ask('GET', `/turns?limit=${limit}&${query}${cursor && `&cursor=${cursor}`}`);
    if (page.items.length > limit) throw new Error('a page is too long');
    found.push(...page.items.map(({ id }) => id));
    cursor = page.cursor;
  }
  return found;
};

await t.test('K-025 one stream in its order, many with the newest first', async (t) => {
  t.same(await texts(`stream_id=${first.id}`), textsOf('first'));
  t.same(await texts(''), newest);
  t.same(await texts(`source_id=${first.source_id}`), newest.slice(10));
  t.same(await texts(`source_id=${third.source_id}`), newest.slice(0, 10));
  t.same(await texts(`workspace_id=${turn.workspace_id}`), newest);
});

await t.test('K-025 the pages of every list are the list', async (t) => {
  const eva = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Eva' });
  const turns = await list('');
  for (const at of [0, 3, 4, 11, 17, 29]) await ann.ask('PATCH', `/turns/${turns[at]?.id}`, { contact_id: eva.id });
  const queries = [
    `stream_id=${first.id}`,
    `stream_id=${first.id}&from_ms=500&to_ms=${PAGE_MS + 1_000}`,
    '',
    `source_id=${first.source_id}`,
    `workspace_id=${turn.workspace_id}`,
    `contact_id=${eva.id}`,
    `from=2026-11-01T10:00:00.300Z&to=2026-11-02T10:00:00.900Z`,
  ];
  for (const query of queries) {
    const whole = (await list(query)).map(({ id }) => id);
    t.ok(whole.length >= 5, `${query} has ${whole.length}`);
    t.equal(new Set(whole).size, whole.length, 'each once');
    for (let limit = 1; limit <= 7; limit++) t.same(await walk(query, limit), whole, `${query} by ${limit}`);
  }
  for (const at of [0, 3, 4, 11, 17, 29]) await ann.ask('PATCH', `/turns/${turns[at]?.id}`, { contact_id: null });
});

await t.test('K-026 times are looked at to the millisecond', async (t) => {
  const [numbers, from] = [
    (found: string[]) => found.map((text) => Number(text.split(' ')[1])),
    `stream_id=${first.id}`,
  ];
  const cases: [query: string, numbers: number[]][] = [
    ['from_ms=0', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['from_ms=200&to_ms=600', [0, 1, 2]],
    ['from_ms=201&to_ms=599', [1]],
    [`from_ms=${PAGE_MS + 1_500}`, [4, 8, 9]],
    [`from_ms=${PAGE_MS + 1_501}`, [9]],
    [`to_ms=${PAGE_MS - 1_500}`, [0, 1, 2, 3, 4]],
    [`to_ms=${PAGE_MS - 1_501}`, [0, 1, 2, 3]],
    ['from_ms=700&to_ms=600', [2]],
    ['from_ms=9007199254740991', []],
  ];
  for (const [query, expected] of cases) t.same(numbers(await texts(`${from}&${query}`)), expected, query);
  const times: [query: string, numbers: number[]][] = [
    ['from=2026-11-03T10:00:00.900Z&to=2026-11-03T11:00:00Z', [9, 8, 7, 6, 5, 4, 3]],
    ['from=2026-11-03T10:00:00.901Z', [9, 8, 7, 6, 5, 4]],
    ['from=2026-11-03T10:00:00Z&to=2026-11-03T10:00:00.300Z', [1, 0]],
    ['from=2026-11-03T10:00:00Z&to=2026-11-03T10:00:00.299Z', [0]],
    ['to=2026-10-01T10:00:00Z', []],
  ];
  for (const [query, expected] of times) t.same(numbers(await texts(query)), expected, query);
});

await t.test('K-027 what a list can not be asked for', async (t) => {
  const refused = async (query: string) => {
    const { status, error } = await tell(ann.app, 'GET', `/turns?${query}`);
    return `${status} ${error?.details?.map(({ path }) => path).join() ?? error?.code}`;
  };
  const of_many = writeCursor({ order: 1, member: first.id });
  const of_one = writeCursor({ order: 1, member: '3' });
  const stream = `stream_id=${first.id}`;
  const rows: [query: string, answer: string][] = [
    [`${stream}&source_id=${first.source_id}`, '400 source_id'],
    [`${stream}&workspace_id=${turn.workspace_id}`, '400 workspace_id'],
    [`source_id=${UNKNOWN}&contact_id=${UNKNOWN}`, '400 contact_id'],
    [`workspace_id=${UNKNOWN}&contact_id=${UNKNOWN}`, '400 contact_id'],
    ['from_ms=1', '400 from_ms'],
    ['to_ms=1', '400 to_ms'],
    [`${stream}&from=2026-11-03T10:00:00Z`, '400 from'],
    [`${stream}&to=2026-11-03T10:00:00Z`, '400 to'],
    ...['-1', '1.5', '1e3', '9007199254740992', 'x', ''].map((ms): [string, string] => [
      `${stream}&from_ms=${ms}`,
      '400 from_ms',
    ]),
    ['from=yesterday', '400 from'],
    ['limit=0', '400 limit'],
    ['limit=101', '400 limit'],
    ['stream_id=x', '400 stream_id'],
    [`stream_id=${UNKNOWN}`, '404 NOT_FOUND'],
    [`stream_id=${first.source_id}`, '404 NOT_FOUND'],
    [`source_id=${UNKNOWN}`, '404 NOT_FOUND'],
    [`workspace_id=${UNKNOWN}`, '404 NOT_FOUND'],
    [`contact_id=${UNKNOWN}`, '404 NOT_FOUND'],
    ['cursor=x', '400 cursor'],
    ['cursor=', '400 cursor'],
    [`cursor=${of_one}`, '400 cursor'],
    [`${stream}&cursor=${of_many}`, '400 cursor'],
    ...[
      [1, 'x'],
      [1, `${first.id}/x/1`],
      [1, `${first.id}/1`],
      [1, `${first.id}/1/-1`],
      [1, `${first.id}/1/1/1`],
      [1.5, first.id],
      [1e300, first.id],
    ].map(([order, member]): [string, string] => [
      `cursor=${writeCursor({ order: order as number, member: member as string })}`,
      '400 cursor',
    ]),
    ...[
      [-1, '1'],
      [1.5, '1'],
      [1e300, '1'],
      [1, '-1'],
      [1, 'x'],
      [1, '1e999'],
    ].map(([order, member]): [string, string] => [
      `${stream}&cursor=${writeCursor({ order: order as number, member: member as string })}`,
      '400 cursor',
    ]),
  ];
  for (const [query, answer] of rows) t.equal(await refused(query), answer, query);
});

await t.test('K-028 K-035 an id that is no turn is 404', async (t) => {
  const { items } = await ann.ask<{ items: { id: string }[] }>('GET', `/audio/streams/${first.id}/chunks`);
  const chunk_id = items[0]?.id as string;
  const ids = [
    ...[UNKNOWN, chunk_id, first.id, first.source_id, 'x'],
    turnId(first.id, { page: 0, serial: 7 }),
    turnId(first.id, { page: 7, serial: 0 }),
    turnId(first.id, { page: LIMITS.transcript_pages_max - 1, serial: LIMITS.page_serials_max - 1 }),
    turnId(UNKNOWN, { page: 0, serial: 0 }),
  ];
  for (const id of ids) {
    t.equal(await ann.says('GET', `/turns/${id}?include=words`), '404 NOT_FOUND', id);
    t.equal(await ann.says('PATCH', `/turns/${id}`, { speaker: 'S1' }), '404 NOT_FOUND', id);
    t.equal(await ann.says('POST', `/turns/${id}/split`, { at_ms: 1 }), '404 NOT_FOUND', id);
    t.equal(await ann.says('DELETE', `/turns/${id}`), '404 NOT_FOUND', id);
  }
  t.equal(await ann.says('GET', `/audio/chunks/${turn.id}/content`), '404 NOT_FOUND', 'a turn is no chunk');
  t.equal(await ann.says('GET', `/turns/${turn.id}?include=all`), '400 BAD_REQUEST');
  for (const body of [
    {},
    { speaker: 'S1', contact_id: null },
    { speaker: 'S0' },
    { speaker: 'S10000' },
    { speaker: 1 },
  ])
    t.equal(await ann.says('PATCH', `/turns/${turn.id}`, body), '400 BAD_REQUEST', JSON.stringify(body));
  t.equal(await ann.says('PATCH', `/turns/${turn.id}`, { speaker: 'S9999' }), '404 NOT_FOUND');
  for (const at_ms of [-1, 1.5, '1', null, 1e300])
    t.equal(await ann.says('POST', `/turns/${turn.id}/split`, { at_ms }), '400 BAD_REQUEST', String(at_ms));
  for (const at_ms of [0, 200, 9_000_000])
    t.equal(await ann.says('POST', `/turns/${turn.id}/split`, { at_ms }), '409 CONFLICT', String(at_ms));
  for (const speaker of ['S0', 'S9', 's1', 'S01', '1', '__proto__'])
    t.equal(
      await ann.says('PATCH', `/audio/streams/${first.id}/speakers/${speaker}`, { contact_id: null }),
      '404 NOT_FOUND',
      speaker,
    );
});

await t.test('K-004 K-016 C-020 each route takes its permission and the layer; others get 404', async (t) => {
  t.ok(LAYER.length >= 17, `${LAYER.length} routes`);
  const tokenOf = async (permissions: string[]) => {
    const body = { name: 'tool', permissions, expires_at: null };
    return bearer(spool, (await ann.ask<{ value: string }>('POST', '/me/tokens', body)).value);
  };
  const grant = async (scope: string) => {
    const third_party = await OauthApp.registered(spool, { scope });
    return bearer(
      spool,
      (await third_party.signIn(ann.email, { scope, resource: spool.server.base_url })).access_token,
    );
  };
  const turns = ['turns:read', 'turns:write'];
  const audio = ['audio:read', 'audio:write'];
  const callers: [says: string, app: AppClient, holds: string[]][] = [
    ['app session', ann.app, [...turns, ...audio]],
    ['token turns:read', await tokenOf(['turns:read']), ['turns:read']],
    ['token turns:write', await tokenOf(['turns:write']), ['turns:write']],
    ['token audio', await tokenOf(audio), audio],
    ['token insights', await tokenOf(['insights:read', 'insights:write']), []],
    ['grant turns:read', await grant('turns:read'), ['turns:read']],
    ['grant turns:write', await grant('turns:write'), ['turns:write']],
    ['grant audio', await grant(audio.join(' ')), audio],
    ['grant insights', await grant('insights:read insights:write'), []],
    ['grant contacts:read', await grant('contacts:read'), ['turns:read']],
  ];
  /** Nothing is changed by it: the ids are nobody's, and bodies are missing. */
  const wrong = async (app: AppClient, holds: string[]) => {
    const found: string[] = [];
    for (const { method, path, permission = [] } of LAYER) {
      const at = path.replace(':speaker', 'S1').replace(/:[a-z_]+/g, UNKNOWN);
      const { status } = await app.send(method, at);
      const may = permission.some((one) => holds.includes(one));
      if (may ? ![200, 400, 404].includes(status) : status !== 403) found.push(`${method} ${path} ${status}`);
    }
    return found;
  };
  for (const [says, app, holds] of callers) t.same(await wrong(app, holds), [], says);
  t.same(
    [
      ...new Set(
        await Promise.all(
          LAYER.map(({ method, path }) => spool.client().send(method, path.replace(/:[a-z_]+/g, UNKNOWN))),
        ),
      ),
    ].map(({ status }) => status),
    LAYER.map(() => 401),
  );
  await ann.entitle('transcripts.access', false);
  for (const [says, app, holds] of callers)
    t.same(
      await wrong(
        app,
        holds.filter((one) => !turns.includes(one)),
      ),
      [],
      `${says}, layer off`,
    );
  await ann.entitle('transcripts.access', true);
  await ann.entitle('audio.access', false);
  for (const [says, app, holds] of callers)
    t.same(
      await wrong(
        app,
        holds.filter((one) => !audio.includes(one)),
      ),
      [],
      `${says}, audio off`,
    );
  await ann.entitle('audio.access', true);
  for (const [method, path, body] of [
    ['GET', `/turns/${turn.id}`],
    ['GET', `/turns?stream_id=${first.id}`],
    ['GET', `/turns?source_id=${first.source_id}`],
    ['GET', `/turns?workspace_id=${turn.workspace_id}`],
    ['PATCH', `/turns/${turn.id}`, { speaker: 'S1' }],
    ['POST', `/turns/${turn.id}/split`, { at_ms: 1 }],
    ['DELETE', `/turns/${turn.id}`],
    ['GET', `/audio/streams/${first.id}/transcript`],
    ['GET', `/audio/streams/${first.id}/transcript/text`],
    ['PATCH', `/audio/streams/${first.id}/speakers/S1`, { contact_id: null }],
    ['POST', `/audio/streams/${first.id}/speakers/S1/merge`, { into: 'S2' }],
    ['DELETE', `/audio/streams/${first.id}`],
  ] as const)
    t.equal(await bob.says(method, path, body), '404 NOT_FOUND', `${method} ${path}`);
  t.same((await bob.ask<Page>('GET', '/turns')).items, []);
  // A cursor opens nothing.
  const cursor = writeCursor({ order: Date.parse('2026-11-01T10:00:00.000Z'), member: `${first.id}/9000000/0` });
  t.same((await bob.ask<Page>('GET', `/turns?cursor=${cursor}`)).items, []);
});

await t.test('K-029 those who share a workspace read names, and write nothing', async (t) => {
  const workspace = await ann.workspace('Team');
  await ann.bring(workspace.id, [bob]);
  const recording = await TestRecording.inWorkspace(ann, {
    ...{ workspace_id: workspace.id, source_id: third.source_id, captured_at: '2026-11-04T10:00:00.000Z' },
  });
  const { id } = recording;
  await tenTurns('shared', recording);
  const carl = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'Carl' });
  await ann.ask('PATCH', `/audio/streams/${id}/speakers/S1`, { contact_id: carl.id });
  const { items } = await bob.ask<Page>('GET', `/turns?workspace_id=${workspace.id}&limit=100`);
  t.same(
    items.map(({ text }) => text),
    textsOf('shared').reverse(),
  );
  const [last] = items.slice(-1) as [Turn];
  t.match(last, { contact_id: null, speaker_name: 'Carl', speaker: 'S1', attribution: 'manual' });
  t.match(await ann.ask('GET', `/turns/${last.id}`), { contact_id: carl.id, speaker_name: 'Carl' });
  t.match(await bob.ask('GET', `/turns/${last.id}`), { contact_id: null, speaker_name: 'Carl' });
  t.match(await bob.ask('GET', `/audio/streams/${id}/transcript`), {
    speakers: [{ speaker: 'S1', contact_id: null, name: 'Carl', attribution: 'manual' }, { name: null }],
  });
  t.match(
    (await bob.app.send('GET', `/audio/streams/${id}/transcript/text`)).body.toString(),
    '[00:00:00] Carl: shared 0\n',
  );
  t.same((await bob.ask<Page>('GET', '/turns')).items, [], 'his own are none');
  t.equal(await bob.says('GET', `/turns?contact_id=${carl.id}`), '404 NOT_FOUND');
  t.equal(await bob.says('GET', `/turns?source_id=${third.source_id}`), '404 NOT_FOUND');
  for (const [method, path, body] of [
    ['PATCH', `/turns/${last.id}`, { speaker: 'S1' }],
    ['POST', `/turns/${last.id}/split`, { at_ms: 1 }],
    ['DELETE', `/turns/${last.id}`],
    ['PATCH', `/audio/streams/${id}/speakers/S1`, { contact_id: null }],
    ['POST', `/audio/streams/${id}/speakers/S1/merge`, { into: 'S2' }],
    ['DELETE', `/audio/streams/${id}`],
  ] as const)
    t.equal(await bob.says(method, path, body), '403 FORBIDDEN', `${method} ${path}`);
  await ann.ask('DELETE', `/workspaces/${workspace.id}/members/${bob.id}`);
  t.equal(await bob.says('GET', `/turns/${last.id}`), '404 NOT_FOUND', 'who left reads nothing');
  t.equal(await bob.says('GET', `/turns?workspace_id=${workspace.id}`), '404 NOT_FOUND');
  t.equal(await ann.says('DELETE', `/audio/streams/${id}`), '204');
  t.same(await texts(''), newest, 'a deleted recording is in no list');
});

await t.test('K-030 as text and subtitles, in which nobody can write lines of others', async (t) => {
  const recording = await TestRecording.begin(ann);
  await recording.add(10_000);
  await recording.end();
  await transcribe(recording, [
    said('Fine & <b>good</b>', [0, 1_000], 'A'),
    { start_ms: 1_000, end_ms: 1_000, text: 'One.\r\n\n[00:00:09] Boss: I quit --> now\u2028.' },
    { start_ms: 3_661, end_ms: 9_999, text: 'Bye', speaker: 'B' },
  ]);
  const eva = await ann.ask<{ id: string }>('POST', '/contacts', { name: 'E --> <i>V</i> & A' });
  await ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/S1`, { contact_id: eva.id });
  const path = `/audio/streams/${recording.id}/transcript/text`;
  const read = async (query: string) => {
    const { headers, body } = await ann.app.send('GET', path + query);
    return [headers['content-type'], headers['content-disposition'], body.toString()];
  };
  const named = (format: string) => `attachment; filename="${recording.id}.${format}"`;
  t.same(await read(''), await read('?format=txt'));
  t.same(await read('?format=txt'), [
    ...['text/plain; charset=utf-8', named('txt')],
    '[00:00:00] E --> <i>V</i> & A: Fine & <b>good</b>\n' +
      '[00:00:01] One. [00:00:09] Boss: I quit --> now .\n[00:00:03] S2: Bye\n',
  ]);
  t.same(await read('?format=srt'), [
    ...['application/x-subrip; charset=utf-8', named('srt')],
    '1\n00:00:00,000 --> 00:00:01,000\nE → <i>V</i> & A: Fine & <b>good</b>\n\n' +
      '2\n00:00:01,000 --> 00:00:01,001\nOne. [00:00:09] Boss: I quit → now .\n\n' +
      '3\n00:00:03,661 --> 00:00:09,999\nS2: Bye\n\n',
  ]);
  t.same(await read('?format=vtt'), [
    ...['text/vtt; charset=utf-8', named('vtt')],
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n<v E → &lt;i&gt;V&lt;/i&gt; &amp; A>Fine &amp; &lt;b&gt;good&lt;/b&gt;\n\n' +
      '00:00:01.000 --> 00:00:01.001\nOne. [00:00:09] Boss: I quit → now .\n\n' +
      '00:00:03.661 --> 00:00:09.999\n<v S2>Bye\n\n',
  ]);
  await ann.ask('PATCH', `/audio/streams/${recording.id}`, { title: 'The *end*' });
  t.same(await read('?format=md'), [
    ...['text/markdown; charset=utf-8', named('md')],
    '# The \\*end\\*\n\n- Day: 2026-11-01, 10:00 (UTC)\n- Length: 0:10\n' +
      '- Speakers: E --\\> \\<i\\>V\\</i\\> \\& A, S2\n\n' +
      '**0:00 E --\\> \\<i\\>V\\</i\\> \\& A:** Fine \\& \\<b\\>good\\</b\\>\n\n' +
      '**0:01** One. \\[00:00:09\\] Boss: I quit --\\> now .\n\n**0:03 S2:** Bye\n',
  ]);
  t.equal(await ann.says('GET', `${path}?format=pdf`), '400 BAD_REQUEST');
  t.equal(await ann.says('GET', `/audio/streams/${UNKNOWN}/transcript/text`), '404 NOT_FOUND');
  const silent = await TestRecording.begin(ann);
  t.equal(
    (await ann.app.send('GET', `/audio/streams/${silent.id}/transcript/text?format=vtt`)).body.toString(),
    'WEBVTT\n\n',
  );
  t.match(await ann.ask('GET', `/audio/streams/${silent.id}/transcript`), { revision: 0, speakers: [], covered: [] });
});

await t.test('K-019 K-024 what is hidden or deleted is in no list', async (t) => {
  t.equal(await ann.says('DELETE', `/sources/${third.source_id}`), '204');
  t.same(
    (await texts('to=2026-11-03T23:00:00Z')).filter((text) => text.startsWith('third')),
    [],
  );
  t.equal(await ann.says('DELETE', `/audio/streams/${second.id}`), '204');
  t.same(await texts(`source_id=${first.source_id}`), newest.slice(20));
  for (const path of [`/turns?stream_id=${second.id}`, `/audio/streams/${second.id}/transcript`])
    t.equal(await ann.says('GET', path), '404 NOT_FOUND', path);
  for (let limit = 1; limit <= 3; limit++)
    t.same(
      await walk(`source_id=${first.source_id}`, limit),
      (await list(`source_id=${first.source_id}`)).map(({ id }) => id),
    );
});
