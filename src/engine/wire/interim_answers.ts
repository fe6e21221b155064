import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * Interim answers (1xx) contain nothing that our requests need, and a client has to skip them (RFC 9110, 15.2). undici
 * treats a 100 as a fault and ends the connection, so they are removed from the received bytes before undici sees them.
 */

const NONE = Buffer.alloc(0);
const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/;
const STATUS_LINE_BEGINS = 'HTTP/1.';
/** 101 is final: another protocol follows, for which nobody asked. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d/;
const STATUS_BYTES = 'HTTP/1.1 100'.length;
const HEAD_END = '\r\n\r\n';
/** A longer interim answer is passed on, for undici to refuse. */
const HEAD_BYTES_MAX = 16 * 1024;

/** Connections that hide interim answers. One request at a time. */
export function skippingInterim(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      skipInterim(socket);
      callback(null, socket);
    });
}

function skipInterim(socket: Socket): void {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)];
  const answers = new InterimFilter();
  socket.write = ((...args: Parameters<typeof write>) => {
    const [data] = args;
    if (typeof data === 'string' && REQUEST_LINE.test(data)) answers.begin();
    return write(...args);
  }) as typeof socket.write;
  socket.read = (size) => {
    for (;;) {
      const bytes: Buffer | null = read(size);
      const passed = bytes === null ? null : answers.passed(bytes);
      if (passed === null || passed.length > 0) return passed;
    }
  };
}

/** Removes interim answers from the bytes of one connection. */
class InterimFilter {
  /** Whether a request was sent, and no status line but interim ones has come. */
  #awaited = false;
  #held: Buffer = NONE;

  begin(): void {
    this.#awaited = true;
  }

  /** Returns the bytes, including those held before, without interim answers. */
  passed(bytes: Buffer): Buffer {
    if (!this.#awaited) return bytes;
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    for (;;) {
      const begins = this.#held.toString('latin1', 0, STATUS_BYTES);
      const is_known = begins.length === STATUS_BYTES || !STATUS_LINE_BEGINS.startsWith(begins.slice(0, 7));
      if (is_known && !INTERIM.test(begins)) return this.#rest();
      const end = is_known ? this.#held.indexOf(HEAD_END) : -1;
      if (end < 0) return this.#held.length > HEAD_BYTES_MAX ? this.#rest() : NONE;
      this.#held = this.#held.subarray(end + HEAD_END.length);
    }
  }

  #rest(): Buffer {
    const rest = this.#held;
    this.#held = NONE;
    this.#awaited = false;
    return rest;
  }
}
