import type { Call } from '../driver/history.js';
import { judge } from '../driver/linearizability.js';
import { type RegisterCall, register } from '../driver/models.js';
import type { NameOperation } from './ledger.js';

const VERDICTS = { yes: 'linearizable', no: 'impossible', undecided: 'undecided' } as const;

/** Whether operations on one name, null at first, could have happened one at a time, each between its call and its answer. */
export function judgeNames(operations: NameOperation[]): 'linearizable' | 'impossible' | 'undecided' {
  const calls = operations.map(({ does, name, invoked, returned }): Call<RegisterCall> => {
    const value = JSON.stringify(name);
    const is_known = returned !== null;
    return {
      what: does === 'write' ? { op: 'write', value } : { op: 'read' },
      began: invoked,
      ended: returned ?? Number.POSITIVE_INFINITY,
      outcome: is_known ? 'done' : 'unknown',
      answer: is_known ? { status: 200, code: '', data: does === 'read' ? value : null } : null,
    };
  });
  return VERDICTS[judge(calls, register(JSON.stringify(null))).holds];
}
