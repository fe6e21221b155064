import { once } from 'node:events';
import tls from 'node:tls';
import { clientLoop, interleave, rateRow } from '../measure.mjs';
import { cpuMs, startProgram, temporaryFolder } from '../processes.mjs';
import { peerTls, startSpool } from '../spool_setup.mjs';

const IN_FLIGHT = 8;

export const title = 'mutual TLS handshakes, full and resumed';

export async function run(options) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const spool = await startSpool(folder);
    stops.push(() => spool.stop());
    const material = await peerTls(folder);
    const bare = await startProgram('bare_tls', { tls: material.server });
    stops.push(() => bare.stop());
    const own = await spool.operator.provision('personal');
    const sides = {
      ours: { to: identityOf(spool.ports.device, own), cpuMs: spool.cpuMs },
      peer: { to: identityOf(bare.ready.port, material.client), cpuMs: () => cpuMs([bare.pid]) },
    };
    const rows = [];
    for (const kind of ['full', 'resumed']) {
      const variants = {};
      for (const [name, { to, cpuMs: cpu }] of Object.entries(sides)) {
        variants[name] = {
          cpuMs: cpu,
          async run(seconds) {
            const session = kind === 'full' ? undefined : await takeSession(to);
            return clientLoop({ in_flight: IN_FLIGHT, seconds, op: () => handshake(to, session) });
          },
        };
      }
      const { ours, peer } = await interleave(variants, options);
      rows.push(
        rateRow({
          work: `${kind} handshakes, mutual TLS`,
          beside: 'bare node:https',
          ours,
          peer,
          goal: kind === 'full' ? 0.9 : 0.95,
        }),
      );
    }
    return rows;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function identityOf(port, { certificate_pem, ca_pem, private_key_pem }) {
  const secureContext = tls.createSecureContext({ cert: certificate_pem + ca_pem, key: private_key_pem, ca: ca_pem });
  return { host: '127.0.0.1', port, servername: 'localhost', secureContext };
}

/** Ends when the server has closed as well: it must have taken the client's certificate by then. */
async function handshake(to, session) {
  const socket = tls.connect(session === undefined ? to : { ...to, session });
  await once(socket, 'secureConnect');
  if (socket.isSessionReused() !== (session !== undefined))
    throw new Error('not the kind of handshake that was asked for');
  const closed = once(socket, 'close');
  socket.resume();
  socket.end();
  await closed;
}

async function takeSession(to) {
  const socket = tls.connect(to);
  const [session] = await once(socket, 'session');
  socket.destroy();
  return session;
}
