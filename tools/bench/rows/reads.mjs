import { join } from 'node:path';
import { clientLoop, interleave, rateRow, verify } from '../measure.mjs';
import { cpuMs, startProgram, temporaryFolder } from '../processes.mjs';
import { rawGets } from '../raw_get.mjs';
import { startSpool } from '../spool_setup.mjs';

const IN_FLIGHT = 64;
const EVENTS = 100;

export const title = 'reads: GET /me and a forward poll of events';

export async function run(options) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder);
    stops.push(() => spool.stop());
    const { app } = await spool.signIn('bench@spool.example');
    for (let made = 1; made < EVENTS; made++) await app.ask('PATCH', '/me', { name: `name ${made}` });
    const me = await app.send('GET', '/me');
    const poll = '/events?limit=100&after=0';
    const { items: recorded } = await app.ask('GET', poll);
    verify('events of Spool', recorded.length, EVENTS);
    const peer = await startProgram('bare_reads', {
      body: me.body.toString(),
      socket_path: spool.socket_path,
      events: recorded,
    });
    stops.push(() => peer.stop());
    const headers = { Authorization: `Bearer ${app.access_token}` };
    const variant = (port, path, pids) => {
      const { get, close } = rawGets({ port, path, headers, lanes: IN_FLIGHT });
      stops.push(close);
      return { cpuMs: pids, run: (seconds) => clientLoop({ in_flight: IN_FLIGHT, seconds, op: get }) };
    };
    const ours = (path) => variant(spool.ports.public, path, spool.cpuMs);
    // The poll's peer uses the same Redis, whose time counts for both.
    const redis_pids = [peer.pid, spool.program.ready.redis_pid];
    const answer = await fetch(`http://127.0.0.1:${peer.ready.port}/events`);
    verify('events of the peer', (await answer.json()).data.items.length, EVENTS);

    const profiled = async (name, work) => {
      if (options.profile === undefined) return work();
      await spool.program.ask('profile_start');
      const taken = await work();
      await spool.program.ask('profile_stop', { file: join(options.profile, `${name}.cpuprofile`) });
      return taken;
    };
    const fixed = variant(peer.ready.port, '/fixed', () => cpuMs([peer.pid]));
    const bearer = await profiled('me', () => interleave({ ours: ours('/me'), peer: fixed }, options));
    const xrange = variant(peer.ready.port, '/events', () => cpuMs(redis_pids));
    const events = await profiled('events', () => interleave({ ours: ours(poll), peer: xrange }, options));
    const in_flight = `${IN_FLIGHT} in flight`;
    return [
      rateRow({
        ...{ work: `GET /me with a bearer, ${in_flight}`, beside: 'bare Fastify route, same bytes' },
        ...{ ours: bearer.ours, peer: bearer.peer, goal: 0.5 },
      }),
      rateRow({
        ...{ work: `forward poll of ${EVENTS} events, ${in_flight}`, beside: 'bare XRANGE and JSON' },
        ...{ ours: events.ours, peer: events.peer, goal: 0.85 },
      }),
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
