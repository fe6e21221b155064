import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyRequest } from 'fastify';

/** The bytes of a body as they come, within the usual bounds; they are not joined. */
export async function bodyPieces(request: FastifyRequest, body: IncomingMessage): Promise<Buffer[]> {
  const announced = request.headers['content-length'];
  const { bodyLimit = 0 } = request.routeOptions;
  if (Number(announced ?? 0) > bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    // Destroyed with the body the connection could not answer any more.
    for await (const piece of body.iterator({ destroyOnReturn: false })) {
      request.arriving?.take(piece.length);
      bytes += piece.length;
      if (bytes > bodyLimit) break;
      pieces.push(piece);
    }
  } catch (error) {
    throw Object.assign(error as Error, { statusCode: 400 }); // it broke off
  }
  if (bytes > bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  if (announced !== undefined && Number(announced) !== bytes) throw new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH();
  return pieces;
}
