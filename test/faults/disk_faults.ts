import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { partitionOfId } from '../../src/domain/ids.js';
import { redisProcessesIn } from '../../src/engine/process/redis_process.js';
import { decodeStored } from '../../src/engine/store/codec.js';
import { RedisStore } from '../../src/engine/store/redis_store.js';
import { answerOf } from '../driver/history.js';
import { SpoolProcess } from '../driver/spool_process.js';
import type { AppClient } from '../fixtures/app_client.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { connectPatiently } from '../fixtures/redis.js';
import { appendOnlyFiles } from '../fixtures/stored_secrets.js';
import { until } from '../fixtures/until.js';

import type { Trial } from './trial.js';
import { canBoundFiles, uploadsWithoutRoom } from './upload_faults.js';

/** Faults 3 and 4: what lies on disk is cut off, spoilt, or can't be written. */

const RENAMES = 60;
const CUTS_AT_ONCE = 4;
/** Cuts are made in so many bytes at the end: the last commits. */
const TAIL_BYTES = 24 * 1_024;
const CUTS_PER_SECOND = 8;
/** How much Redis may write, in blocks of 512 bytes; its functions and some hundred commits take that, or some dozen. */
const BLOCKS = { many: 400, few: 120 };
const WRITES_MAX = 5_000;
const FULL_MAX_MS = 30_000;
const CUT_LOADED_MAX_MS = 10_000;

/** Fault 3: the append-only file is cut off at any byte; what is left is a prefix of the commits, each of them whole. */
export async function filesCut(trial: Trial): Promise<void> {
  const rig = await trial.open();
  let source: string;
  let account_id: string;
  let endpoint_id: string;
  const signed_in = await rig.signIn('owner@x.test');
  account_id = signed_in.user.id;
  const app = rig.clients(signed_in.access_token)[0] as AppClient;
  const endpoint = await TestEndpoint.open(app, rig.receiver.url('/cut'));
  endpoint_id = endpoint.id;
  for (let n = 1; n <= RENAMES; n++) {
    const { status } = await answerOf(app.ask('PATCH', '/me', { name: `Name ${n}` }));
    trial.counts[status === 200 ? 'ok' : 'refused'] += 1;
  }
  await rig.first.stop();
  await rig.redis.kill();
  source = join(rig.folder, 'source');
  for (const name of readdirSync(rig.redis.folder).filter((name) => name.startsWith('appendonly')))
    cpSync(join(rig.redis.folder, name), join(source, name), { recursive: true });
  const file = incrementalIn(source);
  const size = readFileSync(file).length;
  const whole = await stateAfter(source, size, { account_id, endpoint_id });
  trial.must(whole?.name === `Name ${RENAMES}`, `uncut it is ${JSON.stringify(whole)}`);
  const seen = new Set<number>();
  for (let made = 0; made < trial.size.seconds * CUTS_PER_SECOND; made += CUTS_AT_ONCE) {
    const cuts = Array.from(
      { length: CUTS_AT_ONCE },
      () => size - 1 - trial.random.below(Math.min(size - 1, TAIL_BYTES)),
    );
    const states = await Promise.all(cuts.map((at) => stateAfter(source, at, { account_id, endpoint_id })));
    for (const [index, state] of states.entries()) {
      const at = `cut at ${cuts[index]} of ${size}`;
      trial.tries += 1;
      if (state === null) {
        trial.must(false, `${at}: Redis does not start`);
        continue;
      }
      const { name, renames, deliveries, largest_event } = state;
      seen.add(renames);
      trial.must(name === (renames === 0 ? null : `Name ${renames}`), `${at}: ${name} after ${renames} events`);
      trial.must(
        deliveries.length === renames || renames === 0,
        `${at}: ${deliveries.length} deliveries of ${renames} events`,
      );
      trial.must(Math.max(0, ...deliveries) <= largest_event, `${at}: a delivery without its event`);
    }
  }
  trial.notes.push(`cuts left ${seen.size} different prefixes`);
  trial.must(seen.size > 3, `only ${seen.size} different prefixes were seen`);
}

type CutState = { name: string | null; renames: number; deliveries: number[]; largest_event: number };

/** What a Redis finds in a copy of the files that is cut at this byte; null when it does not start. */
async function stateAfter(
  source: string,
  at: number,
  { account_id, endpoint_id }: { account_id: string; endpoint_id: string },
): Promise<CutState | null> {
  const folder = mkdtempSync(join(tmpdir(), 'spool-cut-'));
  cpSync(source, folder, { recursive: true });
  truncateSync(incrementalIn(folder), at);
  const socket_path = join(folder, 's');
  const options = {
    port: '0',
    unixsocket: socket_path,
    dir: folder,
    save: '',
    appendonly: 'yes',
    'aof-load-truncated': 'yes',
  };
  const child = spawn(
    'redis-server',
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let redis: Redis | null = null;
  try {
    await until('it loads', () => existsSync(socket_path) || child.exitCode !== null, CUT_LOADED_MAX_MS);
    if (child.exitCode !== null) return null;
    redis = await connectPatiently({ socket_path });
    const store = new RedisStore(redis, () => '');
    const partition = partitionOfId(account_id);
    const [account] = await store.load([{ address: { kind: 'account', id: account_id }, partition }]);
    const state = account ? (decodeStored(account.snapshot) as { s: { name: string | null } }).s : null;
    const range = { from: '-', to: '+', descending: false, limit: 10_000 };
    const events = await store.events({ account_id, partition }, range);
    const renames = events.filter(({ type }) => type === 'account.updated').length;
    const inbox = await store.listDeliveryQueue(
      { address: { kind: 'endpoint', id: endpoint_id }, partition },
      { limit: 10_000 },
    );
    const numbers = events.map(({ id }) => Number(id.split('-')[1]));
    return {
      name: state?.name ?? null,
      renames,
      deliveries: inbox.map(({ sequence }) => sequence),
      largest_event: Math.max(0, ...numbers),
    };
  } finally {
    redis?.disconnect();
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

function incrementalIn(folder: string): string {
  const name = readdirSync(join(folder, 'appendonlydir')).find((name) => name.endsWith('.incr.aof'));
  if (name === undefined) throw new Error(`no append-only file in ${folder}`);
  return join(folder, 'appendonlydir', name);
}

/** A server that runs its own Redis, started by a script of this name on its PATH. */
class OwnRedisServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'spool-disk-'));
  readonly #programs = join(this.folder, 'programs');
  readonly data = join(this.folder, 'data');
  process!: SpoolProcess;

  /** From its next start on Redis runs behind this, `exec "$REDIS" "$@"` at the end of it. */
  wrap(script: string): void {
    mkdirSync(this.#programs, { recursive: true });
    const redis = (process.env.PATH ?? '')
      .split(delimiter)
      .map((folder) => join(folder, 'redis-server'))
      .find(existsSync);
    writeFileSync(join(this.#programs, 'redis-server'), `#!/bin/sh\nREDIS=${redis}\n${script}\n`, { mode: 0o755 });
  }

  start(): SpoolProcess {
    const PATH = `${this.#programs}${delimiter}${process.env.PATH}`;
    this.process = new SpoolProcess(this.data, { PATH });
    return this.process;
  }

  async signIn(email: string): Promise<string> {
    const operator = this.process.operator();
    const app = this.process.client();
    try {
      return (await app.signIn(email, () => operator.readCode(email))).access_token;
    } finally {
      app.close();
      operator.close();
    }
  }

  async end(): Promise<void> {
    await this.process?.stop();
    for (const pid of redisProcessesIn(join(this.data, 'redis'))) process.kill(pid, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** How writing comes to fail, by a script that starts Redis. */
type Failure = { name: string; needs: string; script: string };

/** No file may grow beyond so many blocks, as on a full disk. */
const fullAfter = (blocks: number): Failure => ({
  ...{ name: 'disk full', needs: 'sh' },
  script: `trap '' XFSZ\nulimit -f ${blocks}\nexec "$REDIS" "$@"`,
});

const FAILURES: Failure[] = [
  fullAfter(BLOCKS.many),
  // What was written can't be synced.
  {
    name: 'fsync fails',
    needs: 'strace',
    script:
      'exec strace -D -f -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO:when=150+ "$REDIS" "$@"',
  },
];

/** Fault 4. */
export async function diskFails(trial: Trial): Promise<void> {
  for (const failure of FAILURES) {
    const has_it = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, failure.needs)));
    if (has_it) await writingFails(trial, failure);
    else trial.notes.push(`${failure.name} was not tried: there is no ${failure.needs}`);
  }
  await filesSpoilt(trial);
  if (canBoundFiles) await uploadsWithoutRoom(trial);
  else trial.notes.push('audio on a full disk was not tried: there is no prlimit');
}

/** Fault 4 in its smallest form: the disk of Redis is full, after some dozen commits. */
export const diskFull = (trial: Trial) => writingFails(trial, fullAfter(BLOCKS.few));

async function writingFails(trial: Trial, { name, script }: Failure): Promise<void> {
  const server = new OwnRedisServer();
  try {
    server.wrap(script);
    await server.start().ready();
    const token = await server.signIn('owner@x.test');
    const app = server.process.client(token);
    const acknowledged: string[] = [];
    let refused = 0;
    for (let n = 0; n < WRITES_MAX && refused < 5; n++) {
      const answer = await answerOf(app.ask('PATCH', '/me', { name: `Name ${n}` }));
      if (answer.status === 200) {
        acknowledged.push(`Name ${n}`);
        trial.counts.ok += 1;
        refused = 0;
      } else {
        refused += 1;
        trial.counts.unknown += 1;
        const as_promised = answer.status === 503 && (answer.retry_after_s ?? 0) > 0;
        trial.must(as_promised, `${name}: ${answer.status} ${answer.code}`);
      }
    }
    const ended = await Promise.race([server.process.exited, pause(50, 'no' as const)]);
    trial.must(ended === 'no', `${name}: the server ended with ${ended}: ${server.process.output.slice(-800)}`);
    trial.must(refused > 0, `${name}: nothing was refused`);
    trial.must(acknowledged.length >= 20, `${name}: only ${acknowledged.length} renames before it`);
    server.wrap('exec "$REDIS" "$@"');
    await until(
      `${name}: it serves again`,
      async () => (await answerOf(app.ask('GET', '/me'))).status === 200,
      FULL_MAX_MS,
    ).catch((error: Error) => trial.must(false, error.message));
    const last = acknowledged.at(-1) ?? '';
    const { name: kept } = await app.ask<{ name: string }>('GET', '/me');
    const number = (text: string) => Number(/\d+/.exec(text)?.[0] ?? -1);
    trial.must(number(kept) >= number(last), `${name}: ${kept} is there, ${last} was answered`);
    trial.must(appendOnlyFiles(join(server.data, 'redis')).includes(last), `${name}: ${last} is not on disk`);
    app.close();
    trial.tries += 1;
  } finally {
    await server.end();
  }
}

/** A file that Redis can't read in its midst: the start is refused, and says why. */
async function filesSpoilt(trial: Trial): Promise<void> {
  const server = new OwnRedisServer();
  try {
    await server.start().ready();
    const token = await server.signIn('owner@x.test');
    const app = server.process.client(token);
    for (let n = 0; n < 20; n++) await app.ask('PATCH', '/me', { name: `Name ${n}` });
    app.close();
    await server.process.stop();
    const file = incrementalIn(join(server.data, 'redis'));
    const bytes = readFileSync(file);
    const spoilt = Buffer.from(bytes);
    const at = spoilt.indexOf('\r\n*', Math.floor(bytes.length / 2));
    spoilt.write('#', at + 2);
    writeFileSync(file, spoilt);
    const code = await server.start().exited;
    trial.must(code === 1, `a spoilt file: the start ended with ${code}`);
    trial.must(
      /Bad file format|append only file/i.test(server.process.output),
      `it says why: ${server.process.output.slice(-300)}`,
    );
    trial.must(readFileSync(file).equals(spoilt), 'nothing was written over it');
    writeFileSync(file, bytes);
    await server.start().ready();
    const again = server.process.client(token);
    trial.must((await again.ask<{ name: string }>('GET', '/me')).name === 'Name 19', 'mended, it is as it was');
    again.close();
    trial.tries += 1;
  } finally {
    await server.end();
  }
}
