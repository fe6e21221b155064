import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import tls from 'node:tls';
import t from 'tap';
import { Stalls } from '../../src/edge/admission/stalls.js';
import { makeMetrics } from '../../src/engine/metrics/metrics.js';
import { Servers } from '../driver/servers.js';
import { until } from '../fixtures/until.js';

const STALL_MS = 11_000;

/** What comes back on a connection, and whether it was closed. */
function heard(socket: Socket) {
  const found = { text: '', closed: false };
  socket.setEncoding('utf8').on('data', (text: string) => {
    found.text += text;
  });
  socket
    .on('error', () => {})
    .on('close', () => {
      found.closed = true;
    });
  return found;
}

t.test('fault 23: what waited unread while the process stood still is closed and not served', async (t) => {
  const servers = await Servers.open(t, { storage: 'own' });
  const { first: server } = servers;
  const app = servers.client((await servers.signIn('stall@x.test')).access_token);
  const { credentials } = await servers.device();
  const { hostname, port } = new URL(server.base_url);
  const at_public = () => connect(Number(port), hostname);
  const rename = (name: string) => {
    const body = JSON.stringify({ name });
    const head = `PATCH /me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.access_token}\r\nContent-Type: application/json`;
    return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const kept = at_public();
  const of_device = new URL(server.device_url);
  const device = tls.connect({
    ...{ host: of_device.hostname, port: Number(of_device.port), rejectUnauthorized: false },
    ...{ key: credentials.private_key_pem, cert: credentials.certificate_pem + credentials.ca_pem },
  });
  await Promise.all([once(kept, 'connect'), once(device, 'secureConnect')]);
  const answers = [heard(kept), heard(device)];
  const beat = 'GET /device/binding HTTP/1.1\r\nHost: x\r\n\r\n';
  kept.write(rename('Before'));
  device.write(beat);
  await until('both are served', () => answers.every(({ text }) => /HTTP\/1.1 \d/.test(text)));

  server.signal('SIGSTOP');
  const before = answers.map(({ text }) => text);
  kept.write(rename('On a kept connection'));
  device.write(beat);
  const made = at_public();
  const waited = heard(made);
  made.write(rename('On a new connection'));
  const gone = at_public();
  gone.on('error', () => {}).end(rename('By one that gave up'));
  await new Promise((resolve) => setTimeout(resolve, STALL_MS));
  server.signal('SIGCONT');
  await until('they are closed', () => [...answers, waited].every(({ closed }) => closed));
  t.same(
    answers.map(({ text }) => text),
    before,
    'without an answer',
  );
  t.equal(waited.text, '');
  await until('it serves again', async () => (await app.send('GET', '/me').catch(() => null))?.status === 200);
  t.match(await app.ask('GET', '/me'), { name: 'Before' });
  await app.ask('PATCH', '/me', { name: 'After' });
  t.match(server.output, /stood still/);
});

t.test('a stall that a timer notices before anything is read counts as well', async (t) => {
  let now_ms = 0;
  const said: string[] = [];
  const log = { warn: (_: unknown, text: string) => said.push(text) };
  const stalls = new Stalls({ log: log as never, metrics: makeMetrics(), monotonicMs: () => now_ms });
  now_ms += 10_000;
  stalls.tick();
  t.notOk(stalls.isDropping, 'not so long that anybody gave up');
  now_ms += 10_001;
  t.ok(stalls.isDropping, 'what is read before the timer');
  stalls.tick();
  t.ok(stalls.isDropping, 'and behind it');
  await until('it goes on', () => !stalls.isDropping);
  t.equal(said.length, 2);
});
