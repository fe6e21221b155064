import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t from 'tap';
import { mcpFlows } from './mcp_flows.js';

/*
 * @modelcontextprotocol/sdk 1.32. It does not look at `iss` (RFC 9207), nor at `state`: an app that uses it has to. An
 * error that the browser brings back is the app's to read as well. It cannot revoke, nor introspect.
 */
t.test('@modelcontextprotocol/sdk 1', (t) =>
  mcpFlows(t, {
    unauthorized: UnauthorizedError,
    drops_client: ['all'],
    steps_up: false,
    open(mcp_url, login, fetch) {
      const client = new Client({ name: 'interop', version: '1' });
      const transport = new StreamableHTTPClientTransport(mcp_url, { authProvider: login as never, fetch });
      return {
        connect: () => client.connect(transport as never),
        async finish({ searchParams }) {
          const code = searchParams.get('code');
          if (code === null) throw new Error(searchParams.get('error') ?? 'neither code nor error');
          await transport.finishAuth(code);
        },
        listTools: () => client.listTools(),
        callTool: (call) => client.callTool(call),
        close: () => client.close(),
      };
    },
  }),
);
