import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { tempFolder } from '../fixtures/temp_folder.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** A small checkout with our build program. */
function checkout(t: Parameters<typeof tempFolder>[0]) {
  const folder = tempFolder(t);
  const at = (path: string) => join(folder, path);
  const write = (path: string, text: string) => {
    mkdirSync(join(at(path), '..'), { recursive: true });
    writeFileSync(at(path), text);
  };
  cpSync(join(ROOT, 'tools', 'setup'), at('tools/setup'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), at('node_modules'));
  write('package.json', '{"type":"module"}');
  write('package-lock.json', '{}');
  write('tsconfig.json', '{"compilerOptions":{"verbatimModuleSyntax":true}}');
  write('tsconfig.app.json', '{"compilerOptions":{"jsx":"react-jsx","jsxImportSource":"preact"}}');
  write('app/main.tsx', "import { render } from 'preact';\nrender(<p>one</p>, document.body);\n");
  write('app/app.css', 'p { color: red; }\n');
  write('app/worker/service_worker.ts', 'addEventListener("fetch", () => {});\n');
  write('app/operator/main.tsx', "import { render } from 'preact';\nrender(<p>operators</p>, document.body);\n");
  write('app/operator/operator.css', 'p { color: blue; }\n');
  write('src/number.ts', 'export const number: number = 1;\n');
  write('src/main.ts', "import { number } from './number.js';\nconsole.log(number);\n");
  write('src/words.d.ts', 'declare module "words";\n');
  write('src/pages/page.eta', 'page one');
  const program = "import('./tools/setup/build.mjs').then(({ ensureBuilt }) => ensureBuilt())";
  const build = () => run(process.execPath, ['-e', program], { cwd: folder });
  const main = async () => (await run(process.execPath, [at('dist/src/main.js')])).stdout.trim();
  const outputs = () =>
    readdirSync(at('dist/src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.includes('.') && !path.startsWith('app'))
      .toSorted();
  return { at, write, build, main, outputs };
}

t.test('a build makes what changed anew, and takes away what has no source', async (t) => {
  const { at, write, build, main, outputs } = checkout(t);
  t.match((await build()).stderr, /^building \(\d+\.\d s\)\n$/);
  t.equal(await main(), '1');
  t.same(outputs(), ['main.js', 'main.js.map', 'number.js', 'number.js.map', 'pages/page.eta']);
  t.match(JSON.parse(readFileSync(at('dist/src/main.js.map'), 'utf8')), { sources: ['../../src/main.ts'] });
  t.equal((await build()).stderr, '', 'nothing changed');

  writeFileSync(at('dist/src/main.js'), 'console.log("kept");');
  write('src/number.ts', 'export const number: number = 22;\n');
  write('src/pages/page.eta', 'page two');
  await build();
  t.equal(await main(), 'kept', 'what did not change is left alone');
  t.match(readFileSync(at('dist/src/number.js'), 'utf8'), /22/);
  t.equal(readFileSync(at('dist/src/pages/page.eta'), 'utf8'), 'page two');

  rmSync(at('src/pages'), { recursive: true });
  rmSync(at('dist/src/main.js'));
  writeFileSync(at('dist/src/number.js.4711.tmp'), 'of a build that was killed');
  await build();
  t.same(outputs(), ['main.js', 'main.js.map', 'number.js', 'number.js.map']);
  t.equal(await main(), '22', 'an output that was lost is made again');

  write('tsconfig.json', '{"compilerOptions":{"verbatimModuleSyntax":true,"target":"es2023"}}');
  writeFileSync(at('dist/src/main.js'), 'console.log("old");');
  await build();
  t.equal(await main(), '22', 'other settings make everything anew');
});

t.test('each of the two apps is one script and one stylesheet, named by what is in them, and compressed', async (t) => {
  const { at, write, build } = checkout(t);
  await build();
  const files = () => readdirSync(at('dist/app_bundle')).toSorted();
  const script = () => JSON.parse(readFileSync(at('dist/app_bundle/manifest.json'), 'utf8')).script as string;
  const first = { files: files(), script: script() };
  t.equal(first.files.length, 5 * 3 + 1);
  t.ok(first.files.includes(`${first.script}.br`));
  t.match(first.script, /^script-[A-Z0-9]{8}\.js$/);
  t.match(gunzipSync(readFileSync(at(`dist/app_bundle/${first.script}.gz`))).toString(), 'one');
  t.equal((await build()).stderr, '', 'nothing changed');

  write('src/number.ts', 'export const number: number = 2;\n');
  writeFileSync(at(`dist/app_bundle/${first.script}`), 'kept');
  await build();
  t.equal(readFileSync(at(`dist/app_bundle/${first.script}`), 'utf8'), 'kept', 'nothing of the app changed');

  write('app/main.tsx', "import { render } from 'preact';\nrender(<p>another</p>, document.body);\n");
  await build();
  t.not(script(), first.script);
  t.notOk(existsSync(at(`dist/app_bundle/${first.script}`)), 'what nothing names any more is gone');
  t.equal(files().length, first.files.length);

  rmSync(at('dist/app_bundle/manifest.json'));
  await build();
  t.ok(existsSync(at('dist/app_bundle/manifest.json')), 'what was lost is made again');

  write('app/main.tsx', 'const = 3;\n');
  await t.rejects(build(), { code: 1, stderr: /app\/main\.tsx:1:/ }, 'a fault names the file and the line');
});

t.test('a build that broke off or failed is not trusted', async (t) => {
  const { at, write, build, main } = checkout(t);
  await build();
  // As a build leaves it that is killed in the middle: no stamp, a lock of a process that is gone.
  rmSync(at('dist/.built_from'));
  writeFileSync(at('dist/src/main.js'), 'console.log(');
  const { pid } = await new Promise<{ pid: number | undefined }>((resolve) => {
    const child = execFile(process.execPath, ['-e', ''], () => resolve({ pid: child.pid }));
  });
  writeFileSync(at('dist/.building'), String(pid));
  await build();
  t.equal(await main(), '1');
  t.notOk(existsSync(at('dist/.building')));

  write('src/number.ts', 'export const number: = 3;\n');
  await t.rejects(build(), { code: 1, stderr: /src\/number\.ts:1:/ }, 'it names the file and the line');
  await t.rejects(build(), { code: 1 }, 'also the second time');
  write('src/number.ts', 'export const number = 3;\n');
  await build();
  t.equal(await main(), '3');
});

t.test('a program that has built goes on without the compiler', async (t) => {
  const { at } = checkout(t);
  const program = `import('./tools/setup/build.mjs').then(async ({ ensureBuilt }) => {
    ensureBuilt();
    const { readdirSync, readFileSync } = require('fs');
    const childrenOf = (task) => readFileSync('/proc/self/task/' + task + '/children', 'utf8');
    while (readdirSync('/proc/self/task').some((task) => childrenOf(task) !== ''))
      await new Promise((later) => setTimeout(later, 10));
    console.log('alone');
  })`;
  const { stdout } = await run(process.execPath, ['-e', program], { cwd: at('.'), timeout: 60_000 });
  t.equal(stdout.trim(), 'alone');
});

t.test('builds at once give one whole result', async (t) => {
  const { at, write, build, main } = checkout(t);
  for (let number = 0; number < 50; number++) write(`src/many/file_${number}.ts`, `export const n = ${number};\n`);
  const said = await Promise.all(Array.from({ length: 4 }, build));
  t.equal(said.filter(({ stderr }) => stderr !== '').length, 1, 'one builds, the others wait for it');
  t.equal(await main(), '1');
  t.equal(readdirSync(at('dist/src/many')).length, 100);
});
