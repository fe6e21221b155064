import {
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { accessRefusal } from '../../access/access.js';
import { isRefused } from '../../domain/refusals.js';
import { VERSION } from '../../engine/process/version.js';
import { isRetryable } from '../../engine/store/store.js';
import { parseGiven } from '../../engine/wire/schema_faults.js';
import { AWAY } from '../http/error_refusals.js';
import { ASSETS } from '../pages/assets.js';
import { withoutForeignArguments } from './foreign_arguments.js';
import { listedInput, listedOutput } from './listed_schemas.js';
import { type Prompt, promptArguments } from './prompt.js';
import { idIn, type ResourceTemplate } from './resource.js';
import { resultText } from './result_text.js';
import { type CallerOfTool, LOOKS, type Tool } from './tool.js';
import { wordsOfRefusal, wordsOfWrongArguments } from './tool_failures.js';

export type ListedTool = ListToolsResult['tools'][number];

/** Its validator is for answers that a server asks of a client: we ask nothing. */
const NOTHING_TO_VALIDATE = {
  getValidator: () => {
    throw new Error('nothing is asked of clients');
  },
};

/** Prompts and resources, as tables. */
export type Offered = { prompts: readonly Prompt[]; resources: readonly ResourceTemplate[] };

/** From this version of the protocol on, results have a structured form. */
const STRUCTURED_SINCE = '2025-06-18';

/** How results come: once, but to a client that does not say what it reads. */
export type ResultForm = 'structured' | 'text' | 'both';

/** The form for a client of this version of the protocol. */
export function resultForm(version: string | undefined): ResultForm {
  if (version === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(version)) return 'both';
  return version >= STRUCTURED_SINCE ? 'structured' : 'text';
}

/** Servers of the tools of a table, each for one request. */
export class ToolServers {
  readonly #tools: readonly { tool: Tool; listed: ListedTool }[];
  readonly #by_name: ReadonlyMap<string, Tool>;
  readonly #instructions: string;
  readonly #offered: Offered;

  constructor(tools: readonly Tool[], instructions: string, offered: Offered) {
    this.#offered = offered;
    this.#tools = tools.map((tool) => ({ tool, listed: listedTool(tool) }));
    this.#by_name = new Map(tools.map((tool) => [tool.name, tool]));
    this.#instructions = instructions;
  }

  find(name: string): Tool | undefined {
    return this.#by_name.get(name);
  }

  /** Tools as far as the caller of the request may use them. */
  serve(caller: CallerOfTool, form: ResultForm): Server {
    const server = new Server(infoOf(caller), {
      capabilities: { tools: {}, prompts: {}, resources: {} },
      instructions: this.#instructions,
      jsonSchemaValidator: NOTHING_TO_VALIDATE,
    });
    server.setRequestHandler('tools/list', async () => ({
      tools: this.#tools
        .filter(({ tool }) => accessRefusal(caller.who, tool) === null)
        .map(({ listed }) => (form === 'structured' ? listed : { ...listed, outputSchema: undefined })),
    }));
    server.setRequestHandler('tools/call', ({ params }) =>
      this.#call(caller, { ...params, form }).catch((error: unknown) => {
        if (error instanceof ProtocolError) throw error;
        if (isRetryable(error)) return failed(wordsOfRefusal(AWAY));
        const { services, request_id } = caller;
        services.log.error({ err: error, request_id }, 'a tool failed');
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'Something went wrong on our side.');
      }),
    );
    this.#offer(server, caller);
    return server;
  }

  /** Prompts are for everybody, resources for whoever may read them. */
  #offer(server: Server, caller: CallerOfTool): void {
    const { prompts, resources } = this.#offered;
    const readable = resources.filter((row) => accessRefusal(caller.who, row) === null);
    server.setRequestHandler('prompts/list', async () => ({
      prompts: prompts.map(({ name, title, description, arguments: asked }) => {
        return { name, title, description, arguments: asked.map((one) => ({ ...one })) };
      }),
    }));
    server.setRequestHandler('prompts/get', async ({ params }) => {
      const prompt = prompts.find(({ name }) => name === params.name);
      if (prompt === undefined) throw invalid('There is no prompt of this name.');
      const given = promptArguments(prompt, params.arguments);
      if (given === null) throw invalid('An argument of the prompt is missing.');
      const { description } = prompt;
      return { description, messages: [{ role: 'user' as const, content: text(prompt.text(given)) }] };
    });
    server.setRequestHandler('resources/list', async () => ({ resources: [] }));
    server.setRequestHandler('resources/templates/list', async () => ({
      resourceTemplates: readable.map(({ name, title, description, uri: uriTemplate, mime_type: mimeType }) => {
        return { name, title, description, uriTemplate, mimeType };
      }),
    }));
    server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
      for (const row of readable) {
        const id = idIn(row, uri);
        if (id === null) continue;
        const said = await row.read(caller as CallerOfTool<never>, id).catch((error: unknown) => {
          throw isRefused(error) ? invalid(wordsOfRefusal(error.refusal)) : error;
        });
        return { contents: [{ uri, mimeType: row.mime_type, text: said }] };
      }
      throw invalid('There is no such resource that this connection may read.');
    });
  }

  async #call(
    caller: CallerOfTool,
    { name, arguments: input = {}, form }: { name: string; arguments?: unknown; form: ResultForm },
  ): Promise<CallToolResult> {
    const tool = this.find(name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool of this name.');
    const refusal = accessRefusal(caller.who, tool);
    if (refusal !== null) return failed(wordsOfRefusal(refusal));
    const parsed = parseGiven(tool.input, withoutForeignArguments(tool, input));
    if (!parsed.success) return failed(wordsOfWrongArguments(tool, parsed.error.issues));
    try {
      const result = await tool.handler(caller as CallerOfTool<never>, parsed.data as never);
      const short = tool.text?.(result as never) ?? resultText(result);
      const content = [text(form === 'structured' ? short : JSON.stringify(result))];
      return form === 'text' ? { content } : { content, structuredContent: result };
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

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

function failed(message: string): CallToolResult {
  return { content: [text(message)], isError: true };
}

function text(content: string) {
  return { type: 'text' as const, text: content };
}
