import { isRefusal, type Refusal } from '../../domain/refusals.js';
import { StoreUnavailable } from '../../engine/store/store.js';

/** Null for what is not there; any other refusal throws. */
export function standing<Reply>(answer: Reply | Refusal): Reply | null {
  return isRefusal(answer) && answer.refused === 'NOT_FOUND' ? null : answered(answer);
}

/** A refusal throws. */
export function answered<Reply>(answer: Reply | Refusal): Reply {
  if (!isRefusal(answer)) return answer;
  throw answer.refused === 'UNAVAILABLE' ? new StoreUnavailable(answer.message) : new Error(answer.message);
}
