import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readWav, type Wav } from '../../src/engine/audio/wav.js';
import { heardIn, type Spoken } from './audible_script.js';
import { bodyOf, type ScriptedAnswer, ScriptedServer, type ServerOptions } from './scripted_server.js';

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

/**
 * A server at TRANSCRIBE_URL that hears what a script says. The script lies in the audio (audible_script.ts), unless
 * `hears` says otherwise.
 */
export class ScriptedEngine extends ScriptedServer<HeardRequest> {
  hears: (request: HeardRequest) => Spoken[] = ({ wav, samples }) => (wav === null ? [] : heardIn(samples, wav.format));
  language = 'english';

  static start({ teardown, keeps_requests = true }: ServerOptions = {}): Promise<ScriptedEngine> {
    const way = { path: '/v1/audio/transcriptions', begins: '{"text": "half', keeps_requests };
    return new ScriptedEngine(way).listen(teardown);
  }

  protected read(incoming: IncomingMessage): Promise<HeardRequest> {
    return readRequest(incoming);
  }

  protected answerTo(request: HeardRequest): ScriptedAnswer {
    return json(this.#said(request));
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

export function json(body: unknown, status = 200): ScriptedAnswer {
  return { status, body: JSON.stringify(body) };
}

function wordsOf({ text, start, end }: Spoken): { word: string; start: number; end: number }[] {
  const words = text.split(' ');
  const at = (index: number) => Math.round((start + ((end - start) * index) / words.length) * 1_000) / 1_000;
  return words.map((word, index) => ({ word: word.replace(/[.,?!]$/, ''), start: at(index), end: at(index + 1) }));
}

async function readRequest(incoming: IncomingMessage): Promise<HeardRequest> {
  const headers = { 'content-type': incoming.headers['content-type'] ?? '' };
  const form = await new Response(await bodyOf(incoming), { headers }).formData();
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
