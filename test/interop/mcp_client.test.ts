import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import t from 'tap';
import { McpLogin } from '../fixtures/mcp_login.js';
import { Person } from '../fixtures/person.js';
import { linesOf, RecordedFetch } from '../fixtures/recorded_fetch.js';
import { TestSpool } from '../fixtures/spool.js';
import { type McpLibrary, mcpFlows } from './mcp_flows.js';

/*
 * @modelcontextprotocol/client 2.4, in the protocol as it was before 2026 and as of 2026-07-28. It cannot revoke, nor
 * introspect.
 */
// It tells of every credential that it drops.
console.warn = () => {};

const library = (options: object): McpLibrary => ({
  unauthorized: UnauthorizedError,
  drops_client: ['client', 'tokens'],
  steps_up: true,
  open(mcp_url, login, fetch) {
    const client = new Client({ name: 'interop', version: '1' }, options);
    const transport = new StreamableHTTPClientTransport(mcp_url, { authProvider: login, fetch });
    return {
      connect: () => client.connect(transport),
      finish: ({ searchParams }) => transport.finishAuth(searchParams),
      listTools: () => client.listTools(),
      callTool: (call) => client.callTool(call),
      close: () => client.close(),
    };
  },
});

t.test('@modelcontextprotocol/client 2, as before 2026', (t) => mcpFlows(t, library({})));
t.test('@modelcontextprotocol/client 2, 2026-07-28', (t) =>
  mcpFlows(t, library({ versionNegotiation: { mode: { pin: '2026-07-28' } } })),
);

t.test('it holds the answer of the browser to the issuer', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const recorded = new RecordedFetch();
  const login = new McpLogin();
  const connection = library({}).open(new URL('/mcp', spool.server.base_url), login, recorded.fetch);
  await t.rejects(connection.connect());
  const back = await new Person(spool, 'iss@x.test').visit(login.asked ?? '');
  const { base_url } = spool.server;
  t.equal(back.searchParams.get('iss'), base_url);
  for (const iss of [null, `${base_url}.evil.test`, `${base_url}/`]) {
    const other = new URL(back);
    if (iss === null) other.searchParams.delete('iss');
    else other.searchParams.set('iss', iss);
    await t.rejects(connection.finish(other), { name: 'IssuerMismatchError' });
  }
  t.notMatch(linesOf(recorded.take()).join(), '/oauth/token', 'the code went nowhere');
  await connection.finish(back);
  t.ok(login.store.tokens);
  await connection.close();
});
