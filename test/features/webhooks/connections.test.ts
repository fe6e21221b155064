import { connect as connectTo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { WebhookSender } from '../../../src/features/webhooks/webhook_sender.js';
import { type RawBehaviour, Receiver } from '../../fixtures/receiver.js';
import { until } from '../../fixtures/until.js';

const OK = 'HTTP/1.1 204 No Content\r\n\r\n';
const RACES = 60;

const POST = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' };

async function open(
  t: Test,
  { proxy = null, block_private = false }: { proxy?: string | null; block_private?: boolean } = {},
) {
  const receiver = await Receiver.start();
  const { root_pem } = receiver;
  const poster = new WebhookSender({ block_private, extra_ca: root_pem, proxy });
  t.teardown(async () => {
    await poster.close();
    await receiver.end();
  });
  const post = (url: string) => poster.post(new URL(url), POST);
  const raw = async (behaviour: RawBehaviour) => receiver.raw(behaviour);
  return { receiver, raw, post };
}

t.test('requests share a connection', async (t) => {
  const { raw, post } = await open(t);
  const one = await raw({ asked: (socket) => void socket.write(OK) });
  for (let count = 0; count < 5; count++) t.equal((await post(one.url())).status_code, 204);
  t.ok(one.connections <= 2, `${one.connections} connections`); // the first may not be at rest yet
});

t.test('a connection that ends as a request goes out: the attempt is over, and nothing is sent twice', async (t) => {
  const { raw, post } = await open(t);
  await t.test('at its first bytes', async (t) => {
    let is_second = false;
    const one = await raw({
      began(socket) {
        if (is_second) socket.resetAndDestroy?.();
      },
      asked: (socket) => void socket.write(OK),
    });
    t.equal((await post(one.url())).status_code, 204);
    is_second = true;
    one.behaviour.began = (socket) => void socket.destroy();
    one.behaviour.asked = (socket) => void socket.destroy();
    const before = one.connections;
    t.match(await post(one.url()), { status_code: null, error: 'connection_lost' });
    t.ok(one.arrived.length <= 2, 'never a third time');
    t.ok(one.connections - before <= 1);
  });
  await t.test('at about the same moment', async (t) => {
    const one = await raw({});
    const seen = new Map<string, number>();
    for (let race = 0; race < RACES; race++) {
      let kept: Socket | null = null;
      one.behaviour.asked = (socket) => {
        kept = socket;
        socket.write(OK);
      };
      const before = one.arrived.length;
      await rest(); // until then another connection would be taken
      await post(one.url(`/first${race}`));
      await rest();
      one.behaviour.asked = (socket) => void setTimeout(() => socket.write(OK), 3);
      // It ends before, while or after the next request is written.
      const end = () => (race % 2 === 0 ? kept?.end() : kept?.destroy());
      if (race % 3 === 0) end();
      const answer = post(one.url(`/second${race}`));
      if (race % 3 === 1) end();
      if (race % 3 === 2) setTimeout(end, 1);
      const { error } = await answer;
      seen.set(error ?? 'none', (seen.get(error ?? 'none') ?? 0) + 1);
      if (one.arrived.length > before + 2) t.fail(`race ${race}: ${one.arrived.length - before} requests`);
    }
    t.comment([...seen].map(([error, count]) => `${error} ${count}`).join(', '));
    t.ok((seen.get('none') ?? 0) > 0 && (seen.get('connection_lost') ?? 0) > 0, 'it ended before and after');
    const paths = one.arrived.map(({ path }) => path);
    t.equal(new Set(paths).size, paths.length, 'each arrived once at most');
  });
});

t.test('an answer too many is not the answer to the next request', async (t) => {
  const { raw, post } = await open(t);
  const one = await raw({
    asked: (socket, nth) => void socket.write(nth === 1 ? `${OK}HTTP/1.1 410 Gone\r\n\r\n` : OK),
  });
  t.equal((await post(one.url())).status_code, 204);
  t.equal((await post(one.url())).status_code, 204);
  const early = await raw({
    connected: (socket) => void socket.write('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'),
    asked: (socket) => void socket.write(OK),
  });
  t.not((await post(early.url())).status_code, 204, 'who answers before the question is not believed a second time');
});

t.test('F-031 a redirect is not followed, wherever it leads', async (t) => {
  const { receiver, post } = await open(t);
  const elsewhere = await receiver.raw({ asked: (socket) => void socket.write(OK) });
  const targets = [
    receiver.url('/canary'),
    '/canary',
    elsewhere.url('/canary'),
    'http://127.0.0.1/',
    'file:///etc/passwd',
  ];
  for (const status of [300, 301, 302, 303, 307, 308])
    for (const location of targets) {
      const url = receiver.on(
        `/${status}`,
        (_nth, _request, response) => void response.writeHead(status, { location, refresh: `0;url=${location}` }).end(),
      );
      t.match(await post(url), { status_code: status, error: null });
    }
  t.equal(receiver.at('/canary').length, 0);
  t.equal(elsewhere.connections, 0);
});

function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/** A proxy for CONNECT: what was asked of it, and where it leads. */
async function openProxy(t: Test, answer: (socket: Socket, target: string) => void) {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.once('data', (head) => {
      const target = /^CONNECT (\S+) HTTP/.exec(head.toString())?.[1] ?? '';
      targets.push(target);
      answer(socket, target);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { targets, sockets, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
}

function tunnel(socket: Socket, target: string): void {
  const [host = '', port] = target.split(':');
  const onward = connectTo(Number(port), host, () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  // Either end that goes takes the other with it: one that nobody reads any more would never hear of its own end.
  onward.on('error', () => {}).on('close', () => socket.destroy());
  socket.on('close', () => onward.destroy());
}

t.test('through a proxy', async (t) => {
  await t.test('all goes through its tunnel, and TLS with the receiver', async (t) => {
    const proxy = await openProxy(t, tunnel);
    const { receiver, post } = await open(t, { proxy: proxy.url });
    t.match(await post(receiver.url('/there')), { status_code: 204, error: null });
    t.match(await post(receiver.url('/there').replace('localhost', '127.0.0.1')), { status_code: 204, error: null });
    const port = new URL(receiver.url('/')).port;
    t.same(proxy.targets, [`localhost:${port}`, `127.0.0.1:${port}`]);
    const wrong = await receiver.raw({}, await receiver.certificate({ names: ['other.example'] }));
    t.match(await post(wrong.url()), { status_code: null, error: 'certificate_name' });
  });
  await t.test('one that refuses', async (t) => {
    const proxy = await openProxy(t, (socket) => void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    const { receiver, post } = await open(t, { proxy: proxy.url });
    t.match(await post(receiver.url('/')), { status_code: null, error: 'connection_lost' });
    t.equal(receiver.connections, 0);
  });
  await t.test('one that is away', async (t) => {
    const { receiver, post } = await open(t, { proxy: 'http://127.0.0.1:1' });
    t.match(await post(receiver.url('/')), { status_code: null, error: 'connection_refused' });
  });
  await t.test('an answer that does not end is cut, and a receiver that never speaks is given up', async (t) => {
    const proxy = await openProxy(t, tunnel);
    const { receiver, post } = await open(t, { proxy: proxy.url });
    let sent = 0;
    const endless = await receiver.raw({
      asked(socket) {
        const more = () => {
          while (!socket.destroyed && sent < 500_000_000) {
            sent += 65_536;
            if (!socket.write(`HTTP/1.1 103 Early Hints\r\nlink: ${'x'.repeat(100)}\r\n\r\n`.repeat(500))) return;
          }
        };
        socket.on('drain', more).write('');
        more();
      },
    });
    const silent = await openProxy(t, () => {});
    const given_up = open(t, { proxy: silent.url }).then(({ post }) => post('https://silent.example/'));
    t.match(await post(endless.url()), { status_code: null, error: 'bad_answer' });
    t.ok(sent < 30_000_000, `${sent} bytes`);
    t.match(await given_up, { status_code: null, error: 'timeout' });
    await until('the proxy is let go', () => silent.sockets.size === 0);
  });
});

t.test('private addresses are refused before a connection is made', async (t) => {
  const { receiver, post } = await open(t, { block_private: true });
  const { port } = new URL(receiver.url('/'));
  const hosts = [
    ...['127.0.0.1', 'localhost', '[::1]', '10.1.2.3', '169.254.169.254', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]'],
    ...['0x7f.1', '0x7f000001', '2130706433', '0177.0.0.1', '127.1', '127.0.0.1.', '①27.0.0.1', '0', '0.0.0.0', '[::]'],
    ...['LOCALHOST', '[::7f00:1]', '[2002:7f00:1::]', '[fe80::1]', '[fd00::1]', '192.168.0.1', '172.20.0.1'],
  ];
  const answers = await Promise.all(hosts.map((host) => post(`https://${host}:${port}/`)));
  for (const [index, { status_code, error }] of answers.entries())
    t.same(
      [status_code, error],
      [null, /localhost/i.test(`${hosts[index]}`) ? 'dns' : 'address_blocked'],
      `${hosts[index]}`,
    );
  t.equal(receiver.connections, 0);
});

t.test('without that they are as good as any', async (t) => {
  const { receiver, post } = await open(t);
  const { port } = new URL(receiver.url('/'));
  for (const host of ['127.0.0.1', 'localhost', '0x7f.1', '2130706433'])
    t.match(await post(`https://${host}:${port}/`), { status_code: 204 }, host);
  t.ok(receiver.connections > 0);
});
