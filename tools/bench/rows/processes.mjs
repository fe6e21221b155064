import { availableParallelism } from 'node:os';
import { Client } from 'undici';
import { AppClient } from '../../../dist/kits/typescript/src/app_client.js';
import { OperatorClient } from '../../../dist/kits/typescript/src/operator_client.js';
import { clientLoop, cpuRow, interleave } from '../measure.mjs';
import { startServer } from '../own_server.mjs';

/** Of each process. */
const IN_FLIGHT = 8;
/** Of each process: before that, most of what is measured is the compiler. */
const WARM_OPS = 15_000;
const ACCOUNTS = 8;
const WRITES_EVERY = 3;
/** Well before the server closes what is idle, as connections are while other variants are measured. */
const KEPT = { keepAliveTimeout: 20_000, keepAliveMaxTimeout: 20_000 };
/** Eight processes need cores, or they only wait for each other. */
const COUNTS = availableParallelism() >= 8 ? [3, 8] : [3];
/** The most that a request may cost, as a multiple of one process. `fresh`: each request on a connection of its own. */
const GOALS = { sticky: 1.2, random: 1.8, fresh: 5 };

export const title = 'processes: CPU of a request with several processes';

export async function run(options) {
  const stops = [];
  const start = async (processes) => {
    const world = await startWorld(processes);
    stops.push(world.stop);
    return world;
  };
  try {
    const one = await start(1);
    const variants = { ...variantsOf('one', [one]) };
    for (const count of COUNTS) {
      Object.assign(variants, variantsOf(`${count}`, [await start(count)]));
      const apart = [];
      for (let at = 0; at < count; at++) apart.push(await start(1));
      Object.assign(variants, variantsOf(`${count} apart`, apart));
    }
    const taken = await interleave(variants, options);
    return COUNTS.flatMap((count) =>
      Object.entries(GOALS).flatMap(([how, goal]) => {
        const work = `GET and PATCH /me, ${how}, ${count} processes, ${IN_FLIGHT} in flight each`;
        const large = taken[`${how}, ${count}`];
        return [
          cpuRow({ work, beside: 'one process', small: taken[`${how}, one`], large, goal }),
          // What is left when the core and its caches have as many programs to run.
          cpuRow({ work, beside: `${count} servers, each alone`, small: taken[`${how}, ${count} apart`], large, goal }),
        ];
      }),
    );
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function variantsOf(name, worlds) {
  const variant = (how) => {
    const parts = worlds.map((world) => requests(world, how));
    const processes = worlds.reduce((sum, world) => sum + world.processes, 0);
    return {
      warm_ops: WARM_OPS * processes,
      cpuMs: () => parts.reduce((sum, part) => sum + part.cpuMs(), 0),
      async run(seconds) {
        const ran = await Promise.all(parts.map((part) => part.run(seconds)));
        return { ops: ran.reduce((sum, { ops }) => sum + ops, 0), seconds: Math.max(...ran.map((one) => one.seconds)) };
      },
    };
  };
  return Object.fromEntries(Object.keys(GOALS).map((how) => [`${how}, ${name}`, variant(how)]));
}

/** A server with accounts that are signed in. */
async function startWorld(processes) {
  const server = await startServer(processes, { RATE_LIMITS: 'off' });
  const operator = new OperatorClient(server.operator_url, server.token);
  const tokens = [];
  for (let at = 0; at < ACCOUNTS * processes; at++) {
    const app = new AppClient(server.url);
    const email = `bench${at}@spool.example`;
    tokens.push((await app.signIn(email, () => operator.readCode(email))).access_token);
    app.close();
  }
  operator.close();
  return { ...server, processes, tokens };
}

/** On kept connections, each of one account (`sticky`) or each request of any; or each on a connection of its own (`fresh`). */
function requests({ url, processes, tokens, cpuMs }, how) {
  const in_flight = IN_FLIGHT * processes;
  const lanes = Array.from({ length: in_flight }, () => new Client(url, KEPT));
  const rounds = new Array(in_flight).fill(0);
  const op = async (lane) => {
    const round = rounds[lane]++;
    const account = how === 'sticky' ? lane % tokens.length : Math.floor(Math.random() * tokens.length);
    const headers = { authorization: `Bearer ${tokens[account]}`, 'content-type': 'application/json' };
    const write = { method: 'PATCH', body: JSON.stringify({ name: `lane ${lane}, ${round}` }) };
    const sent = { path: '/me', headers, ...(round % WRITES_EVERY === 0 ? write : { method: 'GET' }) };
    if (how !== 'fresh') return drained(lanes[lane].request(sent));
    const client = new Client(url);
    await drained(client.request(sent));
    await client.close();
  };
  return { cpuMs, run: (seconds) => clientLoop({ in_flight, seconds, op }) };
}

async function drained(asked) {
  const { statusCode, body } = await asked;
  await body.dump();
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
}
