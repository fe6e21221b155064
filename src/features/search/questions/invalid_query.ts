import { type Refusal, refuse } from '../../../domain/refusals.js';

/** The refusal of a query that breaks a rule which is seen only when it is taken apart. */
export function invalidQuery(path: string, message: string): Refusal {
  return refuse('BAD_REQUEST', `${path} ${message}.`, { details: [{ path, message }] });
}
