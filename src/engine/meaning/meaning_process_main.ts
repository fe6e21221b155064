import { Console } from 'node:console';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { quantized } from '../../domain/search/vectors.js';
import { writeFrame } from '../process/frames.js';
import { serveRequests } from '../process/served_requests.js';
import { MEANING_PACKAGES } from './meaning_model.js';
import type { MeaningProcessAnswer, MeaningRequest } from './meaning_process.js';

/*
 * The process that makes vectors of texts, one request at a time. It gets the model's folder and its priority as arguments, and
 * ends when its input does. A crash here is one failed request.
 */

type Encoder = { embed(texts: readonly string[]): Promise<number[][]> };
type EncoderPackage = { initModel(source: unknown): Promise<Encoder> };

const [, , folder = '', priority = '0'] = process.argv;
const load = createRequire(join(folder, 'index.js'));
// Answers alone go to stdout, whatever the runtime prints.
globalThis.console = new Console(process.stderr);

/** Opened by the first request that needs it. */
class Encoding {
  #encoder: Promise<Encoder> | null = null;

  open(): Promise<Encoder> {
    this.#encoder ??= openEncoder();
    return this.#encoder;
  }
}

async function openEncoder(): Promise<Encoder> {
  const { initModel } = load(MEANING_PACKAGES.encoder) as EncoderPackage;
  const { modelSource } = load(MEANING_PACKAGES.weights) as { modelSource: unknown };
  return initModel(modelSource);
}

async function answer(encoding: Encoding, request: MeaningRequest): Promise<MeaningProcessAnswer> {
  switch (request.kind) {
    case 'check':
      await (load(MEANING_PACKAGES.runtime) as { ready(): Promise<void> }).ready();
      return { kind: 'checked' };
    case 'embed': {
      const encoder = await encoding.open();
      const found = await encoder.embed(request.texts);
      const vectors = found.flatMap((values) => quantized(values) ?? []);
      if (vectors.length < request.texts.length) throw new Error('A vector has no direction.');
      const bytes = Buffer.concat(vectors.map(({ buffer }) => new Uint8Array(buffer)));
      await writeFrame(process.stdout, { kind: 'piece' } satisfies MeaningProcessAnswer, bytes);
      return { kind: 'embedded' };
    }
  }
}

const encoding = new Encoding();
await serveRequests<MeaningRequest, MeaningProcessAnswer>(Number(priority), (request) => answer(encoding, request));
