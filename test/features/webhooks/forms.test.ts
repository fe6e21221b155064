import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { EVENT_TYPES } from '../../../src/domain/event_types.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestEndpoint } from '../../fixtures/endpoints.js';
import { Receiver } from '../../fixtures/receiver.js';
import { TestSpool } from '../../fixtures/spool.js';
import { until } from '../../fixtures/until.js';

type Refused = { error: { code: string; message: string; details?: { path: string; message: string }[] } };

const NO_SCHEME = 'must be an https:// URL';
const NO_CREDENTIALS = 'must not have credentials in it';
const NO_FRAGMENT = 'must not have a fragment';
const NO_FORM = 'must be a URL';
const NO_CHARACTERS = 'must be a URL without spaces, control characters or backslashes';

function ofLength(chars: number): string {
  return `https://h.example/${'x'.repeat(chars)}`.slice(0, chars);
}

t.test('F-001 to F-007, F-011 forms of endpoints', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const refusal = async (body: unknown): Promise<string> => {
    const answer = await ann.app.send('POST', '/endpoints', { body });
    if (answer.status !== 400) return String(answer.status);
    const { error } = JSON.parse(answer.body.toString()) as Refused;
    t.equal(error.code, 'BAD_REQUEST');
    return error.message;
  };

  await t.test('F-006 destinations that are refused, by their rule', async (t) => {
    const rows: [string, unknown][] = [
      ...['https://u:p@h/', 'https://u@h/', 'https://@h/', 'https://:@h/', 'https://:p@h', 'HTTPS://u@h'].map(
        (url): [string, unknown] => [NO_CREDENTIALS, url],
      ),
      ...['https://u@h?x', 'https://h:1@x/', 'https://a@b@h/'].map((url): [string, unknown] => [NO_CREDENTIALS, url]),
      ...['https://h/#f', 'https://h/#', 'https://h#', 'https://h/?a#b', 'https://h/%23#'].map(
        (url): [string, unknown] => [NO_FRAGMENT, url],
      ),
      ...[
        'http://h/',
        'HTTP://h/',
        'ftp://h/',
        'file:///etc/passwd',
        'javascript:alert(1)',
        'data:,x',
        'wss://h/',
        'https:h',
        'https:/h',
        'mailto:a@b.example',
        'httpss://h/',
        'blob:https://h/',
      ].map((url): [string, unknown] => [NO_SCHEME, url]),
      ...[
        '',
        'x',
        '/h',
        '//h/',
        'https',
        'https:',
        'https://',
        'https:///',
        'https://:443/',
        'https://h:99999/',
        'https://h:x/',
        'https://[::1/',
        'https://[zz]/',
        'https://%00/',
        'https://a%20b/',
        'https://xn--a/',
        'https://1.2.3.256/',
        'https://h^x/',
        'https://h<x/',
      ].map((url): [string, unknown] => [NO_FORM, url]),
      ...[
        ' https://h/',
        'https://h/ ',
        'https://h/a b',
        'https://h/\t',
        'ht\ntps://h/',
        'https://h/\r\nx: y',
        'https://h\\@x/',
        'https:\\\\h\\',
        'https://h/\u0000',
        'https://h/\u007f',
        '\u0001https://h/',
      ].map((url): [string, unknown] => [NO_CHARACTERS, url]),
      [`must have at most ${LIMITS.endpoint_url_chars_max} characters`, ofLength(2_049)],
      ...[1, true, {}, ['https://h/'], null, undefined].map((url): [string, unknown] => [NO_SCHEME, url]),
    ];
    for (const [rule, url] of rows) {
      const message = await refusal({ url });
      t.equal(message, `url: ${rule}.`, JSON.stringify(url)?.slice(0, 60) ?? 'none');
    }
  });

  await t.test('F-006 F-007 destinations that are taken, and shown as they were given', async (t) => {
    const urls = [
      ...[
        'https://does-not-exist.invalid/',
        'https://127.0.0.1/',
        'https://[::1]:8443/x',
        'https://0x7f.1/',
        'https://h:22/',
      ],
      ...[
        'HtTpS://H.Example/Path?q=%20&q=@#'.slice(0, -1),
        'https://h',
        'https://h?x=1',
        'https://h/a@b',
        'https://h/?a=b:c@d',
      ],
      ...[
        'https://bücher.example/ü?ü',
        'https://xn--bcher-kva.example/',
        'https://h.example.:443/',
        'https://h/%23',
        'https://h//x/../y',
      ],
      ...['https://10.0.0.1:65535/', 'https://a_b.example/', 'https://h/\'"<>', ofLength(2_048)],
    ];
    for (const url of urls) {
      const endpoint = await TestEndpoint.open(ann.app, url);
      t.match(await endpoint.read(), { url, status: 'active', failure_count: 0 }, url.slice(0, 60));
      t.equal(await ann.says('DELETE', `/endpoints/${endpoint.id}`), '204');
    }
  });

  await t.test('F-004 F-005 topics', async (t) => {
    const url = 'https://h.example/';
    const rows: [unknown, string][] = [
      [['foo.bar'], 'topics.0: must be an event type.'],
      [['account.updated', 'x'], 'topics.1: must be an event type.'],
      [['ACCOUNT.UPDATED'], 'topics.0: must be an event type.'],
      [[1], 'topics.0: must be an event type.'],
      [[null], 'topics.0: must be an event type.'],
      [[['account.updated']], 'topics.0: must be an event type.'],
      [['*'], 'topics.0: must be an event type.'],
      [['__proto__'], 'topics.0: must be an event type.'],
      ['x', 'topics: must be a list of event types.'],
      [{ 0: 'account.updated' }, 'topics: must be a list of event types.'],
      [
        Array.from({ length: EVENT_TYPES.length + 1 }, () => 'account.updated'),
        'topics: names more event types than there are.',
      ],
    ];
    for (const [topics, message] of rows)
      t.equal(await refusal({ url, topics }), message, JSON.stringify(topics).slice(0, 60));
    const made = async (topics?: string[]) => {
      const endpoint = await TestEndpoint.open(ann.app, url, topics as string[]);
      const { topics: kept } = (await endpoint.read()) as unknown as { topics: string[] };
      await ann.ask('DELETE', `/endpoints/${endpoint.id}`);
      return kept;
    };
    t.same(await made([]), []);
    t.same(await made(null as never), [], 'null is as good as absent');
    for (const sent of [['stream.created', 'account.updated', 'stream.created'], EVENT_TYPES.toReversed()])
      t.strictSame(await made(sent), sent, 'as they were sent');
    t.same((await ann.app.ask<{ endpoint: { topics: string[] } }>('POST', '/endpoints', { url })).endpoint.topics, []);
  });

  await t.test('what is no object, or none of ours', async (t) => {
    for (const body of [[], 'x', 1, null]) t.match(await refusal(body), /./, JSON.stringify(body));
    const { id } = await TestEndpoint.open(ann.app, 'https://h.example/');
    for (const body of [
      {},
      { url: 'https://x/' },
      { status: 'active', url: 'https://x/' },
      { status: 'foo' },
      { status: null },
      { topics: [] },
    ])
      t.equal(await ann.says('PATCH', `/endpoints/${id}`, body), '400 BAD_REQUEST', JSON.stringify(body));
    for (const other of ['x', '00000000-0000-0000-0000-000000000000', `${id}x`, '..%2Fme'])
      for (const method of ['GET', 'DELETE'])
        t.equal(await ann.says(method, `/endpoints/${other}`), '404 NOT_FOUND', `${method} ${other}`);
  });
});

t.test('private addresses are refused as the request goes out, and count as failures that pass', async (t) => {
  const receiver = await Receiver.start();
  const spool = await TestSpool.start({ ...receiver.env, WEBHOOK_BLOCK_PRIVATE: '1' });
  t.teardown(async () => {
    await spool.end();
    await receiver.end();
  });
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const { port } = new URL(receiver.url('/'));
  const hosts = [
    'localhost',
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0x7f.1',
    '169.254.169.254',
    '10.0.0.1',
    '[64:ff9b::7f00:1]',
  ];
  const endpoints = await Promise.all(hosts.map((host) => TestEndpoint.open(ann.app, `https://${host}:${port}/`)));
  await ann.ask('PATCH', '/me', { name: 'Ann' });
  await until('all were tried', async () => {
    const counts = await Promise.all(endpoints.map(async (endpoint) => (await endpoint.newest()).attempt_count));
    return counts.every((count) => count === 1);
  });
  for (const [index, endpoint] of endpoints.entries()) {
    const { status, attempts } = await endpoint.newest();
    t.match(
      { status, attempts },
      {
        status: 'pending',
        attempts: [{ error: hosts[index] === 'localhost' ? 'dns' : 'address_blocked', status_code: null }],
      },
      `${hosts[index]}`,
    );
  }
  t.equal(receiver.connections, 0);
});

t.test('WEBHOOK_CA_FILE', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-ca-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ca.pem');
  const start = (WEBHOOK_CA_FILE: string) => TestSpool.start({ WEBHOOK_CA_FILE });
  await t.rejects(start(join(folder, 'none.pem')), { message: /^WEBHOOK_CA_FILE can't be read: ENOENT/ });
  const [one, two] = [await Receiver.start(), await Receiver.start()];
  t.teardown(async () => {
    await one.end();
    await two.end();
  });
  const good = one.root_pem;
  const broken: Record<string, string> = {
    'an empty file': '',
    'no PEM': 'hello\n',
    'a key': (await one.certificate()).key,
    'a PEM of something else': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    'one that is cut': good.slice(0, -100),
    'a good one and one that is not': `${good}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    'a good one and one that is cut': `${good}${two.root_pem.slice(0, -60)}`,
  };
  for (const [name, text] of Object.entries(broken)) {
    writeFileSync(file, text);
    await t.rejects(start(file), { message: /^WEBHOOK_CA_FILE must hold certificates as PEM/ }, name);
  }
  writeFileSync(file, `# ours\n${good}\n\n# theirs\r\n${two.root_pem.replaceAll('\n', '\r\n')}`);
  const spool = await start(file);
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  for (const receiver of [one, two]) await TestEndpoint.open(ann.app, receiver.url('/'));
  await ann.ask('PATCH', '/me', { name: 'Ann' });
  for (const receiver of [one, two]) await receiver.count('/', 1);
});
