import { type Refusal, refuse } from '../../../domain/refusals.js';

/** The refusal of a query that breaks a rule which only parsing shows. */
export function invalidQuery(path: string, message: string): Refusal {
  return refuse('BAD_REQUEST', `${path} ${message}.`, { details: [{ path, message }] });
}
