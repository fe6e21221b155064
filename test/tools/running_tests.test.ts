import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { tempFolder } from '../fixtures/temp_folder.js';

/** `npm test` leans on the inside of tap 21. Another tap that breaks it is told from here. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TAP = import.meta.resolve('tap');

type FileReport = { path: string; tap: string; errors: string; passed: number; failed: string[] };
type Options = { next(): string | undefined; tell(file: FileReport): void; env: object } & Partial<Limits>;
type Limits = { file_timeout_s: number; end_max_ms: number };

/** What `npm test` hears of files with these texts, in one process. */
async function hear(t: Parameters<typeof tempFolder>[0], texts: readonly string[], limits: Partial<Limits> = {}) {
  const { runFiles } = (await import(join(ROOT, 'tools/testing/file_process.mjs'))) as {
    runFiles(first: string, options: Options): Promise<void>;
  };
  const folder = tempFolder(t);
  const [first = '', ...others] = texts.map((text, index) => {
    const path = join(folder, `file_${index}.mjs`);
    writeFileSync(path, `import t from '${TAP}';\n${text}`);
    return path;
  });
  const heard: FileReport[] = [];
  await runFiles(first, { next: () => others.shift(), tell: (file) => heard.push(file), env: {}, ...limits });
  return heard;
}

t.test('files run in one process, and what one wants done at its end is done before the next', async (t) => {
  const heard = await hear(t, [
    `console.log('pid', process.pid);
     t.teardown(() => console.log('then the first'));
     t.teardown(async () => console.log('the last comes first'));
     t.test('one', async (t) => { t.teardown(() => console.log('of a test')); t.pass(); t.pass(); });
     t.test('left out', { skip: true }, () => {});`,
    "console.log('pid', process.pid); t.test('two', async (t) => t.ok(true)); t.test('three', async () => {});",
  ]);
  t.match(heard, [
    { passed: 1, failed: [] },
    { passed: 2, failed: [] },
  ]);
  t.match(heard[0]?.tap, /of a test.*the last comes first.*then the first/s);
  t.notMatch(heard[1]?.tap, /the first/);
  const [one, two] = heard.map(({ tap }) => /^pid (\d+)$/m.exec(tap)?.[1]);
  t.ok(one !== undefined && one === two);
});

t.test('what fails is named, and ends the process', async (t) => {
  const fails = "t.test('good', async () => {}); t.test('bad', async (t) => t.equal(1, 2, 'one is two'));";
  const [file, ...others] = await hear(t, [fails, '']);
  t.match(file, { passed: 1, failed: ['bad'], tap: /one is two/ });
  t.same(others, [], 'the next file gets another process');
  t.match(await hear(t, ["throw new Error('on import');"]), [
    { failed: [/could not be imported/], errors: /on import/ },
  ]);
  const nobody =
    "t.test('x', async () => { void Promise.reject(new Error('nobody')); await new Promise(setImmediate); });";
  t.match(await hear(t, [nobody]), [{ passed: 0, errors: /Error: nobody/ }]);
  t.match(await hear(t, ['let let;']), [{ failed: [/could not be imported/], errors: /SyntaxError/ }]);
  const ends = (how: string) => `t.test('x', async () => { ${how}; await new Promise(() => {}); });`;
  t.match(await hear(t, [ends("process.kill(process.pid, 'SIGKILL')")]), [{ failed: [/was ended by SIGKILL/] }]);
  t.match(await hear(t, [ends('process.exit(3)')]), [{ failed: [/ended with exit code/] }]);
  t.match(await hear(t, ['']), [{ failed: [/no test ran/] }]);
  const late = "t.test('x', async () => void setTimeout(() => { throw new Error('late'); }, 50));";
  t.match((await hear(t, [late])).at(-1), { failed: [/ended with exit code/], errors: /Error: late/ });
  const leaves = "t.teardown(() => { throw new Error('at its end'); }); t.test('good', async () => {});";
  t.match(await hear(t, [leaves]), [{ passed: 1, failed: [/end of file/], tap: /at its end/ }]);
});

t.test('a file that hangs fails by its timeout, and a process that something holds says by what', async (t) => {
  const hangs = "t.test('hangs', () => new Promise(() => setInterval(() => {}, 1000)));";
  const [hung] = await hear(t, [hangs], { file_timeout_s: 1, end_max_ms: 1_500 });
  t.match(hung?.tap, /timeout!/);
  t.ok((hung?.failed.length ?? 0) > 0);
  const holds = "setInterval(() => {}, 1000); t.test('good', async () => {});";
  t.match(await hear(t, [holds], { end_max_ms: 1_500 }), [
    { passed: 1, failed: [] },
    { failed: ['was still held 1.5 s after its tests'], errors: /held by .*Timeout/ },
  ]);
});

t.test('a file that failed beside others and passes alone is named, and does not count as failed', async (t) => {
  const { Report } = (await import(join(ROOT, 'tools/testing/report.mjs'))) as {
    Report: new (
      files: number,
    ) => { add(file: object): void; failed_files: string[]; failed: number; printEnd(left_out: object): void };
  };
  const lines: string[] = [];
  t.intercept(console, 'log', { value: (line: string) => lines.push(line) });
  const report = new Report(2);
  const file = { tap: '', errors: '', ending: null, ms: 1, cpu_s: 1 };
  report.add({ ...file, path: 'a', passed: 1, failed: ['one', 'two'] });
  report.add({ ...file, path: 'b', passed: 2, failed: ['three'] });
  t.same([report.failed, report.failed_files], [3, ['a', 'b']]);
  report.add({ ...file, path: 'a', passed: 3, failed: [] });
  report.add({ ...file, path: 'b', passed: 2, failed: ['three'] });
  report.printEnd({ without_browser: 0, no_chromium: '' });
  t.same(lines.slice(-3), ['failed beside others and passed alone: a', 'failed: b: three', '\n5 passed, 1 failed']);
});

t.test('tap follows promises by way of createHook, which tests do without', async (t) => {
  const program = `
    import async_hooks from 'node:async_hooks';
    import { syncBuiltinESMExports } from 'node:module';
    let made = 0;
    async_hooks.createHook = () => { made += 1; return { enable() {}, disable() {} }; };
    syncBuiltinESMExports();
    const { default: t } = await import('tap');
    await t.test('one', async () => {});
    console.log('hooks made:', made > 0);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT });
  t.match(stdout, /hooks made: true/);
});
