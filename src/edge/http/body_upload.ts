import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import type { AnnouncedBody, TakeBody } from '../../engine/blobs/blob_store.js';
import type { Clock } from '../../engine/time/clock.js';
import { askForBody } from './body_arrival.js';
import type { Exchange } from './request_state.js';

/** Bodies whose size and hash were announced, and that go into the blob store as they come. */

/** An upload that gives no byte for this time is cut. */
const SILENCE_MAX_MS = 20_000;
const WRONG_BYTES = refuse('CHECKSUM_MISMATCH', 'The bytes are not those of the announced sha256.');
export const CUT_SHORT = refuse('BAD_REQUEST', 'The upload broke off.');

/** The refusals of routes that take such a body. */
export const BODY_UPLOAD_REFUSALS = [
  'BAD_REQUEST',
  'REQUEST_TIMEOUT',
  'LENGTH_REQUIRED',
  'UNSUPPORTED_MEDIA_TYPE',
  'CHECKSUM_MISMATCH',
] as const;

/** The arrival time of a reply's request. */
export function arrivedAt({ clock }: { clock: Clock }, reply: FastifyReply): number {
  return Math.floor(clock.now() - reply.elapsedTime);
}

/** The function by which a use case takes the body of this request. */
export function bodyOf(ends: Exchange): TakeBody {
  return (announced) => takeBody(ends, announced);
}

async function takeBody<Put>({ request, reply }: Exchange, announced: AnnouncedBody<Put>): Promise<Put | null> {
  const { size_bytes, is_known } = announced;
  const { 'content-length': length, 'content-encoding': encoding } = request.headers;
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Refused(refuse('UNSUPPORTED_MEDIA_TYPE', 'An upload must come without Content-Encoding.'));
  }
  if (length === undefined) throw new Refused(refuse('LENGTH_REQUIRED', 'An upload needs Content-Length.'));
  if (Number(length) !== size_bytes) {
    const message = `Content-Length is ${length}, the announced size_bytes ${size_bytes}.`;
    throw new Refused(
      refuse('BAD_REQUEST', message, {
        details: [{ path: 'Content-Length', message: `must be ${size_bytes}` }],
      }),
    );
  }
  askForBody(request, reply);
  const { raw } = request;
  const silence = watchSilence(raw);
  try {
    return await Promise.race([is_known ? compare(raw, announced) : store(raw, announced), silence.fell]);
  } finally {
    silence.end();
  }
}

const SILENT = refuse('REQUEST_TIMEOUT', 'No byte of the upload came for too long.');

/** Rejects when the connection gives no byte for too long; the connection is then closed with the answer. */
export function watchSilence({ socket }: FastifyRequest['raw']): { fell: Promise<never>; end: () => void } {
  let seen = socket.bytesRead;
  let timer: NodeJS.Timeout | undefined;
  const fell = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (socket.bytesRead === seen) reject(new Refused(SILENT));
      seen = socket.bytesRead;
    }, SILENCE_MAX_MS);
  });
  return { fell, end: () => clearInterval(timer) };
}

async function store<Put>(
  body: FastifyRequest['raw'],
  { size_bytes, sha256: sha256_hex, put }: AnnouncedBody<Put>,
): Promise<Put> {
  const result = await put(body, { size_bytes, sha256_hex });
  if (result.ok) return result;
  return result.reason === 'checksum' ? throwRefusal(WRONG_BYTES) : throwRefusal(CUT_SHORT);
}

async function compare(body: FastifyRequest['raw'], { sha256 }: { sha256: string }): Promise<null> {
  const hash = createHash('sha256');
  try {
    for await (const piece of body) hash.update(piece as Buffer);
  } catch {
    throw new Refused(CUT_SHORT);
  }
  return hash.digest('hex') === sha256 ? null : throwRefusal(WRONG_BYTES);
}
