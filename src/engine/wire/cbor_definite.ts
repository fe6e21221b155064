/**
 * CBOR that `scanCbor` has passed, with definite lengths throughout: cbor-x takes no strings of indefinite ones. As deep
 * as that lets a body be, this recurses.
 */
export function withDefiniteLengths(bytes: Buffer): Buffer {
  return new Rewriter(bytes).rewrite();
}

const MAJOR = { bytes: 2, text: 3, array: 4, map: 5, tag: 6 };
const INDEFINITE = 31;
const BREAK = 0xff;
const NOTHING = Buffer.alloc(0);

class Rewriter {
  readonly #bytes: Buffer;
  readonly #pieces: Buffer[] = [];
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  rewrite(): Buffer {
    this.#item();
    return Buffer.concat(this.#pieces);
  }

  /** False, with nothing written, at the break that ends the items. */
  #item(): boolean {
    const start = this.#at;
    const head = this.#bytes[this.#at++] as number;
    if (head === BREAK) return false;
    const [major, info] = [head >> 5, head & 0x1f];
    if (info === INDEFINITE) {
      this.#indefinite(major);
      return true;
    }
    const argument = this.#argument(info);
    if (major === MAJOR.bytes || major === MAJOR.text) this.#at += argument;
    this.#pieces.push(this.#bytes.subarray(start, this.#at));
    const inner = major === MAJOR.map ? argument * 2 : major === MAJOR.array ? argument : major === MAJOR.tag ? 1 : 0;
    for (let count = 0; count < inner; count++) this.#item();
    return true;
  }

  #indefinite(major: number): void {
    const place = this.#pieces.push(NOTHING) - 1;
    let length = 0;
    if (major === MAJOR.bytes || major === MAJOR.text) {
      for (let head = this.#bytes[this.#at++] as number; head !== BREAK; head = this.#bytes[this.#at++] as number) {
        const chunk = this.#argument(head & 0x1f);
        this.#pieces.push(this.#bytes.subarray(this.#at, this.#at + chunk));
        this.#at += chunk;
        length += chunk;
      }
    } else while (this.#item()) length += 1;
    this.#pieces[place] = headOf(major, major === MAJOR.map ? length / 2 : length);
  }

  /** Of a string or a container it is as small as the body; of anything else it is not looked at. */
  #argument(info: number): number {
    if (info < 24) return info;
    const width = 1 << (info - 24);
    this.#at += width;
    return Number(`0x${this.#bytes.toString('hex', this.#at - width, this.#at)}`);
  }
}

function headOf(major: number, length: number): Buffer {
  const head = Buffer.alloc(5);
  head[0] = (major << 5) | 26;
  head.writeUInt32BE(length, 1);
  return head;
}
