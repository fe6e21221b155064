import { fileURLToPath } from 'node:url';
import type { SharedPool } from '../pools/shared_pool.js';
import {
  type CommonAnswer,
  FramedProcess,
  type ProcessBounds,
  type ProcessCallOptions,
  ProcessFailed,
} from '../process/framed_process.js';
import { MEANING_MODEL } from './meaning_model.js';

/** The server's side of the process that makes vectors of texts. It is started when it is first needed. */

export type MeaningRequest = { kind: 'check' } | { kind: 'embed'; texts: readonly string[] };
/** `embedded`: the vectors came before it, in a piece: signed bytes, one text after the other. */
type MeaningAnswer = { kind: 'checked' } | { kind: 'embedded' };
export type MeaningProcessAnswer = MeaningAnswer | CommonAnswer;

const PROGRAM = fileURLToPath(new URL('./meaning_process_main.js', import.meta.url));

export class MeaningProcess {
  readonly #process: FramedProcess<MeaningRequest, MeaningAnswer>;

  constructor({ folder, ...bounds }: ProcessBounds & { folder: string }) {
    this.#process = new FramedProcess({ ...bounds, name: 'meaning', program: PROGRAM, folder });
  }

  get pool(): SharedPool {
    return this.#process.pool;
  }

  /** Its id while it runs. */
  get pid(): number | null {
    return this.#process.pid;
  }

  /** Loads the runtime, without the weights. Throws ProcessFailed, whose message says why that is not possible. */
  async check(): Promise<void> {
    await this.#process.ask({ request: { kind: 'check' } }, { owner: '', signal: new AbortController().signal });
  }

  /** A vector for each text, of length 127. Throws ProcessFailed, and NoPlace. */
  async embed(texts: readonly string[], call: ProcessCallOptions): Promise<Int8Array[]> {
    const { dimension } = MEANING_MODEL;
    const pieces: Buffer[] = [];
    const onPiece = async (piece: Buffer) => void pieces.push(piece);
    await this.#process.ask({ request: { kind: 'embed', texts }, onPiece }, call);
    // Copied: what arrives lies in a buffer that holds much else.
    const bytes = new Int8Array(Buffer.concat(pieces));
    if (bytes.length !== texts.length * dimension)
      throw new ProcessFailed('FAILED', 'The meaning process gave another number of vectors.');
    return texts.map((_, at) => bytes.slice(at * dimension, (at + 1) * dimension));
  }

  async close(): Promise<void> {
    await this.#process.close();
  }
}
