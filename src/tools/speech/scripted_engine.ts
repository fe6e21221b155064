import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readWav, type Wav } from '../../audio/wav.js';
import { heardIn, type Spoken } from './audible_script.js';

/**
 * A server at TRANSCRIBE_URL that hears what a script says. The script lies in the audio (audible_script.ts), unless
 * `hears` says otherwise; `answers` takes the place of it for answers that are none, first come, first served.
 */

export type HeardRequest = {
  fields: Record<string, string[]>;
  authorization: string | null;
  name: string;
  type: string;
  bytes: Buffer;
  /** Of the file. */
  sha256: string;
  /** Where it is a WAV of plain samples. */
  wav: Wav | null;
  samples: Buffer;
  length_s: number;
};

type Answer = { status: number; body: string; headers?: Record<string, string> } | 'hang' | 'endless' | 'cut off';

export class ScriptedEngine {
  readonly requests: HeardRequest[] = [];
  readonly #server: Server;
  readonly #keeps_requests: boolean;
  hears: (request: HeardRequest) => Spoken[] = ({ wav, samples }) => (wav === null ? [] : heardIn(samples, wav.format));
  language = 'english';
  /** Answers to the next requests in their place. */
  answers: Answer[] = [];
  /** Waited for before each answer. */
  before: (request: HeardRequest) => Promise<void> = async () => {};

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
  } = {}): Promise<ScriptedEngine> {
    const engine = new ScriptedEngine(keeps_requests);
    await new Promise<void>((resolve) => engine.#server.listen(0, '127.0.0.1', resolve));
    teardown?.(() => engine.close());
    return engine;
  }

  /** For TRANSCRIBE_URL. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.method !== 'POST' || incoming.url !== '/v1/audio/transcriptions') {
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
      response.write('{"text": "half');
      setImmediate(() => response.destroy());
      return;
    }
    const { status, body, headers } = answer ?? json(this.#said(request));
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  }

  #said(request: HeardRequest): object {
    const segments = this.hears(request);
    const text = segments.map((segment) => segment.text).join(' ');
    const [form] = request.fields.response_format ?? [];
    if (form === 'json') return { text };
    const timed = request.fields['timestamp_granularities[]']?.includes('word') === true;
    return {
      ...{ task: 'transcribe', language: this.language, duration: request.length_s, text, segments },
      ...(timed && { words: segments.flatMap(wordsOf) }),
    };
  }
}

export function json(body: unknown, status = 200): Extract<Answer, { status: number }> {
  return { status, body: JSON.stringify(body) };
}

function wordsOf({ text, start, end }: Spoken): { word: string; start: number; end: number }[] {
  const words = text.split(' ');
  const at = (index: number) => Math.round((start + ((end - start) * index) / words.length) * 1_000) / 1_000;
  return words.map((word, index) => ({ word: word.replace(/[.,?!]$/, ''), start: at(index), end: at(index + 1) }));
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

async function readRequest(incoming: IncomingMessage): Promise<HeardRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const headers = { 'content-type': incoming.headers['content-type'] ?? '' };
  const form = await new Response(Buffer.concat(pieces), { headers }).formData();
  const fields: Record<string, string[]> = {};
  let file: File | null = null;
  for (const [name, value] of form as unknown as Iterable<[string, string | File]>) {
    if (typeof value !== 'string') file = value;
    else fields[name] = [...(fields[name] ?? []), value];
  }
  if (file === null) throw new Error('a request without a file');
  const bytes = Buffer.from(await file.arrayBuffer());
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
  const found = await readWav({ size_bytes: bytes.length, read });
  const wav = found.ok ? found.wav : null;
  const samples = wav === null ? Buffer.alloc(0) : bytes.subarray(wav.data_offset);
  return {
    ...{ fields, bytes, wav, samples, name: file.name, type: file.type },
    authorization: incoming.headers.authorization ?? null,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    length_s: wav === null ? 0 : wav.frames / wav.format.frames_per_second,
  };
}
