import {
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isRefusal } from '../domain/refusals.js';
import { StoreUnavailable } from '../store/store.js';
import { parseGiven } from '../wire/schema_faults.js';
import { type Caller, isAllowed, LOOKS, type Tool } from './tool.js';

const SERVER_INFO = { name: 'spool', title: 'Spool', version: '1' };
const ISSUES_SHOWN_MAX = 5;

type Listed = ListToolsResult['tools'][number];

/** What clients hold a result to. More members may come, so none is ruled out. */
function resultSchema(output: z.ZodType): NonNullable<Listed['outputSchema']> {
  const {
    $schema: _,
    $ref: ref,
    ...schema
  } = z.toJSONSchema(output, {
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      delete jsonSchema.id;
    },
  });
  // A shape with a name stands in full at the top: what has no type there, clients take for no object.
  const named = ref === undefined ? {} : schema.$defs?.[ref.slice(ref.lastIndexOf('/') + 1)];
  return { ...(named as object), ...schema } as NonNullable<Listed['outputSchema']>;
}

/** Its validator is for answers that a server asks of a client: we ask nothing. */
const NOTHING_TO_VALIDATE = {
  getValidator: () => {
    throw new Error('nothing is asked of clients');
  },
};

/** Servers of the tools of a table, each for one request. */
export class ToolServers {
  readonly #tools: readonly { tool: Tool; listed: Listed }[];

  constructor(tools: readonly Tool[]) {
    this.#tools = tools.map((tool) => ({ tool, listed: listedTool(tool) }));
  }

  /** Tools as far as the caller of the request may use them. */
  serve(caller: Caller): Server {
    const server = new Server(SERVER_INFO, { capabilities: { tools: {} }, jsonSchemaValidator: NOTHING_TO_VALIDATE });
    server.setRequestHandler('tools/list', async () => ({
      tools: this.#tools.flatMap(({ tool, listed }) => (isAllowed(tool, caller.who) ? [listed] : [])),
    }));
    server.setRequestHandler('tools/call', ({ params }) =>
      this.#call(caller, params.name, params.arguments ?? {}).catch((error: unknown) => {
        if (error instanceof ProtocolError) throw error;
        if (error instanceof StoreUnavailable) return failed('The service is not available at the moment.');
        const { services, request_id } = caller;
        services.log.error({ err: error, request_id }, 'a tool failed');
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'Something went wrong on our side.');
      }),
    );
    return server;
  }

  async #call(caller: Caller, name: string, input: unknown): Promise<CallToolResult> {
    const tool = this.#tools.find((row) => row.tool.name === name)?.tool;
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool of this name.');
    if (!isAllowed(tool, caller.who))
      return failed(`This needs the permission ${tool.permissions.join(' or ')}, which this connection does not have.`);
    const parsed = parseGiven(tool.input, input);
    if (!parsed.success) {
      const issues = parsed.error.issues.slice(0, ISSUES_SHOWN_MAX);
      const rules = issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The arguments are not right: ${rules.join('; ')}.`);
    }
    const result = await tool.handler(caller, parsed.data as never);
    if (!isRefusal(result)) return { content: [text(JSON.stringify(result))], structuredContent: result };
    if (result.refused === 'BAD_REQUEST') throw new ProtocolError(ProtocolErrorCode.InvalidParams, result.message);
    return failed(result.message);
  }
}

function listedTool({ name, title, description, input, output, does = LOOKS }: Tool): Listed {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  const inputSchema = schema as Listed['inputSchema'];
  const outputSchema = resultSchema(output);
  return { name, title, description, inputSchema, outputSchema, annotations: { title, ...does } };
}

function failed(message: string): CallToolResult {
  return { content: [text(message)], isError: true };
}

function text(content: string) {
  return { type: 'text' as const, text: content };
}
