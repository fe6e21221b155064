import { once } from 'node:events';
import net from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import t from 'tap';
import { MailSender } from '../../../src/engine/mail/mail_sender.js';
import type { MailFailed } from '../../../src/engine/mail/mailer.js';
import { SmtpMailer } from '../../../src/engine/mail/smtp_mailer.js';
import { codeMail } from '../../../src/features/accounts/code_mail.js';
import { createManualTimer, until } from './manual_timer.js';

const never = new AbortController().signal;
const mail = codeMail({ to: 'ada@x.test', code: '482913' });

interface Received {
  from: string;
  to: string[];
  raw: string;
}

async function startServer(t: Tap, { port = 0, ...options }: SMTPServerOptions & { port?: number } = {}) {
  const received: Received[] = [];
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    closeTimeout: 1,
    onConnect(_session, callback) {
      connections += 1;
      callback();
    },
    onData(stream, session, callback) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(parts).toString(),
        });
        callback();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()));
  t.teardown(stop);
  const address = server.server.address() as net.AddressInfo;
  return { received, stop, port: address.port, connections: () => connections };
}

type Tap = { teardown(run: () => unknown): void };

function mailerTo(t: { teardown(run: () => void): void }, port: number, timeout_ms = 5_000) {
  const mailer = new SmtpMailer({
    smtp_url: `smtp://127.0.0.1:${port}`,
    mail_from: 'Spool <no-reply@spool.test>',
    timeout_ms,
  });
  t.teardown(() => mailer.close());
  return mailer;
}

async function failureOf(promise: Promise<unknown>): Promise<MailFailed> {
  return promise.then(
    () => Promise.reject(new Error('succeeded')),
    (error) => error,
  );
}

t.test('A-001 a mail with a six-digit code arrives over SMTP', async (t) => {
  const server = await startServer(t);
  const mailer = mailerTo(t, server.port);
  await mailer.verify();
  await mailer.send(mail, never);
  const [one] = server.received;
  t.strictSame(one?.to, ['ada@x.test']);
  t.equal(one?.from, 'no-reply@spool.test');
  t.match(one?.raw, /^From: Spool <no-reply@spool\.test>\r$/m);
  t.match(one?.raw, /^To: ada@x\.test\r$/m);
  t.match(one?.raw, /\r\n\r\n482913\r\n\r\n/);
});

t.test('connections are kept, and one that the server closed costs no mail', async (t) => {
  const server = await startServer(t);
  const mailer = mailerTo(t, server.port);
  for (let at = 0; at < 5; at++) await mailer.send(mail, never);
  t.equal(server.connections(), 1);
  await server.stop();
  const again = await startServer(t, { port: server.port });
  await mailer.send(mail, never);
  t.equal(again.received.length, 1);
});

t.test('nothing in address or subject becomes a header or a second recipient', async (t) => {
  const server = await startServer(t);
  const mailer = mailerTo(t, server.port);
  const addresses = [
    'a@x.test\r\nBcc: b@x.test',
    'a@x.test, b@x.test',
    'a@x.test;b@x.test',
    'x <a@x.test>',
    '<a@x.test>',
    'a@x.test\n',
    'a@x.test>\r\nRCPT TO:<b@x.test',
    'a b@x.test',
    '"a"@x.test',
    'a@b@x.test',
    'a',
    '',
    'group:a@x.test',
    `${'a'.repeat(250)}@x.test`,
  ];
  for (const to of addresses)
    t.match(await failureOf(mailer.send({ ...mail, to }, never)), { failure: 'mail', reason: 'address' });
  for (const subject of ['a\r\nBcc: b@x.test', 'a\nb', 'a\rb', 'a\u2028b', 'a\0b']) {
    t.match(await failureOf(mailer.send({ ...mail, subject }, never)), { failure: 'mail', reason: 'subject' });
  }
  t.equal(server.connections(), 0);
  await mailer.send({ ...mail, text: 'x\n.\nBcc: b@x.test\n.\nQUIT\n' }, never);
  t.strictSame(server.received[0]?.to, ['ada@x.test']);
  t.match(server.received[0]?.raw, /^Bcc: b@x\.test\r\n\.\r\nQUIT/m, 'lines of the text stay text');
});

t.test('failures say whether the service or the recipient is at fault, and name nobody', async (t) => {
  const refuses = (to: string | undefined, code: number) =>
    to?.startsWith(`u${code}`) ? Object.assign(new Error(`no ${to}`), { responseCode: code }) : null;
  const server = await startServer(t, {
    onRcptTo: ({ address }, _session, callback) =>
      callback(refuses(address, 550) ?? refuses(address, 450) ?? refuses(address, 421)),
    onData: (stream, { envelope }, callback) => {
      const to = envelope.rcptTo[0]?.address;
      stream.resume().on('end', () => callback(refuses(to, 554) ?? refuses(to, 452)));
    },
  });
  const mailer = mailerTo(t, server.port);
  for (const [to, failure] of [
    ['u550@x.test', 'recipient'],
    ['u450@x.test', 'later'],
    ['u421@x.test', 'service'],
    ['u554@x.test', 'recipient'],
    ['u452@x.test', 'later'],
  ] as const) {
    const error = await failureOf(mailer.send({ ...mail, to }, never));
    t.match(error, { name: 'MailFailed', failure });
    t.notMatch(`${error.message} ${error.stack} ${JSON.stringify(error)}`, /x\.test|482913/);
  }
  await t.resolves(mailer.send(mail, never));
});

t.test('a refused password is a failure of the service and is not told', async (t) => {
  const server = await startServer(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, callback) => callback(new Error('no')),
  });
  const mailer = new SmtpMailer({ smtp_url: `smtp://me:hunter2@127.0.0.1:${server.port}`, mail_from: 'a@x.test' });
  t.teardown(() => mailer.close());
  for (const error of [await failureOf(mailer.send(mail, never)), await failureOf(mailer.verify())]) {
    t.match(error, { failure: 'service', reason: /EAUTH/ });
    t.notMatch(`${error.message} ${error.stack}`, /hunter2/);
  }
  t.throws(() => new SmtpMailer({ smtp_url: 'http://me:hunter2@x.test', mail_from: 'a@x.test' }), /^((?!hunter2).)*$/);
});

t.test('a server that is down ends sign-in after three mails, and mail works again when it is back', async (t) => {
  const server = await startServer(t);
  const time = createManualTimer();
  const mailer = mailerTo(t, server.port);
  let probes_failed = 0;
  const really = mailer.verify.bind(mailer);
  mailer.verify = () =>
    really().catch((error) => {
      probes_failed += 1;
      throw error;
    });
  const sender = new MailSender({ mailer, timer: time.timer });
  t.match(await sender.send(mail), { sent: true });
  await server.stop();
  for (let at = 0; at < 3; at++) {
    t.ok(sender.healthy());
    t.match(await sender.send(mail), { sent: false, failure: 'service' });
  }
  t.notOk(sender.healthy());
  time.pass(10_000);
  await until(() => probes_failed === 1, 'the probe has failed');
  const again = await startServer(t, { port: server.port });
  time.pass(10_000);
  await until(() => sender.healthy(), 'the probe has found the server');
  t.equal(again.received.length, 0, 'a probe sends nothing');
  t.match(await sender.send(mail), { sent: true });
  await sender.close();
});

t.test('a server that takes connections and says nothing holds a mail until its deadline only', async (t) => {
  const sockets = new Set<net.Socket>();
  const silent = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as net.AddressInfo;
  const time = createManualTimer();
  const sender = new MailSender({ mailer: mailerTo(t, port, 60_000), timer: time.timer });
  const sent = Array.from({ length: 20 }, (_, n) => sender.send({ ...mail, to: `a${n}@x.test` }));
  await until(() => sockets.size === 8, 'eight connections stand');
  time.pass(10_000);
  for (const outcome of await Promise.all(sent)) t.match(outcome, { sent: false, failure: 'deadline' });
  await until(() => sockets.size === 1, 'the connections are given up, but that of the probe');
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
  await startServer(t, { port });
  t.match(await sender.send(mail), { sent: true }, 'the next mail finds a free place');
  await sender.close();
});

t.test('a server that hangs in the middle of a mail holds it until its deadline only', async (t) => {
  let hanging = 0;
  const server = await startServer(t, {
    onMailFrom: () => {
      hanging += 1;
    },
  });
  const mailer = mailerTo(t, server.port, 60_000);
  const abort = new AbortController();
  const failed = failureOf(mailer.send(mail, abort.signal));
  await until(() => hanging === 1, 'the server hangs');
  abort.abort();
  t.match(await failed, { failure: 'service', reason: 'aborted' });
});
