import { z } from 'zod';
import { MCP_PATH, MCP_PATH_WITH_SLASH } from '../../src/domain/audiences.js';
import { McpEndpoint } from '../../src/edge/mcp/mcp_endpoint.js';
import { accountRoute, type Route } from '../rows.js';
import { PROMPTS } from './prompts.js';
import { RESOURCES } from './resources.js';
import { INSTRUCTIONS, MCP_SCOPES, TOOLS } from './tools.js';

/** The headers that web pages which speak MCP send, in both generations of the protocol. */
const PAGE_HEADERS = ['Accept', 'Authorization', 'Content-Type', 'Last-Event-ID', 'X-Request-ID'];
const PROTOCOL_HEADERS = ['Mcp-Method', 'Mcp-Name', 'Mcp-Protocol-Version', 'Mcp-Session-Id'];

const mcp = new McpEndpoint(TOOLS, INSTRUCTIONS, { prompts: PROMPTS, resources: RESOURCES });

/** A batch of them is a list. */
const messageShape = z.looseObject({ jsonrpc: z.literal('2.0').describe('A message of JSON-RPC 2.0.') });

export const MCP_ROUTES: readonly Route[] = [
  messages(MCP_PATH, {
    summary: 'Takes a message of the Model Context Protocol, over streamable HTTP without sessions.',
    notes: 'What the server offers, it says itself: ask it for its tools. App sessions are not taken here.',
  }),
  messages(MCP_PATH_WITH_SLASH, {}),
];

function messages(path: string, reference: Pick<Route, 'summary' | 'notes'>): Route {
  return accountRoute({
    method: 'POST',
    path,
    ...reference,
    credential: 'account',
    asks_for: MCP_SCOPES,
    dialect: 'mcp',
    cors: {
      methods: ['POST'],
      allowedHeaders: [...PAGE_HEADERS, ...PROTOCOL_HEADERS],
      // A page must see where to get a token.
      exposedHeaders: ['Mcp-Protocol-Version', 'Mcp-Session-Id', 'WWW-Authenticate', 'X-Request-ID'],
    },
    reads: { body: messageShape },
    example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    answer: messageShape,
    refusals: ['FORBIDDEN'],
    handler: async ({ services, who, request, reply }) =>
      mcp.take({ services, who, request_id: request.id }, { request, reply }),
  });
}
