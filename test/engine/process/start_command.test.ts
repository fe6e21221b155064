import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { tempFolder } from '../../fixtures/temp_folder.js';

/** The repository's folder, from where `npm start` runs. */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const readOwn = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const THREADS = 16;
const SEMI_SPACE_FLAG = '--max-semi-space-size=64';

/** Says how many more threads it has than it would have with one that waits for files. */
const PROBE = `
import { promises, readdirSync } from 'node:fs';
await promises.readFile(import.meta.filename);
console.log(readdirSync('/proc/self/task').length);
`;

t.test(
  'npm start has as many threads for files as the image and the unit, and the same flags',
  { skip: process.platform === 'linux' ? false : 'counts threads in /proc' },
  async (t) => {
    const probe = join(tempFolder(t), 'probe.mjs');
    writeFileSync(probe, PROBE);
    const [node, ...args] = (JSON.parse(readOwn('package.json')).scripts.start as string).split(' ');
    t.equal(node, 'node');
    t.equal(args.pop(), 'tools/start.mjs');
    t.ok(args.includes(SEMI_SPACE_FLAG));
    const { UV_THREADPOOL_SIZE: _, ...env } = process.env;
    const threadsWith = (more: NodeJS.ProcessEnv) =>
      Number(execFileSync(process.execPath, [...args, probe], { cwd: ROOT, env: { ...env, ...more } }).toString());
    const of_one = threadsWith({ UV_THREADPOOL_SIZE: '1' });
    t.equal(threadsWith({}) - of_one, THREADS - 1);
    t.equal(threadsWith({ UV_THREADPOOL_SIZE: '4' }) - of_one, 3, 'who says how many gets those');
    for (const file of ['Dockerfile', 'deploy/systemd/spool.service']) {
      t.match(readOwn(file), `UV_THREADPOOL_SIZE=${THREADS}`, file);
      t.match(readOwn(file), SEMI_SPACE_FLAG, file);
    }
  },
);
