import { isRefusal, type Refusal } from '../../domain/refusals.js';
import { StoreUnavailable } from '../../store/store.js';

/** Null for what is not there; any other refusal throws. */
export function standing<Reply>(answer: Reply | Refusal): Reply | null {
  if (!isRefusal(answer)) return answer;
  if (answer.refused === 'NOT_FOUND') return null;
  throw answer.refused === 'UNAVAILABLE' ? new StoreUnavailable(answer.message) : new Error(answer.message);
}
