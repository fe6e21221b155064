import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type SecureVersion, type Server, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { openAuthority } from '../../../certs/authority.js';
import {
  activateServerKey,
  introduceServerKey,
  openServerKeys,
  type ServerKeys,
} from '../../../src/engine/secrets/server_keys.js';
import { SessionTickets } from '../../../src/features/devices/session_tickets.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const VERSIONS: SecureVersion[] = ['TLSv1.2', 'TLSv1.3'];
const PERIOD_MS = 12 * 3_600_000;

async function identity(t: Test) {
  const authority = await openAuthority(tempFolder(t), Date.now());
  const own = await authority.issueListenerCertificate({ names: ['localhost'], now_ms: Date.now() });
  return { key: own.private_key_pem, cert: own.certificate_pem, ca: own.ca_pem, sessionIdContext: 'tickets' };
}
type Identity = Awaited<ReturnType<typeof identity>>;

/** A listener as one process has it; the clock is the test's. */
async function listener(t: Test, options: Identity, { keys, now }: { keys: ServerKeys; now: () => number }) {
  const server = createServer({ ...options, sessionTimeout: 86_400 }, (socket) => {
    socket.on('error', () => {});
    socket.end(socket.isSessionReused() ? 'resumed' : 'full');
  });
  const tickets = new SessionTickets(keys, now);
  tickets.install(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { server, tickets };
}

/** One connection; what the server says of it, and the session to come back with. */
async function dial(
  server: Server,
  { ca, maxVersion, session }: { ca: string; maxVersion: SecureVersion; session?: Buffer | undefined },
): Promise<{ says: string; session: Buffer | undefined }> {
  const { port } = server.address() as AddressInfo;
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, maxVersion, session });
  let given: Buffer | undefined;
  socket.on('session', (one) => {
    given = one;
  });
  await once(socket, 'secureConnect');
  let says = '';
  for await (const piece of socket.setEncoding('utf8')) says += piece;
  return { says, session: given };
}

t.test('H-001 a session resumes in every process on the same keys, for one period after its own', async (t) => {
  const options = await identity(t);
  const { ca } = options;
  const folder = tempFolder(t);
  const clock = { now_ms: 1_000 * PERIOD_MS + 1 };
  const process = async () => listener(t, options, { keys: await openServerKeys(folder), now: () => clock.now_ms });
  const [one, two] = [await process(), await process()];
  for (const maxVersion of VERSIONS) {
    clock.now_ms = 1_000 * PERIOD_MS + 1;
    const { says, session } = await dial(one.server, { ca, maxVersion });
    t.equal(says, 'full', maxVersion);
    for (const { server } of [one, two]) t.match(await dial(server, { ca, maxVersion, session }), { says: 'resumed' });
    const restarted = await process();
    t.match(await dial(restarted.server, { ca, maxVersion, session }), { says: 'resumed' });
    clock.now_ms += PERIOD_MS;
    t.match(await dial(two.server, { ca, maxVersion, session }), { says: 'resumed' }, 'one period on');
    clock.now_ms += PERIOD_MS;
    const late = await dial(two.server, { ca, maxVersion, session });
    t.equal(late.says, 'full', 'two periods on');
    clock.now_ms -= PERIOD_MS + 2;
    t.match(await dial(one.server, { ca, maxVersion, session }), { says: 'resumed' }, 'a key ahead of this process');
  }
});

t.test('H-001 sessions outlast a new server key and a renewed listener; other keys open none', async (t) => {
  const options = await identity(t);
  const { ca } = options;
  const folder = tempFolder(t);
  const now = () => 1_000 * PERIOD_MS;
  const before = await listener(t, options, { keys: await openServerKeys(folder), now });
  await activateServerKey(folder, (await introduceServerKey(folder, 0)).key_id);
  const after = await listener(t, options, { keys: await openServerKeys(folder), now });
  const foreign = await listener(t, options, { keys: await openServerKeys(tempFolder(t)), now });
  for (const maxVersion of VERSIONS) {
    const { session } = await dial(before.server, { ca, maxVersion });
    t.match(await dial(after.server, { ca, maxVersion, session }), { says: 'resumed' });
    t.match(await dial(foreign.server, { ca, maxVersion, session }), { says: 'full' });
    before.server.setSecureContext({ ...options, sessionTimeout: 86_400 } as Identity);
    before.tickets.install(before.server);
    t.match(await dial(before.server, { ca, maxVersion, session }), { says: 'resumed' }, 'another context');
  }
});

t.test('H-001 where tickets have one key at a time it is the one of this period', async (t) => {
  const keys = await openServerKeys(tempFolder(t));
  const given: Buffer[] = [];
  const server = { setTicketKeys: (bytes: Buffer) => given.push(bytes) } as unknown as Server;
  for (const at_ms of [0, PERIOD_MS - 1, PERIOD_MS]) new SessionTickets(keys, () => at_ms).install(server);
  t.same(
    given.map(({ length }) => length),
    [48, 48, 48],
  );
  t.ok(given[0]?.equals(given[1] as Buffer));
  t.notOk(given[1]?.equals(given[2] as Buffer));
});
