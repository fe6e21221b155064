import type { ProcessAnswer, ProcessTrouble } from '../../engine/cluster/process_queries.js';
import { type HealthProblem, healthProblemsOf } from './health_problems.js';
import type { ProcessHealth } from './operation_queries.js';

/**
 * Lists the problems of all processes, each once; the text names processes where not all have it. The caller, who has
 * seen all devices, adds how many are silent.
 */
export function mergeProblems(
  told: readonly ProcessAnswer<ProcessHealth>[],
  { silent_devices, now_ms, troubles }: { silent_devices: number; now_ms: number; troubles: readonly ProcessTrouble[] },
): HealthProblem[] {
  const answered = told.flatMap(({ number, value }) => (value === null ? [] : [{ number, ...value }]));
  const found = new Map<string, HealthProblem & { numbers: (number | null)[] }>();
  for (const { number, standing } of answered) {
    for (const problem of healthProblemsOf({ ...standing, silent_devices }, now_ms)) {
      const known = found.get(problem.name);
      const is_worse = known?.severity === 'mild' && problem.severity === 'grave';
      const numbers = [...(known?.numbers ?? []), number];
      found.set(problem.name, { ...(known === undefined || is_worse ? problem : known), numbers });
    }
  }
  const silent = told.filter(({ value }) => value === null).map(({ number, pid }) => silentProblem(number, pid));
  const joined = [...found.values()].map(({ numbers, ...problem }) => {
    if (numbers.length === answered.length) return problem;
    return { ...problem, text: `${problem.text} (Process ${numbers.join(', ')}.)` };
  });
  const isGrave = ({ severity }: HealthProblem) => severity === 'grave';
  const replaced = troubles.filter(({ trouble }) => trouble === 'replaced').map(replacedProblem);
  return [...silent, ...joined.filter(isGrave), ...replaced, ...joined.filter((problem) => !isGrave(problem))];
}

const PROCESSES = { area: 'processes', link: '/overview#processes' } as const;

function replacedProblem({ number, pid }: ProcessTrouble): HealthProblem {
  const text = `Process ${number} was replaced within the last minute: pid ${pid} crashed, or hung and was killed.`;
  return {
    name: 'process_replaced',
    severity: 'mild',
    text,
    ...PROCESSES,
    advice: 'The log says why. If it happens again, report it.',
  };
}

function silentProblem(number: number | null, pid: number): HealthProblem {
  const text = `Process ${number}, pid ${pid}, does not answer: it stands still, or is being started.`;
  return {
    ...{ name: 'process_silent', severity: 'grave', text, ...PROCESSES },
    advice: 'Wait a minute: one that stands still is replaced. If it lasts, restart the server.',
  };
}
