import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findRedisProgram, isAtLeast, NoRedisProgram } from '../../../src/engine/process/redis_program.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const log = () => {};
const script = (path: string, text: string) => writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
const printsVersion = (version: string) => `echo "Redis server v=${version} sha=00000000:0 malloc=libc bits=64"`;

t.test('the one in PATH is found', async (t) => {
  const { program, version } = await findRedisProgram({ log });
  t.match(program, /\/redis-server$/);
  t.ok(isAtLeast(version, '7.0.0'));
});

t.test('without one and without a package manager the error names the choices', async (t) => {
  await t.rejects(findRedisProgram({ log, path: tempFolder(t) }), {
    name: 'NoRedisProgram',
    message: /not installed[\s\S]*install redis-server 7[\s\S]*REDIS_URL[\s\S]*docker compose up/,
  });
});

t.test('one that is too old, or no Redis at all, is refused', async (t) => {
  const path = tempFolder(t);
  script(join(path, 'redis-server'), printsVersion('6.2.14'));
  await t.rejects(findRedisProgram({ log, path }), { message: /is version 6\.2\.14, which is older than 7\.0\.0/ });
  script(join(path, 'redis-server'), 'echo hello');
  await t.rejects(findRedisProgram({ log, path }), NoRedisProgram);
});

t.test('as root it is installed', { skip: process.getuid?.() === 0 ? false : 'not root' }, async (t) => {
  const path = tempFolder(t);
  const lines: string[] = [];
  // Without network `update` fails, and the lists that are there may do.
  script(
    join(path, 'apt-get'),
    `[ "$1" = install ] || exit 100
     [ "$2 $DEBIAN_FRONTEND" = "-y noninteractive" ] || exit 1
     printf '#!/bin/sh\\n%s\\n' '${printsVersion('7.2.4')}' > ${path}/redis-server
     /bin/chmod 755 ${path}/redis-server`,
  );
  t.match(await findRedisProgram({ log: (line) => lines.push(line), path }), { version: '7.2.4' });
  t.match(lines, ['redis-server is not installed; installing it with apt-get']);
});

t.test('an installer that fails is named', { skip: process.getuid?.() === 0 ? false : 'not root' }, async (t) => {
  const path = tempFolder(t);
  script(join(path, 'apt-get'), 'echo "E: Unable to locate package" >&2; exit 100');
  await t.rejects(findRedisProgram({ log, path }), { message: /apt-get could not install it \(E: Unable to locate/ });
});

t.test('versions compare by number', async (t) => {
  t.ok(isAtLeast('7.0.0', '7.0.0'));
  t.ok(isAtLeast('10.0.0', '7.0.0'));
  t.notOk(isAtLeast('6.9.99', '7.0.0'));
});
