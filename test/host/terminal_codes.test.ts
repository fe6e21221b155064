import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { SMTPServer } from 'smtp-server';
import t, { type Test } from 'tap';
import { Browser, OauthApp } from '../fixtures/oauth.js';
import { TestSpool } from '../fixtures/spool.js';
import { until } from '../fixtures/until.js';

const CODE = /(?<![0-9a-z.-])\d{6}(?![0-9a-z.-])/;

/** A server, what it shows at the terminal, and what it logs. */
async function watched(t: Test, env: Record<string, string> = {}) {
  const [printed, logged]: [string[], string[]] = [[], []];
  const log = pino({ level: 'trace' }, { write: (line: string) => logged.push(line) });
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', ...env }, log, (line) => printed.push(line));
  t.teardown(() => spool.end());
  return { spool, printed, logged };
}

/** Asks for a code in each way that there is. */
async function askForCodes(spool: TestSpool): Promise<string[]> {
  const emails = ['app@x.test', 'browser@x.test', 'native@x.test'];
  const [app, page, native] = emails as [string, string, string];
  await spool.client().send('POST', '/auth/otp', { body: { email: app } });
  const browser = new Browser(spool.server.base_url);
  await browser.press((await OauthApp.first(spool, 'svc-web').begin(browser)).shown, 'email', { email: page });
  await OauthApp.first(spool, 'svc-ios').challenge(native);
  return emails;
}

t.test('D-071 without a mail server the terminal shows each code, and the log none', async (t) => {
  const { spool, printed, logged } = await watched(t);
  const emails = await askForCodes(spool);
  const expected = await Promise.all(
    emails.map(async (email) => `Sign-in code ${await spool.readCode(email)} for ${email}`),
  );
  t.same([...printed].sort(), expected.sort());
  for (const line of logged) for (const email of emails) t.notOk(line.includes(email));
});

t.test('D-071 mails without a code are not shown', async (t) => {
  const { spool, printed } = await watched(t);
  const { app } = await spool.signIn('owner@x.test');
  t.equal((await app.send('DELETE', '/me')).status, 204);
  await until('a mail says so', async () => {
    const { items } = await spool.operator.call('GET /inbox', { query: { limit: 10 } });
    return items.some(({ subject }) => /deleted/.test(subject));
  });
  t.equal(printed.length, 1);
});

t.test('D-071 with a mail server the terminal shows no code, whether mails go out or not', async (t) => {
  const mails: string[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      stream.setEncoding('utf8').on('data', (piece) => mails.push(String(piece)));
      stream.on('end', done);
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
  t.teardown(() => smtp.close());
  const { port } = smtp.server.address() as AddressInfo;
  const { spool, printed, logged } = await watched(t, { SMTP_URL: `smtp://127.0.0.1:${port}` });
  await askForCodes(spool);
  await until('all mails went out', () => mails.join('').match(/^\d{6}\r?$/gm)?.length === 3);
  const away = await watched(t, { SMTP_URL: 'smtp://127.0.0.1:9' });
  await askForCodes(away.spool);
  await until('mails failed', () => !away.spool.server.services.mail.healthy());
  t.same([...printed, ...away.printed], []);
  const codes = mails.join('').match(/^\d{6}(?=\r?$)/gm) ?? [];
  for (const code of codes) t.notMatch(logged.join(''), new RegExp(CODE.source.replace('\\d{6}', code)));
});
