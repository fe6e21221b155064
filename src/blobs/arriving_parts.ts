import { Readable } from 'node:stream';

/** Iterates what arrives without destroying the stream when left early: it may be a request to answer. */
export function partsOf(stream: Readable | AsyncIterable<Buffer>): AsyncIterator<Buffer> {
  if (stream instanceof Readable) return stream.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  return stream[Symbol.asyncIterator]();
}
