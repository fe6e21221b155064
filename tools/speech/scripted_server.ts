import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ScriptedAnswer = { status: number; body: string; headers?: Record<string, string> };
type ServerAnswer = ScriptedAnswer | 'hang' | 'endless' | 'cut off';

/** `teardown`: it ends with the test; without one, call `close`. */
export type ServerOptions = { teardown?: (end: () => Promise<void>) => void; keeps_requests?: boolean };

type Way = {
  path: string;
  /** The beginning of an answer that is cut off. */
  begins: string;
  keeps_requests: boolean;
};

/**
 * A server in place of an engine. It answers what a script says; `answers` takes the place of that for answers that are
 * none, first come, first served.
 */
export abstract class ScriptedServer<Request> {
  readonly requests: Request[] = [];
  /** Answers to the next requests in their place. */
  answers: ServerAnswer[] = [];
  /** Whether `answers` are for a request: others may come between. */
  isAnswered: (request: Request) => boolean = () => true;
  /** Says 100 before each answer, which nobody asked for. */
  interim = false;
  /** Waited for before each answer. */
  before: (request: Request) => Promise<void> = async () => {};
  readonly #way: Way;
  readonly #server: Server;

  protected constructor(way: Way) {
    this.#way = way;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(599).end(String(error));
      });
    });
  }

  protected abstract read(incoming: IncomingMessage): Promise<Request>;
  protected abstract answerTo(request: Request): ScriptedAnswer;

  protected async listen(teardown: ServerOptions['teardown']): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    teardown?.(() => this.close());
    return this;
  }

  /** For the setting that names the engine's address. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, begins, keeps_requests } = this.#way;
    if (incoming.method !== 'POST' || incoming.url !== path) {
      response.writeHead(404).end();
      return;
    }
    const request = await this.read(incoming);
    if (keeps_requests) this.requests.push(request);
    await this.before(request);
    const answer = this.isAnswered(request) ? this.answers.shift() : undefined;
    if (answer === 'hang') return;
    if (answer === 'endless') {
      response.writeHead(200, { 'content-type': 'application/json' });
      pour(response);
      return;
    }
    if (answer === 'cut off') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write(begins);
      setImmediate(() => response.destroy());
      return;
    }
    const { status, body, headers } = answer ?? this.answerTo(request);
    if (this.interim) response.writeContinue();
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  }
}

export async function bodyOf(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
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
