import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Contact, Stream, Suggestion } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { RunningCli, runCli } from '../../fixtures/cli.js';
import { importFile } from '../../fixtures/importing.js';
import { makeInsights } from '../../fixtures/insights.js';
import { TestSpool } from '../../fixtures/spool.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { until } from '../../fixtures/until.js';

const spool = await TestSpool.start({ RATE_LIMITS: 'off', CONTENT_WORKER: '0' });
t.teardown(() => spool.end());

async function noting(t: Test, email: string, permissions = ['turns:read', 'insights:read']) {
  const person = await TestAccount.open(spool, email);
  const body = { name: 'x', permissions, expires_at: null };
  const { value } = await person.ask<{ value: string }>('POST', '/me/tokens', body);
  const folder = tempFolder(t);
  const env = { SPOOL_TOKEN: value, PORT: `${spool.server.ports.public}`, TZ: 'Europe/Berlin' };
  const notes = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort();
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const run = (...args: string[]) => runCli(['notes', folder, ...args], env);
  const talk = async (name: string, captured_at: string, line = 'Anna: Good morning.') => {
    const text = `WEBVTT\n\n00:00.000 --> 00:02.000\n${line}\n\nNOTE ${name} ${captured_at}\n`;
    const importer = { app: person.app, base_url: spool.base_url };
    const { stream_id } = await importFile(importer, Buffer.from(text), { name: `${name}.vtt`, captured_at });
    return person.ask<Stream>('GET', `/audio/streams/${stream_id}`);
  };
  return { person, folder, env, notes, read, run, talk };
}

t.test('K-424 K-425 K-426 recordings become notes, and changes reach them one way', async (t) => {
  const { person, folder, notes, read, run, talk } = await noting(t, 'ann@notes.test');
  const plan = await talk('Planning', '2026-11-28T23:30:00.000Z');
  const other = await talk('Planning', '2026-11-29T10:00:00.000Z', 'Ben: Something else.');
  await makeInsights(person, plan, {
    span: [0, 2_000],
    conversation: { title: 'The plan', sentences: [{ text: 'They plan.', evidence: [] }] },
    suggestions: [{ text: 'Book the room', due_date: '2026-12-07' }],
  });
  const first = await run('--daily', '--links');
  t.match(first, { code: 0, errors: '', out: /3 written, 0 removed, 0 left/ });
  const [one = '', two = ''] = notes();
  t.same(notes().length, 3);
  t.match(
    [one, two],
    [/^2026-11-29 Planning( \w{8})?\.md$/, /^2026-11-29 Planning( \w{8})?\.md$/],
    'the day by the clocks here',
  );
  const nameOf = (id: string) => notes().find((name) => read(name).includes(`spool_id: "${id}"`)) ?? '';
  const note = read(nameOf(plan.id));
  t.match(note, 'title: "Planning"\ndate: "2026-11-29T00:30:00+01:00"\n');
  t.match(note, 'participants: ["[[Anna]]"]');
  t.match(note, '## Tasks\n\n- [ ] Book the room 📅 2026-12-07\n');
  t.match(note, /## Transcript\n\n\*\*0:00 \[\[Anna\]\]:\*\* Good morning\.\n$/);
  t.match(read('2026-11-29.md'), `- 00:30 [[${nameOf(plan.id).slice(0, -3)}]]`);

  t.match(await run('--daily', '--links'), { code: 0, out: '', errors: '' }, 'nothing is new');

  const { items } = await person.ask<{ items: Suggestion[] }>('GET', '/suggestions');
  const { id, state_version } = items[0] as Suggestion;
  await person.ask('PATCH', `/suggestions/${id}`, { state_version, status: 'completed' });
  const { items: people } = await person.ask<{ items: Contact[] }>('GET', '/contacts');
  const anna = people.find(({ name }) => name === 'Anna');
  await person.ask('PATCH', `/contacts/${anna?.id}`, { name: 'Anna Berg' });
  await person.ask('PATCH', `/audio/streams/${other.id}`, { title: 'Lunch: a / b' });
  t.match(await run('--daily', '--links'), { code: 0, out: /written/ });
  t.match(read(nameOf(plan.id)), '- [x] Book the room');
  t.match(read(nameOf(plan.id)), '[[Anna Berg]]:** Good');
  t.equal(nameOf(other.id), '2026-11-29 Lunch a b.md');
  t.match(read('2026-11-29.md'), '[[2026-11-29 Lunch a b]]');

  writeFileSync(join(folder, nameOf(other.id)), `${read(nameOf(other.id))}\nMy own words.\n`);
  await person.ask('DELETE', `/audio/streams/${other.id}`);
  await person.ask('DELETE', `/audio/streams/${plan.id}`);
  t.match(await run('--daily', '--links'), {
    code: 0,
    errors: '',
    out: /Lunch a b\.md: its recording was deleted; .*stays/,
  });
  t.same(notes(), ['2026-11-29 Lunch a b.md'], 'what nobody touched goes, also its day');

  const quiet = await talk('Quiet', '2026-11-27T10:00:00.000Z');
  await run('--daily', '--links');
  const conversation = { title: 'Late', sentences: [{ text: 'It came late.', evidence: [] }] };
  await makeInsights(person, quiet, { span: [0, 2_000], conversation, suggestions: [{ text: 'Do it' }] });
  t.match(await run('--daily', '--links'), { code: 0, errors: '', out: /written/ });
  t.match(read(nameOf(quiet.id)), '- [ ] Do it', 'a conversation that is made later');
  t.match(read(nameOf(quiet.id)), '- It came late.');

  const again = await talk('Plain', '2026-11-30T10:00:00.000Z');
  await run('--daily');
  t.match(read(nameOf(again.id)), /\*\*0:00 Anna:\*\* Good/, 'another form is written anew');
});

t.test('K-424 it follows what happens, and ends by a signal', async (t) => {
  const { env, folder, talk, person } = await noting(t, 'eve@notes.test');
  const running = new RunningCli(['notes', folder, '--follow'], env);
  t.teardown(() => running.end());
  await running.says(/writing notes to /);
  const stream = await talk('Later', '2026-11-30T10:00:00.000Z');
  const path = join(folder, '2026-11-30 Later.md');
  await until('the note', () => existsSync(path) && /Good morning/.test(readFileSync(path, 'utf8')));
  await person.ask('DELETE', `/audio/streams/${stream.id}`);
  await until('it is gone', () => !existsSync(path));
  running.signal('SIGTERM');
  t.equal(await running.exited, 0, running.out);
});

t.test('K-424 who may not, and what is not understood', async (t) => {
  const { env, folder, run, talk } = await noting(t, 'kim@notes.test', ['audio:read']);
  await talk('Talk', '2026-11-30T10:00:00.000Z');
  t.match(await run(), { code: 1, errors: /refused: 403.*turns:read and insights:read/ });
  t.match(await runCli(['notes', join(folder, 'no')], env), { code: 2, errors: /is not a folder/ });
  t.match(await runCli(['notes', folder], { ...env, SPOOL_TOKEN: 'wrong' }), { code: 1, errors: /does not accept/ });
  writeFileSync(join(folder, '.spool-notes.json'), '{"version": 1, "notes": {"x": {"name": "../x.md"}}}');
  t.match(await run(), { code: 1, errors: /is not a state of spool notes/ });
});
