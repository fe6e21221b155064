import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolErrorCode,
  type StandardSchemaV1Sync,
  specTypeSchemas,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MCP_PATH } from '../../domain/audiences.js';
import { type Refusal, Refused } from '../../domain/refusals.js';
import { decodeJson } from '../../engine/wire/json.js';
import { chooseMessageFormat } from '../../engine/wire/media_types.js';
import { stepUpRefusal } from './step_up.js';
import type { CallerOfTool, Tool } from './tool.js';
import { type Offered, resultForm, ToolServers } from './tool_server.js';

/**
 * The MCP server, over streamable HTTP without sessions: each POST is answered by itself, with JSON, or with one event for
 * clients that take nothing but streams. Nothing is ever sent unasked, so there is no stream to GET and no session to
 * DELETE. Rules C-047, C-048 and C-118.
 */

const {
  ParseError: PARSE_ERROR,
  InternalError: INTERNAL_ERROR,
  InvalidRequest: INVALID_REQUEST,
  InvalidParams: INVALID_PARAMS,
  MethodNotFound: METHOD_NOT_FOUND,
} = ProtocolErrorCode;
/** Each call in a batch is a read of its own. */
const BATCH_MAX = 20;
/** Longer than anything that a tool waits for. */
const ANSWER_MAX_MS = 20_000;
/** Of requests that are served. */
const FORMS = new Map<string, StandardSchemaV1Sync>([
  ['initialize', specTypeSchemas.InitializeRequest],
  ['ping', specTypeSchemas.PingRequest],
  ['tools/list', specTypeSchemas.ListToolsRequest],
  ['tools/call', specTypeSchemas.CallToolRequest],
  ['prompts/list', specTypeSchemas.ListPromptsRequest],
  ['prompts/get', specTypeSchemas.GetPromptRequest],
  ['resources/list', specTypeSchemas.ListResourcesRequest],
  ['resources/templates/list', specTypeSchemas.ListResourceTemplatesRequest],
  ['resources/read', specTypeSchemas.ReadResourceRequest],
]);
const FIELDS_SHOWN_MAX = 5;

/** Takes messages of the protocol, for the tools of a table. */
export class McpEndpoint {
  readonly #servers: ToolServers;
  /** The generation from 2026-07-28 on. What it hands through as `authInfo` is ours. */
  readonly #present: ReturnType<typeof createMcpHandler>;

  constructor(tools: readonly Tool[], instructions: string, offered: Offered) {
    this.#servers = new ToolServers(tools, instructions, offered);
    const serve = (caller: CallerOfTool) => this.#servers.serve(caller, 'structured');
    this.#present = createMcpHandler(({ authInfo }) => serve(authInfo?.extra?.caller as CallerOfTool), {
      legacy: 'reject',
    });
  }

  async take(
    caller: CallerOfTool,
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  ): Promise<FastifyReply> {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity')
      return sendError(reply, 415, { code: INVALID_REQUEST, message: 'Bodies must come without Content-Encoding.' });
    const format = chooseMessageFormat(request.headers.accept);
    if (format === 'none')
      return sendError(reply, 406, { code: INVALID_REQUEST, message: 'Answers come as application/json.' });
    const body = decodeJson((request.body as Buffer | undefined) ?? Buffer.alloc(0));
    if (!body.ok) return sendError(reply, 400, { code: PARSE_ERROR, message: `Not valid JSON: ${body.message}.` });
    const sent = withoutNulls(body.value);
    const fault = faultOf(sent);
    if (fault !== null) return sendError(reply, fault.code === METHOD_NOT_FOUND ? 404 : 400, fault);
    const step_up = this.#stepUpOf(caller, sent);
    if (step_up !== null) throw new Refused(step_up);
    const message = withoutCancellations(sent);
    if (message === undefined) return reply.code(202).send();
    const answered = await inTime(this.#answer(caller, request, message));
    if (answered !== 'late') return send(reply, answered, format);
    caller.services.log.error({ request_id: caller.request_id }, 'an MCP message was not answered in time');
    return sendError(reply, 503, { code: INTERNAL_ERROR, message: 'This took too long.' });
  }

  /** Of one call alone: the calls of a batch are answered one by one. */
  #stepUpOf({ who }: CallerOfTool, message: unknown): Refusal | null {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
    if (method !== 'tools/call') return null;
    const tool = this.#servers.find(String(params?.name));
    return tool === undefined ? null : stepUpRefusal(tool, who);
  }

  async #answer(caller: CallerOfTool, incoming: FastifyRequest, message: unknown): Promise<Response> {
    const request = new Request(new URL(MCP_PATH, caller.services.addresses().base_url), {
      method: 'POST',
      headers: textHeaders(incoming),
    });
    if (!(await isLegacyRequest(request, message))) {
      // The token stays with us: tools get its bearer, not what was shown.
      const authInfo = { token: '', clientId: '', scopes: [], extra: { caller } };
      return this.#present.fetch(request, { authInfo, parsedBody: message });
    }
    const version = request.headers.get('mcp-protocol-version') ?? undefined;
    const server = this.#servers.serve(caller, resultForm(version));
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody: message });
    } finally {
      await server.close();
    }
  }
}

/**
 * A message, or a batch, without members of its params that are null: they count as absent. What a tool's arguments
 * hold is judged by the tool, where null may be a value.
 */
function withoutNulls(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(withoutNulls);
  if (typeof message !== 'object' || message === null) return message;
  const { params, ...sent } = message as { method?: unknown; params?: unknown };
  if (params === undefined) return message;
  if (params === null) return sent;
  if (typeof params !== 'object' || Array.isArray(params)) return message;
  const given = withoutNullMembers(params);
  const { arguments: values } = given as { arguments?: unknown };
  const is_prompt = sent.method === 'prompts/get' && typeof values === 'object' && !Array.isArray(values);
  if (is_prompt) Object.assign(given, { arguments: withoutNullMembers(values as object) });
  return { ...sent, params: given };
}

function withoutNullMembers(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

type Fault = { code: number; message: string; id?: unknown };

/** The fault of a message that uses a part of the protocol which this server does not support; null for any other. */
function faultOf(message: unknown): Fault | null {
  if (Array.isArray(message)) {
    if (message.length > BATCH_MAX)
      return { code: INVALID_REQUEST, message: `A batch may have at most ${BATCH_MAX} messages.` };
    // Answers are told apart by their ids.
    const ids = message.flatMap((one) => (one?.method === undefined || one.id === undefined ? [] : [one.id]));
    if (new Set(ids).size < ids.length)
      return { code: INVALID_REQUEST, message: 'Each request of a batch must have an id of its own.' };
    return message.map(formFaultOf).find((fault) => fault !== null) ?? null;
  }
  const { method, id } = (message ?? {}) as { method?: unknown; id?: unknown };
  // It would be answered with a stream that nothing ever comes through.
  if (method === 'subscriptions/listen')
    return { code: METHOD_NOT_FOUND, message: 'There is nothing to listen to.', id };
  return formFaultOf(message);
}

/** The SDK would answer with what its schemas say, in their words, and take some of it for a fault of ours. */
function formFaultOf(message: unknown): Fault | null {
  const { method, id } = (message ?? {}) as { method?: unknown; id?: unknown };
  const form = typeof method === 'string' ? FORMS.get(method) : undefined;
  const judged = form?.['~standard'].validate(message);
  if (judged?.issues === undefined) return null;
  const fields = judged.issues.map(({ path = [] }) => path.map(String).join('.'));
  const shown = [...new Set(fields)].slice(0, FIELDS_SHOWN_MAX).join(', ');
  return { code: INVALID_PARAMS, message: `${shown}: missing, or not of the type that the protocol has it.`, id };
}

/**
 * A message without what it cancels: each request stands for itself, so there is nothing in progress but its own batch,
 * whose answer the SDK would then wait for without end. Undefined when nothing is left.
 */
function withoutCancellations(message: unknown): unknown {
  if (!Array.isArray(message)) return message;
  const kept = message.filter((one) => one?.method !== 'notifications/cancelled');
  return kept.length === 0 && message.length > 0 ? undefined : kept;
}

async function inTime(work: Promise<Response>): Promise<Response | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ANSWER_MAX_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Without what the SDK has no use for. */
function textHeaders({ headers }: FastifyRequest): Headers {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && name !== 'authorization') kept.set(name, value);
  // The SDK refuses whoever does not name both, as the specification of 2025 has it. Many clients name one, or neither.
  kept.set('accept', 'application/json, text/event-stream');
  return kept;
}

async function send(reply: FastifyReply, response: Response, format: 'json' | 'events'): Promise<FastifyReply> {
  const body = await response.text();
  reply.code(response.status);
  if (body === '') return reply.send();
  // JSON has no line breaks outside of its texts, so it is one line of data.
  if (format === 'events' && response.ok)
    return reply.type('text/event-stream').send(`event: message\ndata: ${body}\n\n`);
  return reply.type(response.headers.get('content-type') ?? 'application/json').send(body);
}

function sendError(reply: FastifyReply, status: number, { id = null, ...error }: Fault): FastifyReply {
  return reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify({ jsonrpc: '2.0', id, error }));
}
