import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { findRedisProgram } from '../src/engine/process/redis_program.js';
import { SpoolProcess } from './driver/spool_process.js';
import { freePort } from './fixtures/free_port.js';
import { tempFolder } from './fixtures/temp_folder.js';
import { until } from './fixtures/until.js';

type Service = { image?: string; build?: string; ports?: string[]; networks?: string[]; command?: string[] };

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const { services, networks } = parse(read('compose.yaml')) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
};
const networksOf = (name: string) => services[name]?.networks ?? ['default'];
/** As compose passes it on: a dollar sign is written twice. */
const commandOf = (name: string) => (services[name]?.command ?? []).map((part) => part.replaceAll('$$', '$'));

function run(t: Test, [program = '', ...args]: string[], env: Record<string, string> = {}) {
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('close', resolve));
  t.teardown(() => {
    child.kill();
    return ended;
  });
  return { child, ended };
}

t.test('every image is named by its digest', async (t) => {
  const images = Object.values(services).flatMap(({ image }) => image ?? []);
  const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
  t.ok(images.length >= 4 && bases.length === 2);
  for (const image of [...images, ...bases]) t.match(image, /^[a-z0-9./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
});

t.test('Redis is published nowhere, and only the server reaches it', async (t) => {
  t.equal(services.redis?.ports, undefined);
  t.same(networksOf('redis'), ['storage']);
  t.equal(networks.storage?.internal, true);
  const reaching = Object.keys(services).filter((name) => networksOf(name).includes('storage'));
  t.same(reaching.toSorted(), ['redis', 'server']);
});

t.test('the speech engine shares a network with nobody but what passes on to it', async (t) => {
  t.same(networksOf('speech-engine'), ['speech']);
  const sharing = Object.keys(services).filter((name) => networksOf(name).includes('speech'));
  t.same(sharing.toSorted(), ['speech', 'speech-engine']);
});

t.test('Redis makes its password at the first start and keeps it; the server comes in with it', async (t) => {
  const folder = tempFolder(t);
  const [secret, data, bin] = ['secret', 'data', 'bin'].map((name) => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  }) as [string, string, string];
  const { program: redis_server } = await findRedisProgram({ log: () => {} });
  const port = await freePort();
  writeFileSync(join(bin, 'docker-entrypoint.sh'), `#!/bin/sh\nshift\nexec ${redis_server} "$@" --port ${port}\n`);
  chmodSync(join(bin, 'docker-entrypoint.sh'), 0o755);
  const command = commandOf('redis').map((part) =>
    part.replaceAll('/secret', secret).replace('--appendonly', `--dir ${data} --appendonly`),
  );
  const begin = () => run(t, command, { PATH: `${bin}:${process.env.PATH}` });
  const password = () => readFileSync(join(secret, 'password'), 'utf8');
  const answers = async (given?: string) => {
    const redis = new Redis({ port, retryStrategy: () => null, lazyConnect: true, ...(given && { password: given }) });
    redis.on('error', () => {});
    const said = await redis.ping().catch((error: Error) => error.message);
    redis.disconnect();
    return said;
  };

  const first = begin();
  await until('it has a password', () => existsSync(join(secret, 'password')));
  await until('it answers', async () => (await answers(password())) === 'PONG');
  t.match(password(), /^[0-9a-f]{64}$/);
  t.match(await answers(), /NOAUTH/);
  const server = new SpoolProcess(join(folder, 'spool'), {
    REDIS_URL: `redis://127.0.0.1:${port}`,
    REDIS_PASSWORD_FILE: join(secret, 'password'),
  });
  t.teardown(() => server.stop());
  await server.ready();
  t.equal((await fetch(`${server.operator_url}/readyz`)).status, 200);
  await server.stop();

  const kept = password();
  first.child.kill();
  await first.ended;
  begin();
  await until('it answers again', async () => (await answers(kept)) === 'PONG');
  t.equal(password(), kept);
});

t.test('what the server asks of `speech` reaches the engine, and the answer comes back', async (t) => {
  const engine = createServer((socket) => socket.on('data', (piece) => socket.end(`heard ${piece}`)));
  await new Promise<void>((listening) => engine.listen(0, '127.0.0.1', listening));
  t.teardown(() => engine.close());
  const { port: engine_port } = engine.address() as { port: number };
  const port = await freePort();
  const [, ...args] = commandOf('speech').map((part) =>
    part
      .replace("connect(8000, 'speech-engine')", `connect(${engine_port}, '127.0.0.1')`)
      .replace('8000', String(port)),
  );
  run(t, [process.execPath, ...args]);
  const ask = () =>
    new Promise<string>((resolve) => {
      let heard = '';
      const socket = connect(port, '127.0.0.1', () => socket.write('audio')).setEncoding('utf8');
      socket.on('data', (text) => {
        heard += text;
      });
      socket.on('error', () => {}).on('close', () => resolve(heard));
    });
  await until('it passes on', async () => (await ask()) === 'heard audio');
});
