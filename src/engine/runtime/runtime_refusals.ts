import { isRefused, type Refusal, Refused, refuse } from '../../domain/refusals.js';

export const SHUT = refuse('UNAVAILABLE', 'The server is shutting down.', { retry_after_s: 2 });
export const FULL = refuse('UNAVAILABLE', 'Too much is waiting for this entity.', { retry_after_s: 1 });
export const LATE = refuse('UNAVAILABLE', 'This took too long; whether it took effect is unknown.', {
  retry_after_s: 1,
});
export const AWAY = refuse('UNAVAILABLE', 'Storage is not available at the moment.', { retry_after_s: 2 });
export const CONTENDED = refuse('UNAVAILABLE', 'This entity is being changed from too many sides.', {
  retry_after_s: 1,
});
export const NEWER = refuse('UNAVAILABLE', 'A newer server has to answer this; try again.', { retry_after_s: 2 });
export const QUARANTINED = refuse('INTERNAL', 'This entity is out of service.');
export const BUG = refuse('INTERNAL', 'Something went wrong on our side.');
/** The refusal of a commit that came after its credential had ended. */
export const EPOCH_ENDED = refuse('UNAUTHORIZED', 'The credential has ended.');

/** The refusal if a fence has been closed since the sender read it; another read gives the reason. */
export const CLOSED = refuse('UNAVAILABLE', 'Something changed in between; try again.', { retry_after_s: 1 });

/** Whether a fence did not hold: a credential has ended, or something that must be open is deleted. */
export function isFenceBroken(error: unknown): boolean {
  return isRefused(error) && (error.refusal === CLOSED || error.refusal === EPOCH_ENDED);
}

/** For `catch`: throws this refusal if a fence of `open` did not hold. */
export function closedAs(refusal: Refusal): (error: unknown) => never {
  return (error) => {
    throw isClosed(error) ? new Refused(refusal) : error;
  };
}

/** Whether a fence of `open` did not hold: the entity that it names is deleted, or being deleted. */
export function isClosed(error: unknown): boolean {
  return isRefused(error) && error.refusal === CLOSED;
}
