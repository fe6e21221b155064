import t from 'tap';
import { MailSender, type MailSenderEvent, type MailSenderOptions } from '../../../src/engine/mail/mail_sender.js';
import { type Mail, type Mailer, MailFailed } from '../../../src/engine/mail/mailer.js';
import { createManualTimer, until } from './manual_timer.js';

const mail: Mail = { to: 'a@x.test', subject: 'Code', text: '482913\n' };
/** Mails to so many recipients. */
const mailsOf = (count: number) => Array.from({ length: count }, (_, n): Mail => ({ ...mail, to: `a${n}@x.test` }));

/** A mailer that does what the test says, mail by mail. */
function setUp(options: Partial<MailSenderOptions> = {}) {
  const calls: { signal: AbortSignal; resolve(): void; reject(error: Error): void }[] = [];
  const state = { verify: () => Promise.resolve(), verified: 0, closed: 0 };
  const mailer: Mailer = {
    send: (_mail, signal) => new Promise((resolve, reject) => calls.push({ signal, resolve, reject })),
    verify() {
      state.verified += 1;
      return state.verify();
    },
    close() {
      state.closed += 1;
    },
  };
  const time = createManualTimer();
  const events: MailSenderEvent[] = [];
  const sender = new MailSender({ mailer, timer: time.timer, observe: (event) => events.push(event), ...options });
  const fail = async (error: Error) => {
    const sent = sender.send(mail);
    calls.at(-1)?.reject(error);
    return sent;
  };
  const succeed = async () => {
    const sent = sender.send(mail);
    calls.at(-1)?.resolve();
    return sent;
  };
  return { calls, state, time, events, sender, fail, succeed };
}

const away = new MailFailed('service', 'ECONNREFUSED');

t.test('at most eight mails are sent at once, the others wait in order', async (t) => {
  const { calls, sender, time } = setUp();
  const sent = mailsOf(20).map((one) => sender.send(one));
  t.equal(calls.length, 8);
  t.equal(sender.pending(), 20);
  for (let at = 0; at < 20; at++) {
    await until(() => calls.length > at, 'the next mail starts');
    t.ok(calls.length <= at + 8);
    calls[at]?.resolve();
  }
  t.ok((await Promise.all(sent)).every((outcome) => outcome.sent));
  t.equal(time.waiting(), 0, 'no timer is left');
});

t.test('a mail has ten seconds, waiting included, and is given up then', async (t) => {
  const { calls, sender, time, state } = setUp();
  state.verify = () => Promise.reject(away);
  const sent = mailsOf(9).map((one) => sender.send(one));
  time.pass(9_999);
  t.equal(sender.pending(), 9);
  time.pass(1);
  for (const outcome of await Promise.all(sent)) t.match(outcome, { sent: false, failure: 'deadline' });
  t.ok(calls.slice(0, 8).every((call) => call.signal.aborted));
  calls[0]?.resolve(); // Too late, and without effect.
  t.equal(sender.pending(), 0);
  await until(() => !sender.healthy(), 'a probe has found that mail is out of order');
});

t.test('a mail beyond the queue is refused at once, as a failure', async (t) => {
  const { sender, time } = setUp();
  const taken = mailsOf(1_008).map((one) => sender.send(one));
  t.equal(sender.pending(), 1_008);
  for (let more = 0; more < 3; more++) t.match(await sender.send(mail), { sent: false, failure: 'queue_full' });
  t.notOk(sender.healthy());
  time.pass(10_000);
  await Promise.all(taken);
});

t.test('mail is out of order after three failures in a row, until one succeeds', async (t) => {
  const { sender, fail, succeed, events } = setUp();
  await fail(away);
  await fail(new Error('anything'));
  await succeed();
  await fail(away);
  await fail(away);
  t.ok(sender.healthy(), 'a success between starts the count again');
  await fail(away);
  t.notOk(sender.healthy());
  await fail(away);
  await succeed();
  t.ok(sender.healthy());
  t.strictSame(
    events.filter(({ event }) => event === 'health'),
    [
      { event: 'health', healthy: false },
      { event: 'health', healthy: true },
    ],
  );
});

t.test('recipients that are refused do not end sign-in for everybody', async (t) => {
  const { sender, fail } = setUp();
  for (let at = 0; at < 10; at++) {
    t.match(await fail(new MailFailed('recipient', 'EENVELOPE 550')), { sent: false, failure: 'recipient' });
    await fail(new MailFailed('mail', 'address'));
  }
  await fail(new MailFailed('later', 'EENVELOPE 451'));
  t.ok(sender.healthy());
});

t.test('a recipient that the server is slow for ends nothing for others', async (t) => {
  const { sender, calls, time, state } = setUp();
  const slow = Array.from({ length: 23 }, () => sender.send(mail));
  t.match(await slow[22], { sent: false, failure: 'later' }, 'so many wait for one recipient');
  t.equal(calls.length, 2);
  const [other] = mailsOf(1).map((one) => sender.send(one));
  await until(() => calls.length === 3, 'the mail of another is sent beside them');
  calls[2]?.resolve();
  t.match(await other, { sent: true });
  time.pass(10_000);
  await Promise.all(slow);
  await until(() => state.verified > 0, 'the service is asked');
  t.ok(sender.healthy(), 'it works');
});

t.test('while mail is out of order it is probed every ten seconds', async (t) => {
  const { sender, fail, time, state } = setUp();
  state.verify = () => Promise.reject(away);
  for (let at = 0; at < 3; at++) await fail(away);
  time.pass(9_999);
  t.equal(state.verified, 0);
  time.pass(1);
  t.equal(state.verified, 1);
  await until(() => time.waiting() === 1, 'the next probe is set');
  state.verify = () => new Promise(() => {});
  time.pass(10_000);
  t.equal(state.verified, 2);
  state.verify = () => Promise.resolve();
  time.pass(20_000);
  t.equal(state.verified, 3, 'a probe that hangs has a deadline');
  await until(() => sender.healthy(), 'the probe has healed it');
  time.pass(100_000);
  t.equal(state.verified, 3, 'no probe while all is well');
});

t.test('closing waits for what was taken, and takes no more', async (t) => {
  const { sender, calls, state, time } = setUp();
  const [first, hanging] = [sender.send(mail), sender.send(mail)];
  const closed = sender.close();
  t.match(await sender.send(mail), { sent: false, failure: 'closed' });
  calls[0]?.resolve();
  t.match(await first, { sent: true });
  t.equal(state.closed, 0);
  time.pass(10_000);
  t.match(await hanging, { sent: false, failure: 'deadline' });
  await closed;
  t.equal(state.closed, 1);
  t.equal(time.waiting(), 0);
});

t.test('what is observed holds neither address nor code', async (t) => {
  const { fail, succeed, events } = setUp();
  await succeed();
  for (let at = 0; at < 3; at++) await fail(new Error('no mailbox a@x.test 482913'));
  t.notMatch(JSON.stringify(events), /x\.test|482913/);
});
