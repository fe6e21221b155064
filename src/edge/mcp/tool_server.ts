import {
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { accessRefusal } from '../../access/access.js';
import { isRefused } from '../../domain/refusals.js';
import { isRetryable } from '../../engine/store/store.js';
import { parseGiven } from '../../engine/wire/schema_faults.js';
import { VERSION } from '../../version.js';
import { AWAY } from '../http/error_refusals.js';
import { ASSETS } from '../pages/assets.js';
import { listedInput, listedOutput } from './listed_schemas.js';
import { type CallerOfTool, LOOKS, type Tool } from './tool.js';
import { wordsOfRefusal, wordsOfWrongArguments } from './tool_failures.js';

export type ListedTool = ListToolsResult['tools'][number];

/** Its validator is for answers that a server asks of a client: we ask nothing. */
const NOTHING_TO_VALIDATE = {
  getValidator: () => {
    throw new Error('nothing is asked of clients');
  },
};

/** Servers of the tools of a table, each for one request. */
export class ToolServers {
  readonly #tools: readonly { tool: Tool; listed: ListedTool }[];
  readonly #by_name: ReadonlyMap<string, Tool>;
  readonly #instructions: string;

  constructor(tools: readonly Tool[], instructions: string) {
    this.#tools = tools.map((tool) => ({ tool, listed: listedTool(tool) }));
    this.#by_name = new Map(tools.map((tool) => [tool.name, tool]));
    this.#instructions = instructions;
  }

  find(name: string): Tool | undefined {
    return this.#by_name.get(name);
  }

  /** Tools as far as the caller of the request may use them. */
  serve(caller: CallerOfTool): Server {
    const server = new Server(infoOf(caller), {
      capabilities: { tools: {} },
      instructions: this.#instructions,
      jsonSchemaValidator: NOTHING_TO_VALIDATE,
    });
    server.setRequestHandler('tools/list', async () => ({
      tools: this.#tools.flatMap(({ tool, listed }) => (accessRefusal(caller.who, tool) === null ? [listed] : [])),
    }));
    server.setRequestHandler('tools/call', ({ params }) =>
      this.#call(caller, params.name, params.arguments ?? {}).catch((error: unknown) => {
        if (error instanceof ProtocolError) throw error;
        if (isRetryable(error)) return failed(wordsOfRefusal(AWAY));
        const { services, request_id } = caller;
        services.log.error({ err: error, request_id }, 'a tool failed');
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'Something went wrong on our side.');
      }),
    );
    return server;
  }

  async #call(caller: CallerOfTool, name: string, input: unknown): Promise<CallToolResult> {
    const tool = this.find(name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool of this name.');
    const refusal = accessRefusal(caller.who, tool);
    if (refusal !== null) return failed(wordsOfRefusal(refusal));
    const parsed = parseGiven(tool.input, input);
    if (!parsed.success) return failed(wordsOfWrongArguments(tool, parsed.error.issues));
    try {
      const result = await tool.handler(caller as CallerOfTool<never>, parsed.data as never);
      return { content: [text(tool.text?.(result as never) ?? JSON.stringify(result))], structuredContent: result };
    } catch (error) {
      if (!isRefused(error)) throw error;
      const { refused, details } = error.refusal;
      if (refused !== 'BAD_REQUEST' || details === undefined) return failed(wordsOfRefusal(error.refusal));
      const issues = details.map(({ path, message }) => ({ path: [path], message }));
      return failed(wordsOfWrongArguments(tool, issues));
    }
  }
}

function infoOf({ services }: CallerOfTool) {
  const { base_url } = services.addresses();
  return {
    name: 'spool',
    title: 'Spool',
    version: VERSION,
    websiteUrl: `${base_url}/guides/assistants`,
    icons: [{ src: base_url + ASSETS.icon.path, mimeType: 'image/svg+xml', sizes: ['any'] }],
  };
}

/** As clients are told of it. */
export function listedTool({ name, title, description, input, output, does = LOOKS }: Tool): ListedTool {
  const [inputSchema, outputSchema] = [listedInput(input), listedOutput(output)];
  return { name, title, description, inputSchema, outputSchema, annotations: does } as ListedTool;
}

function failed(message: string): CallToolResult {
  return { content: [text(message)], isError: true };
}

function text(content: string) {
  return { type: 'text' as const, text: content };
}
