import type { FastifyError } from 'fastify';
import { type Refusal, Refused, refuse } from '../../domain/refusals.js';
import { isStoreAway } from '../../engine/blobs/file_errors.js';
import { StoreUnavailable } from '../../engine/store/store.js';
import { NOT_FOUND } from './protocol_answers.js';

export const AWAY = refuse('UNAVAILABLE', 'The service is not available at the moment.', { retry_after_s: 2 });

/** Fastify's own errors, in our words; an unknown error is a bug, and nothing of it is shown. */
export function refusalOf(error: FastifyError | Refused): Refusal {
  if (error instanceof Refused) return error.refusal;
  // The disk is full or broken, or the bucket away: the device keeps its copy and comes again.
  if (error instanceof StoreUnavailable || isStoreAway(error)) return AWAY;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return refuse('PAYLOAD_TOO_LARGE', 'The body is larger than this route takes.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refuse('UNSUPPORTED_MEDIA_TYPE', 'Content-Type is missing or not one that this route takes.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return refuse('BAD_REQUEST', 'The body is shorter or longer than Content-Length says.');
    case 'FST_ERR_BAD_URL':
      return NOT_FOUND;
    default:
      return error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
        ? refuse('BAD_REQUEST', 'The request is malformed.')
        : refuse('INTERNAL', 'Something went wrong on our side.');
  }
}

/** Whether the error should be logged: faults of the server, except that Redis is away, which is logged elsewhere. */
export function isWorthLogging(error: FastifyError | Refused, refusal: Refusal): boolean {
  if (error instanceof Refused) return false;
  return refusal.refused === 'INTERNAL' || (refusal === AWAY && !(error instanceof StoreUnavailable));
}
