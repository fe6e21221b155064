import { join } from 'node:path';
import { Pool } from 'undici';
import { keysOf } from '../../dist/src/store/partitions.js';
import { partitionOfId } from '../../dist/src/vocabulary/ids.js';
import { closedLoop, interleave, rateRow, verify } from '../measure.mjs';
import { cpuMs, startProgram, temporaryFolder } from '../processes.mjs';
import { startSpool } from '../spool_world.mjs';

const IN_FLIGHT = 64;
const EVENTS = 100;

export const title = 'reads: GET /me and a forward poll of events';

export async function run(options) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder);
    stops.push(() => spool.stop());
    const { app, session } = await spool.signIn('bench@spool.example');
    for (let made = 1; made < EVENTS; made++) await app.ask('PATCH', '/me', { name: `name ${made}` });
    const account_id = session.user.id;
    const me = await app.send('GET', '/me');
    const log_key = keysOf(partitionOfId(account_id)).log(account_id);
    const peer = await startProgram('bare_reads', { body: me.body.toString(), socket_path: spool.socket_path, log_key });
    stops.push(() => peer.stop());
    const pools = {
      ours: new Pool(spool.base_url, { connections: IN_FLIGHT, pipelining: 1 }),
      peer: new Pool(`http://127.0.0.1:${peer.ready.port}`, { connections: IN_FLIGHT, pipelining: 1 }),
    };
    stops.push(() => Promise.all(Object.values(pools).map((pool) => pool.destroy())));
    const authorization = `Bearer ${app.access_token}`;
    const items = async (pool, path, headers) => {
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
      const bytes = Buffer.from(await body.arrayBuffer());
      if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
      return bytes;
    };
    const variant = (pool, path, pids) => ({
      cpuMs: pids,
      run: (seconds) => closedLoop({ in_flight: IN_FLIGHT, seconds, op: () => items(pool, path, { authorization }) }),
    });
    const ours = (path) => variant(pools.ours, path, spool.cpuMs);
    // The poll's peer uses the same Redis, whose time counts for both.
    const redis_pids = [peer.pid, spool.program.ready.redis_pid];
    const poll = '/events?limit=100&after=0';
    verify('events of Spool', JSON.parse(await items(pools.ours, poll, { authorization })).data.items.length, EVENTS);
    verify('events of the peer', JSON.parse(await items(pools.peer, '/events', {})).data.items.length, EVENTS);

    const profiled = async (name, work) => {
      if (options.profile === undefined) return work();
      await spool.program.ask('profile_start');
      const taken = await work();
      await spool.program.ask('profile_stop', { file: join(options.profile, `${name}.cpuprofile`) });
      return taken;
    };
    const fixed = variant(pools.peer, '/fixed', () => cpuMs([peer.pid]));
    const bearer = await profiled('me', () => interleave({ ours: ours('/me'), peer: fixed }, options));
    const xrange = variant(pools.peer, '/events', () => cpuMs(redis_pids));
    const events = await profiled('events', () => interleave({ ours: ours(poll), peer: xrange }, options));
    const in_flight = `${IN_FLIGHT} in flight`;
    return [
      rateRow({
        ...{ work: `GET /me with a bearer, ${in_flight}`, beside: 'bare Fastify route, same bytes' },
        ...{ ours: bearer.ours, peer: bearer.peer, goal: 0.5 },
      }),
      rateRow({
        ...{ work: `forward poll of ${EVENTS} events, ${in_flight}`, beside: 'bare XRANGE and JSON' },
        ...{ ours: events.ours, peer: events.peer, goal: 0.5 },
      }),
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
