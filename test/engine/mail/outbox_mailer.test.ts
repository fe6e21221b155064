import { spawnSync } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { listOutbox, OutboxMailer } from '../../../src/engine/mail/outbox_mailer.js';
import { codeMail } from '../../../src/features/accounts/code_mail.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const never = new AbortController().signal;
const start_ms = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function open(dir: string, options: { files_max?: number; nowMs?: () => number } = {}) {
  return new OutboxMailer({ dir, mail_from: 'Spool <no-reply@spool.test>', nowMs: () => start_ms, ...options });
}

t.test('A-001 a mail with a six-digit code lies in the outbox, the code alone on a line', async (t) => {
  const dir = path.join(tempFolder(t), 'outbox');
  const mailer = open(dir);
  await mailer.verify();
  await mailer.send(codeMail({ to: 'ada@x.test', code: '048291' }), never);
  const [file] = await readdir(dir);
  t.match(file, /^20260102T030405678Z-000001-[0-9a-f]{8}\.eml$/);
  const raw = await readFile(path.join(dir, file as string), 'latin1');
  t.strictSame(raw.match(/^\d{6}$/gm), ['048291']);
  t.notMatch(raw.replace(/\r\n/g, ''), /[\r\n]/, 'every line ends with CRLF');
  for (const name of ['From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version'])
    t.match(raw, new RegExp(`^${name}: `, 'm'));
  t.equal((await stat(dir)).mode & 0o777, 0o700);
  t.equal((await stat(path.join(dir, file as string))).mode & 0o777, 0o600);
  const [mail] = await listOutbox(dir, { limit: 10 });
  t.strictSame(mail, {
    file,
    to: 'ada@x.test',
    subject: 'Your Spool sign-in code',
    text: codeMail({ to: '', code: '048291' }).text,
    date: '2026-01-02T03:04:05.000Z',
  });
});

t.test('the sign-in mail names the product, the ten minutes, and what to do when it was not asked for', async (t) => {
  const { subject, text } = codeMail({ to: 'a@x.test', code: '482913' });
  t.match(text, /Spool/);
  t.match(text, /ten minutes/);
  t.match(text, /ignore this mail/);
  t.strictSame(text.match(/^\d{6}$/gm), ['482913']);
  t.notMatch(subject, /482913/);
});

t.test('any text comes back as it was sent', async (t) => {
  const dir = path.join(tempFolder(t), 'outbox');
  const mailer = open(dir);
  const mails = [
    { to: 'a@x.test', subject: 'Grüße, 世界 🌍 = ? _ ', text: 'Grüße = 世界 🌍\nFrom here\n.\n trailing \t\n=3D\n' },
    { to: 'b@x.test', subject: '世界'.repeat(60), text: `${'ü'.repeat(3_000)}\n${'x'.repeat(3_000)}\n\n\n` },
    { to: 'c@x.test', subject: 'Re: (plain) "quoted" <x>', text: 'Subject: no\n\nSubject: no\n' },
    { to: 'd@x.test', subject: `a ${'word '.repeat(30)}`, text: '' },
  ];
  for (const mail of mails) await mailer.send(mail, never);
  const listed = await listOutbox(dir, { limit: 10 });
  t.strictSame(
    listed.reverse().map(({ to, text }) => ({ to, text: text.trimEnd() })),
    mails.map(({ to, text }) => ({ to, text: text.trimEnd() })),
  );
  t.strictSame(
    listed.map(({ subject }) => subject.trimEnd()),
    mails.map(({ subject }) => subject.trimEnd()),
  );
});

const has_python = spawnSync('python3', ['--version']).status === 0;

t.test('another parser reads the files alike', { skip: has_python ? false : 'needs python3' }, async (t) => {
  const dir = path.join(tempFolder(t), 'outbox');
  await open(dir).send({ to: 'a@x.test', subject: 'Grüße 世界 🌍', text: 'Grüße 🌍\n\n482913\n' }, never);
  const script = [
    'import sys, json, email, email.policy, glob',
    'm = email.message_from_bytes(open(glob.glob(sys.argv[1] + "/*.eml")[0], "rb").read(), policy=email.policy.default)',
    'print(json.dumps([m["to"], m["subject"], m.get_content().replace(chr(13), ""), len(m.defects)]))',
  ].join('\n');
  const parsed = JSON.parse(spawnSync('python3', ['-c', script, dir], { encoding: 'utf8' }).stdout);
  t.strictSame(parsed, ['a@x.test', 'Grüße 世界 🌍', 'Grüße 🌍\n\n482913\n', 0]);
});

t.test('names sort by time of sending, also within a millisecond and when the clock is set back', async (t) => {
  const dir = path.join(tempFolder(t), 'outbox');
  const times = [0, 0, 0, 5, 2, 9].map((after_ms) => start_ms + after_ms);
  const mailer = open(dir, { nowMs: () => times.shift() as number });
  for (let at = 0; at < 6; at++) await mailer.send({ to: 'a@x.test', subject: `${at}`, text: '' }, never);
  const subjects = async (limit: number) => (await listOutbox(dir, { limit })).map(({ subject }) => subject);
  t.strictSame(await subjects(10), ['5', '4', '3', '2', '1', '0']);
  t.strictSame(await subjects(2), ['5', '4']);
  t.strictSame(await subjects(0), []);
});

t.test('the newest files are kept, the older go', async (t) => {
  const dir = path.join(tempFolder(t), 'outbox');
  let now_ms = start_ms;
  const options = { files_max: 5, nowMs: () => now_ms++ };
  const first = open(dir, options);
  for (let at = 0; at < 4; at++) await first.send({ to: 'a@x.test', subject: `${at}`, text: '' }, never);
  const second = open(dir, options); // Started anew: it counts what lies there.
  await Promise.all(
    Array.from({ length: 6 }, (_, at) => second.send({ to: 'a@x.test', subject: `${at + 4}`, text: '' }, never)),
  );
  const kept = (await listOutbox(dir, { limit: 100 })).map(({ subject }) => Number(subject));
  t.equal(kept.length, 5);
  t.ok(
    kept.every((at) => at >= 4),
    'which of those that were sent at once is the oldest, nobody can say',
  );
  t.equal((await readdir(dir)).length, 5, 'no temporary file is left');
});

t.test('what is no mail of the outbox is passed over, a missing folder is empty', async (t) => {
  const dir = t.testdir({ 'notes.txt': 'x', '.20260102T030405678Z-000001-1a2b3c4d.eml.tmp': 'x' });
  t.strictSame(await listOutbox(dir, { limit: 10 }), []);
  t.strictSame(await listOutbox(path.join(dir, 'none'), { limit: 10 }), []);
  await writeFile(path.join(dir, '20260102T030405678Z-000001-1a2b3c4d.eml'), 'garbage');
  t.equal((await listOutbox(dir, { limit: 10 })).length, 1, 'and damage in a file does not hide the others');
});

t.test('a folder that can not be made is a failure of the service', async (t) => {
  const dir = t.testdir({ blocked: 'a file' });
  const mailer = open(path.join(dir, 'blocked', 'outbox'));
  const mail = { to: 'a@x.test', subject: 'x', text: 'x' };
  await t.rejects(mailer.send(mail, never), { name: 'MailFailed', failure: 'service', reason: 'ENOTDIR' });
  await t.rejects(mailer.verify(), { name: 'MailFailed', failure: 'service' });
  await t.rejects(mailer.send({ ...mail, to: 'a@x.test\nBcc: b@x.test' }, never), {
    name: 'MailFailed',
    failure: 'mail',
  });
});
