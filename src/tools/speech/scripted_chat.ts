import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server at INSIGHTS_URL that says what a script says. `thinks` gets what it was asked, read back from the messages;
 * `answers` takes the place of it for answers that are none, first come, first served.
 */

export type ChatTurn = { turn: number; speaker: string | null; text: string };

export type ChatRequest = {
  authorization: string | null;
  body: {
    model?: string;
    messages: { role: string; content: string }[];
    response_format?: { type: string; json_schema?: { name: string; strict: boolean; schema: object } };
    temperature?: number;
    tools?: unknown;
  };
  system: string;
  user: {
    started_at: string;
    what_people_said: { note: string; turns: ChatTurn[] };
    people: { speaker: string; name: string | null; owns_the_account: boolean }[];
    suggestions: { ref: number; kind: string; text: string; status: string; due_at: string | null }[];
    memories: { ref: number; kind: string; text: string }[];
    account: { about: string | null; languages: string[]; vocabulary: string[]; context: string[] };
    /** Of the question about a conversation in parts. */
    parts?: { title: string | null; summary: string | null; topics: string[] }[];
  };
};

type Answer = { status: number; body: string; headers?: Record<string, string> } | 'hang' | 'endless' | 'cut off';

export class ScriptedChat {
  readonly requests: ChatRequest[] = [];
  readonly #server: Server;
  readonly #keeps_requests: boolean;
  /** What the model says, as an object. */
  thinks: (request: ChatRequest) => object = promisesOf;
  /** Answers to the next requests in their place. */
  answers: Answer[] = [];
  /** Waited for before each answer. */
  before: (request: ChatRequest) => Promise<void> = async () => {};

  private constructor(keeps_requests: boolean) {
    this.#keeps_requests = keeps_requests;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(599).end(String(error));
      });
    });
  }

  /** Ends with the test; without one, call `close`. */
  static async start({
    teardown,
    keeps_requests = true,
  }: {
    teardown?: (end: () => Promise<void>) => void;
    keeps_requests?: boolean;
  } = {}): Promise<ScriptedChat> {
    const chat = new ScriptedChat(keeps_requests);
    await new Promise<void>((resolve) => chat.#server.listen(0, '127.0.0.1', resolve));
    teardown?.(() => chat.close());
    return chat;
  }

  /** For INSIGHTS_URL. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.method !== 'POST' || incoming.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    const request = await readRequest(incoming);
    if (this.#keeps_requests) this.requests.push(request);
    await this.before(request);
    const answer = this.answers.shift();
    if (answer === 'hang') return;
    if (answer === 'endless') {
      response.writeHead(200, { 'content-type': 'application/json' });
      pour(response);
      return;
    }
    if (answer === 'cut off') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"choices": [');
      setImmediate(() => response.destroy());
      return;
    }
    const { status, body, headers } = answer ?? completion(this.thinks(request));
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  }
}

/** An answer whose message is this object, or this text. */
export function completion(said: object | string): Extract<Answer, { status: number }> {
  const content = typeof said === 'string' ? said : JSON.stringify(said);
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
  return { status: 200, body: JSON.stringify({ object: 'chat.completion', choices }) };
}

/** A title, a summary, and a task of each turn that says "I will". */
function promisesOf({ user }: ChatRequest): object {
  if (user.parts !== undefined) return summaryOf(user.parts.map(({ title }) => title ?? ''));
  const { turns } = user.what_people_said;
  const promises = turns.filter(({ text }) => /\bI will\b/.test(text));
  return {
    conversation: summaryOf(turns.map(({ text }) => text)),
    suggestions: promises
      .filter(({ text }) => !user.suggestions.some((known) => known.text === text))
      .map(({ turn, text, speaker }) => ({
        ...{ op: 'new', ref: null, kind: 'task', text, due_at: null, owner: speaker, requester: null },
        evidence: [{ turn, quote: text }],
      })),
    memories: [],
  };
}

function summaryOf(texts: readonly string[]): object {
  const [first = ''] = texts;
  return {
    title: first.slice(0, 60) || null,
    summary: texts.slice(0, 3).join(' ').slice(0, 1_000) || null,
    topics: [],
  };
}

/** Writes as long as somebody reads. */
function pour(response: ServerResponse): void {
  const piece = Buffer.alloc(65_536, ' ');
  const more = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', more);
  more();
}

async function readRequest(incoming: IncomingMessage): Promise<ChatRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const body = JSON.parse(Buffer.concat(pieces).toString()) as ChatRequest['body'];
  const said = (role: string) => body.messages.find((message) => message.role === role)?.content ?? '';
  return {
    ...{ authorization: incoming.headers.authorization ?? null, body, system: said('system') },
    user: JSON.parse(said('user')) as ChatRequest['user'],
  };
}
