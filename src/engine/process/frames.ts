import type { Readable, Writable } from 'node:stream';

/**
 * Frames between the server and a process of its own over pipes, of JSON and bytes. A frame is the lengths of both, each
 * 32 bits little endian, then the JSON, then the bytes.
 */

const LENGTHS_BYTES = 8;
const JSON_BYTES_MAX = 16 * 1024 * 1024;

export type PipeFrame<Said> = { said: Said; bytes: Buffer };

/** Resolves when the pipe has taken it. Rejects when the pipe is broken. */
export function writeFrame(pipe: Writable, said: object, bytes: Uint8Array = Buffer.alloc(0)): Promise<void> {
  const json = Buffer.from(JSON.stringify(said));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(json.length, 0);
  lengths.writeUInt32LE(bytes.length, 4);
  return new Promise((resolve, reject) => {
    pipe.cork();
    pipe.write(lengths);
    pipe.write(json);
    pipe.write(bytes, (error) => (error ? reject(error) : resolve()));
    pipe.uncork();
  });
}

/** Frames until the pipe ends; what is left of one at its end is dropped. Throws at a frame larger than `bytes_max`. */
export async function* readFrames<Said>(pipe: Readable, bytes_max: number): AsyncGenerator<PipeFrame<Said>> {
  let held: Buffer[] = [];
  let held_bytes = 0;
  let needed = LENGTHS_BYTES;
  for await (const piece of pipe as AsyncIterable<Buffer>) {
    held.push(piece);
    held_bytes += piece.length;
    while (held_bytes >= needed) {
      const all = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held);
      const [json_bytes, body_bytes] = [all.readUInt32LE(0), all.readUInt32LE(4)];
      if (json_bytes > JSON_BYTES_MAX || body_bytes > bytes_max) throw new Error('a frame is larger than it may be');
      needed = LENGTHS_BYTES + json_bytes + body_bytes;
      held = [all];
      if (all.length < needed) break;
      const json_end = LENGTHS_BYTES + json_bytes;
      const said = JSON.parse(all.toString('utf8', LENGTHS_BYTES, json_end)) as Said;
      const rest = all.subarray(needed);
      const bytes = all.subarray(json_end, needed);
      held = rest.length === 0 ? [] : [rest];
      held_bytes = rest.length;
      needed = LENGTHS_BYTES;
      yield { said, bytes };
    }
  }
}
