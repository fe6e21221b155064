import { readFile } from 'node:fs/promises';
import t from 'tap';
import { checkLiteral, isPublicAddress, makeLookup } from '../../../src/features/webhooks/addresses.js';
import { NameServer, type Names } from '../../fixtures/name_server.js';

const HANGING = 200;
/** More at once would not fit into the socket of one server of names. */
const AT_ONCE = 25;

t.test('which addresses are public', async (t) => {
  const own = [
    ...[
      '127.0.0.1',
      '127.255.255.254',
      '0.0.0.0',
      '0.1.2.3',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
    ],
    ...['169.254.169.254', '100.64.0.1', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
    ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '192.88.99.1'],
    ...[
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '::ffff:7f00:1',
      '::127.0.0.1',
      '::7f00:1',
      '4000::1',
      '::ffff:0:127.0.0.1',
    ],
    ...['64:ff9b::7f00:1', '64:ff9b::127.0.0.1', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001:0:7f00:1::', '2001:db8::1'],
    ...['fe80::1', 'fe80::1%lo', 'fec0::1', 'fc00::1', 'fd12:3456::1', 'ff02::1', '100::1', '5f00::1', '2001:2::1'],
    ...['', 'x', 'localhost', '1.2.3.4.5', '1.2.3.4/8', '12345::1', '::1::'],
  ];
  for (const address of own) t.notOk(isPublicAddress(address), address);
  for (const address of ['1.1.1.1', '93.184.216.34', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])
    t.ok(isPublicAddress(address), address);
});

t.test('a host that is an address is looked at as it stands', async (t) => {
  for (const host of ['127.0.0.1', '[::1]', '::1', '[::ffff:127.0.0.1]', '10.1.2.3', '[64:ff9b::7f00:1]'])
    t.throws(() => checkLiteral(host), { code: 'ADDRESS_BLOCKED' }, host);
  for (const host of ['localhost', 'private.example', '1.1.1.1', '[2606:4700::1111]'])
    t.doesNotThrow(() => checkLiteral(host), host);
});

type Answer = { code: string | null; found: string[] };

async function open(t: { teardown(clean: () => Promise<void>): unknown }, names: Names, block_private = false) {
  const server = await NameServer.start(names);
  t.teardown(() => server.end());
  const lookup = makeLookup({ block_private, servers: [server.address] });
  const find = (host: string, all = true) =>
    new Promise<Answer>((resolve) => {
      lookup(host, { all }, (error, found) => {
        const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
        resolve({ code: error?.code ?? null, found: error === null ? addresses : [] });
      });
    });
  return { server, find };
}

t.test('K-410 hosts that an operator names may be private, and addresses of metadata never', async (t) => {
  const private_hosts = ['n8n.lan', '10.0.0.0/8', '192.168.1.7', 'fd12::/16', '169.254.0.0/16', 'fd00:ec2::254'];
  const reach = { block_private: true, private_hosts };
  for (const host of ['10.1.2.3', '[::ffff:10.1.2.3]', '192.168.1.7', '[fd12::1]', '1.1.1.1'])
    t.doesNotThrow(() => checkLiteral(host, reach), host);
  for (const host of [
    '192.168.1.8',
    '127.0.0.1',
    '[fd13::1]',
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '[fd00:ec2::254]',
  ])
    t.throws(() => checkLiteral(host, reach), { code: 'ADDRESS_BLOCKED' }, host);
  const server = await NameServer.start({
    ...{ 'n8n.lan': ['172.16.0.5'], 'other.lan': ['172.16.0.5'], 'in.lan': ['10.0.0.5'] },
    'told.lan': ['169.254.169.254'],
  });
  t.teardown(() => server.end());
  const lookup = makeLookup({ ...reach, private_hosts: [...private_hosts, 'told.lan'], servers: [server.address] });
  const find = (host: string) =>
    new Promise((resolve) => lookup(host, {}, (error, found) => resolve(error?.code ?? found)));
  t.equal(await find('n8n.lan'), '172.16.0.5');
  t.equal(await find('N8N.LAN'), '172.16.0.5');
  t.equal(await find('in.lan'), '10.0.0.5');
  t.equal(await find('other.lan'), 'ENOTFOUND');
  t.equal(await find('told.lan'), 'ENOTFOUND');
});

t.test('names are looked up once in a while, however many ask', async (t) => {
  const { server, find } = await open(t, { 'one.test': ['192.0.2.1', '192.0.2.2'] });
  const answers = await Promise.all(Array.from({ length: 50 }, () => find('one.test')));
  for (const { found } of answers) t.same(found, ['192.0.2.1', '192.0.2.2']);
  t.same((await find('one.test', false)).found, ['192.0.2.1'], 'one of them');
  t.same(server.asked, ['one.test', 'one.test'], 'asked for each kind of address once');
  t.equal((await find('none.test')).code, 'ENOTFOUND');
  t.equal((await find('none.test')).code, 'ENOTFOUND');
  t.equal(server.asked.filter((name) => name === 'none.test').length, 4, 'what failed is asked for again');
});

t.test('a name that this machine knows is not asked for elsewhere', async (t) => {
  const { server, find } = await open(t, {});
  t.ok((await find('localhost')).found.length > 0);
  t.same(server.asked, []);
});

t.test('a name that leads to us is as one that there is not, and one that leads to both is taken', async (t) => {
  const names = { 'own.test': ['10.0.0.1', '127.0.0.1'], 'both.test': ['10.0.0.1', '1.1.1.1'] };
  const { find, server } = await open(t, names, true);
  for (const name of ['own.test', 'localhost', 'none.test']) t.equal((await find(name)).code, 'ENOTFOUND', name);
  await Promise.all([find('own.test'), find('none.test')]);
  for (const name of ['own.test', 'none.test'])
    t.equal(server.asked.filter((asked) => asked === name).length, 4, `${name} is asked for again`);
  t.same((await find('both.test')).found, ['1.1.1.1'], 'only what is public');
  t.same((await find('both.test', false)).found, ['1.1.1.1']);
});

t.test('faults 13: names that nobody answers for keep neither other names nor files waiting', async (t) => {
  const stuck = Array.from({ length: HANGING }, (_, index) => `stuck${index}.test`);
  const { find } = await open(t, {
    ...Object.fromEntries(stuck.map((name) => [name, null])),
    'healthy.test': ['192.0.2.1'],
  });
  const answers: Promise<void>[] = [];
  const codes: (string | null)[] = [];
  for (const name of stuck) {
    answers.push(find(name).then(({ code }) => void codes.push(code)));
    if (answers.length % AT_ONCE === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const healthy = await find('healthy.test');
  t.same(healthy.found, ['192.0.2.1']);
  await readFile(new URL(import.meta.url));
  t.ok(codes.length < HANGING, 'the name is found and a file is read while others still wait');
  await Promise.all(answers);
  t.same(new Set(codes), new Set(['ENOTFOUND']), 'and they do not wait for ever');
});
