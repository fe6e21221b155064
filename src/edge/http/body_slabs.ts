import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyRequest } from 'fastify';

/**
 * Reusable memory for bodies with chunks. If it were allocated anew for each, bodies of hundreds of KiB would make the
 * collector scan the whole heap every few hundred of them.
 */

const SLAB_BYTES_MIN = 64 * 1024;
/** The most memory that is taken for bytes that were only announced. */
const FIRST_BYTES_MAX = 256 * 1024;
/** Kept for later bodies; more are let go of. */
const KEPT_BYTES_MAX = 16 * 1_048_576; // ours: of 64 devices that send 256 KiB at a time

/** Memory of one server. */
export class BodySlabs {
  readonly #kept = new Map<number, ArrayBuffer[]>();
  #kept_bytes = 0;

  /** Reads a body whose length is announced, and at most that of its route; `release` ends its use. */
  async read(request: FastifyRequest, body: IncomingMessage): Promise<Buffer> {
    const length = Number(request.headers['content-length']);
    if (length > (request.routeOptions.bodyLimit ?? 0)) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
    let slab = this.#take(Math.min(length, FIRST_BYTES_MAX));
    try {
      let at = 0;
      await eachPiece(body, (piece) => {
        request.arriving?.take(piece.length);
        if (at + piece.length > slab.byteLength) slab = this.#grown(slab, { filled: at, needed: at + piece.length });
        at += piece.copy(Buffer.from(slab), at);
      });
      if (at !== length) throw new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH();
      return Buffer.from(slab, 0, length);
    } catch (error) {
      this.release(Buffer.from(slab));
      throw Object.assign(error as Error, { statusCode: 400 }); // it broke off
    }
  }

  /** Releases a body that nothing reads any more. */
  release(bytes: Buffer): void {
    const slab = bytes.buffer as ArrayBuffer;
    if (this.#kept_bytes + slab.byteLength > KEPT_BYTES_MAX) return;
    this.#kept_bytes += slab.byteLength;
    const of_size = this.#kept.get(slab.byteLength);
    if (of_size === undefined) this.#kept.set(slab.byteLength, [slab]);
    else of_size.push(slab);
  }

  /** A larger slab with the same beginning. */
  #grown(slab: ArrayBuffer, { filled, needed }: { filled: number; needed: number }): ArrayBuffer {
    const larger = this.#take(needed);
    Buffer.from(slab, 0, filled).copy(Buffer.from(larger));
    this.release(Buffer.from(slab));
    return larger;
  }

  /** Takes a slab of the next power of two, so that slabs fit many bodies. */
  #take(length: number): ArrayBuffer {
    const size = Math.max(SLAB_BYTES_MIN, 2 ** Math.ceil(Math.log2(Math.max(1, length))));
    const slab = this.#kept.get(size)?.pop();
    if (slab === undefined) return new ArrayBuffer(size);
    this.#kept_bytes -= size;
    return slab;
  }
}

/**
 * Takes a body to its end, or until `take` throws; the rest is left where it is, since a request without a body can still be
 * answered. By events: an iterator costs 15 µs.
 */
function eachPiece(body: IncomingMessage, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (error?: unknown) => {
      body.off('data', onData).off('end', leave).off('close', onClose).pause();
      if (error === undefined) resolve();
      else reject(error);
    };
    const onData = (piece: Buffer) => {
      try {
        take(piece);
      } catch (error) {
        leave(error);
      }
    };
    const onClose = () => leave(new Error('the body broke off'));
    body.on('data', onData).once('end', leave).once('error', leave).once('close', onClose);
    if (body.destroyed && !body.readableEnded) onClose();
  });
}
