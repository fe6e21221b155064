import { once } from 'node:events';
import tls from 'node:tls';
import { Redis } from '../../../node_modules/ioredis/built/index.js';
import { whole } from '../measure.mjs';
import { rssBytes, temporaryFolder } from '../processes.mjs';
import { seededAccountId } from '../programs/seeding.mjs';
import { startSpool } from '../spool_setup.mjs';

const ACTORS = 20_000;
const ACCOUNTS = 200;
const CONNECTIONS = 1_000;

export const title = 'memory: an idle actor, a dormant account, an idle connection';

export async function run() {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder);
    stops.push(() => spool.stop());
    const account = await accountBytes(spool);
    const connection = await connectionBytes(spool);
    const actor = await actorBytes(spool);
    return [
      row('memory of an idle actor', `heap, ${whole(ACTORS)} accounts in memory`, actor, 2_000),
      row('memory of a dormant account', `Redis, all keys of ${ACCOUNTS} signed-in accounts`, account, 4_000),
      row('memory of an idle device connection', `RSS, ${whole(CONNECTIONS)} connections`, connection, 62_000),
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function row(work, beside, bytes, goal) {
  return {
    work,
    beside,
    figure: `${whole(bytes)} B`,
    peer: '',
    ratio: '',
    goal: `≤ ${whole(goal)} B`,
    met: bytes <= goal,
  };
}

/** After their actors have stopped: 10 s after the last message. */
const ACTORS_STOP_MS = 12_000;

async function actorBytes(spool) {
  await spool.program.ask('seed_accounts', { count: ACTORS, from: 0, domain: 'spool.example' });
  const ids = Array.from({ length: ACTORS }, (_, number) => seededAccountId(number));
  const before = await spool.program.ask('memory');
  await spool.program.ask('view_accounts', { ids });
  await new Promise((resolve) => setTimeout(resolve, ACTORS_STOP_MS));
  const after = await spool.program.ask('memory');
  return (after.heap_bytes - before.heap_bytes) / ACTORS;
}

/** The bytes that Redis keeps beside those before: entities, sessions, logs, and the shares in what partitions keep. */
async function accountBytes(spool) {
  const redis = new Redis(spool.socket_path);
  const keptBytes = async () => {
    let bytes = 0;
    for (let cursor = '0'; ; ) {
      const [next, keys] = await redis.scan(cursor, 'COUNT', 1_000);
      const sizes = await Promise.all(keys.map((key) => redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')));
      for (const size of sizes) bytes += size ?? 0;
      if (next === '0') return bytes;
      cursor = next;
    }
  };
  try {
    // What partitions keep once is there from the first account on.
    for (let number = 0; number < 2; number++) await spool.signIn(`warm-${number}@spool.example`);
    const before = await keptBytes();
    for (let number = 0; number < ACCOUNTS; number++) await spool.signIn(`dormant-${number}@spool.example`);
    return ((await keptBytes()) - before) / ACCOUNTS;
  } finally {
    redis.disconnect();
  }
}

async function connectionBytes(spool) {
  const { certificate_pem, ca_pem, private_key_pem } = await spool.operator.provision('personal');
  const secureContext = tls.createSecureContext({ cert: certificate_pem + ca_pem, key: private_key_pem, ca: ca_pem });
  const to = { host: '127.0.0.1', port: spool.ports.device, servername: 'localhost', secureContext };
  const sockets = [];
  const open = async (count) => {
    for (let made = 0; made < count; made++) {
      const socket = tls.connect(to);
      await once(socket, 'secureConnect');
      // One request: a device that never asked anything is not the usual one.
      socket.write('GET /device/binding HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await once(socket, 'data');
      sockets.push(socket);
    }
  };
  await open(200);
  await spool.program.ask('memory');
  const before = rssBytes(spool.program.pid);
  await open(CONNECTIONS);
  await spool.program.ask('memory');
  const bytes = (rssBytes(spool.program.pid) - before) / CONNECTIONS;
  for (const socket of sockets) socket.destroy();
  return bytes;
}
