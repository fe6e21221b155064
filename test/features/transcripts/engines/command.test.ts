import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commandEngine, removeLeftBehind } from '../../../../src/features/transcripts/engines/command.js';
import { commandWords } from '../../../../src/features/transcripts/engines/command_line.js';
import { EngineFailed } from '../../../../src/features/transcripts/engines/engine.js';
import type { WindowFile } from '../../../../src/features/transcripts/window_audio.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';
import { until } from '../../../fixtures/until.js';
import { counting, REQUEST, StoredStream, wav16 } from '../../../fixtures/window.js';

const SECRET = 'hush-hush-hush';

t.test('a command is words, by the rules of quotes', async (t) => {
  const rows: [string, string[] | null][] = [
    ['whisper -f {audio}', ['whisper', '-f', '{audio}']],
    ['  a\tb  ', ['a', 'b']],
    [`'my program' "a b"c \\"d e\\ f`, ['my program', 'a bc', '"d', 'e f']],
    [`'' "" x`, ['', '', 'x']],
    [`'a\\b' "a\\\\b" "it's"`, ['a\\b', 'a\\b', "it's"]],
    ['a $HOME *.wav | b; c && d', ['a', '$HOME', '*.wav', '|', 'b;', 'c', '&&', 'd']],
    [`'open`, null],
    ['"open', null],
    ['end\\', null],
    ['', []],
  ];
  for (const [command, words] of rows) t.same(commandWords(command), words, command);
});

/** Audio of four seconds and a folder of scripts. Temporary folders of commands lie in `tmp` while the test runs. */
async function openWorld(t: Test) {
  const stream = await StoredStream.open(t);
  await stream.add([0, 4_000], wav16(counting(4_000)));
  const [file] = (await stream.files(0, 4_000)) as [WindowFile];
  const folder = tempFolder(t);
  const tmp = join(folder, 'tmp');
  mkdirSync(tmp);
  const before = { TMPDIR: process.env.TMPDIR, TRANSCRIBE_KEY: process.env.TRANSCRIBE_KEY };
  Object.assign(process.env, { TMPDIR: tmp, TRANSCRIBE_KEY: SECRET });
  t.teardown(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  const script = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const run = (words: string[], { ms, signal }: { ms?: number; signal?: AbortSignal } = {}) =>
    commandEngine(words, ms).hear({ file, ...REQUEST }, signal ?? new AbortController().signal);
  const failure = async (words: string[], more: Parameters<typeof run>[1] = {}) => {
    const error = await run(words, more).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof EngineFailed)) throw error ?? new Error('it did not fail');
    t.same(readdirSync(tmp), [], 'its folder is gone');
    return error.failure;
  };
  return { folder, tmp, script, run, failure, file };
}

const isAlive = (pid: number) => {
  try {
    // A zombie has ended: whoever started it has not asked yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

t.test('it gets the audio as a file, and little else', async (t) => {
  const { script, run, file, folder, tmp } = await openWorld(t);
  const words = [script('look', `cp "$2" ${folder}/copy.wav; env > ${folder}/env; pwd > ${folder}/pwd; echo "$1 $2"`)];
  const heard = await run([...words, '--file', '{audio}']);
  const [said] = heard.segments;
  t.match(said, { start_s: 0, end_s: 4, words: [] });
  t.match(said?.text, /^--file \/.*\/spool-audio-.*\/audio\.wav\n$/);
  t.ok(readFileSync(join(folder, 'copy.wav')).equals(file.bytes));
  const env = readFileSync(join(folder, 'env'), 'utf8');
  t.notMatch(env, /hush|^TRANSCRIBE|^npm_|^NODE_/im, 'nothing of our environment');
  t.match(env, /^PATH=/m);
  t.match(readFileSync(join(folder, 'pwd'), 'utf8'), tmp);
  t.same(readdirSync(tmp), [], 'its folder is gone');
});

t.test('JSON is read as servers write it', async (t) => {
  const { script, run } = await openWorld(t);
  const answer = JSON.stringify({ language: 'en', segments: [{ text: 'It is "so".', start: 1, end: 2 }] });
  const heard = await run([script('json', `cat <<'E'\n\n  ${answer}\nE`), '{audio}']);
  t.match(heard, { language: 'en', segments: [{ text: 'It is "so".', start_s: 1, end_s: 2 }] });
});

t.test('no shell reads the words', async (t) => {
  const { folder, run } = await openWorld(t);
  const { segments } = await run(['/bin/echo', `$HOME; touch ${folder}/made`, '{audio}']);
  t.match(segments[0]?.text, /^\$HOME; touch /);
  t.notOk(existsSync(join(folder, 'made')));
});

t.test('every failure has its code, and nothing of it is left', async (t) => {
  const { folder, script, run, failure } = await openWorld(t);
  t.match(await failure(['/no/such/program', '{audio}']), { code: 'ENGINE_MISSING', message: /ENOENT/, retry: true });
  const fails = await failure([script('fails', `echo ${SECRET}; echo ${SECRET} >&2; exit 3`), '{audio}']);
  t.match(fails, { code: 'ENGINE_EXITED', message: 'The program ended with exit code 3.', retry: true });
  t.notMatch(JSON.stringify(fails), SECRET);
  t.match(await failure([script('dies', 'kill -9 $$'), '{audio}']), { code: 'ENGINE_EXITED', message: /signal/ });
  t.match(await failure([script('half', `echo '{"text": "ha'`), '{audio}']), { code: 'ENGINE_NOT_JSON' });
  const pours = script('pours', `echo $$ > ${folder}/pours.pid; exec cat /dev/zero`);
  t.match(await failure([pours, '{audio}']), { code: 'ENGINE_ANSWER_TOO_LARGE', retry: true });
  t.notOk(isAlive(Number(readFileSync(join(folder, 'pours.pid'), 'utf8'))));

  // It leaves a child behind that never ends and holds the output open.
  const forks = script('forks', `sleep 1000 & echo $! > ${folder}/child.pid; echo said; exit 0`);
  t.match(await run([forks, '{audio}']), { segments: [{ text: 'said\n' }] });
  const childOf = (name: string) => Number(readFileSync(join(folder, name), 'utf8'));
  await until('the child is killed', () => !isAlive(childOf('child.pid')));

  const hangs = script('hangs', `sleep 1000 & echo $! > ${folder}/hung.pid; wait`);
  t.match(await failure([hangs, '{audio}'], { ms: 300 }), { code: 'ENGINE_TIMEOUT', retry: true });
  await until('the child of one that hangs is killed', () => !isAlive(childOf('hung.pid')));

  const stop = new AbortController();
  const hung = childOf('hung.pid');
  const stopped = failure([hangs, '{audio}'], { signal: stop.signal });
  await until('it runs again', () => childOf('hung.pid') !== hung && childOf('hung.pid') > 0);
  stop.abort();
  t.match(await stopped, { code: 'ENGINE_STOPPED', retry: true });
  t.match(await failure([hangs, '{audio}'], { signal: stop.signal }), { code: 'ENGINE_STOPPED' }, 'not even begun');
});

t.test('audio that a killed server left behind goes', async (t) => {
  const { tmp } = await openWorld(t);
  const now = Date.now();
  for (const [name, age_s] of [
    ['spool-audio-old', 3_700],
    ['spool-audio-new', 3_500],
    ['spool-other', 9_000],
  ] as const) {
    mkdirSync(join(tmp, name));
    writeFileSync(join(tmp, name, 'audio.wav'), 'x');
    utimesSync(join(tmp, name), now / 1_000 - age_s, now / 1_000 - age_s);
  }
  await removeLeftBehind(now);
  t.same(readdirSync(tmp).sort(), ['spool-audio-new', 'spool-other']);
});
