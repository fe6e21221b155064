import type { Decision, Effect, Facts } from '../actor.js';
import { type Endpoint, isCircuitOpen, TOO_MANY_FAILURES, type Trouble } from './endpoint_state.js';

/** The lists of unhealthy endpoints for staff: one in each partition, by since when each is unhealthy. */
export function unhealthyIndex(trouble: Trouble): { owner: string; index: string } {
  return { owner: 'staff', index: `endpoints_${trouble}` };
}

/** Moves the endpoint to the list that it belongs on after a decision. */
export function listIfUnhealthy<Reply>(
  decision: Decision<Endpoint, Reply>,
  { trouble: before }: Endpoint,
  { self, now_ms }: Facts,
): Decision<Endpoint, Reply> {
  const { next } = decision;
  if (next === undefined || next === null) return decision;
  const is = troubleOf(next);
  if (is === (before?.is ?? null)) return decision;
  const left = before === null ? [] : unlistUnhealthy(before.is, self);
  if (is === null)
    return { ...decision, next: { ...next, trouble: null }, effects: [...(decision.effects ?? []), ...left] };
  const since_ms = sinceMs(next, is, before?.is === 'failing' ? before.since_ms : now_ms);
  const listed: Effect = { effect: 'add_to_index', ...unhealthyIndex(is), member: self, order: since_ms };
  return {
    ...decision,
    next: { ...next, trouble: { is, since_ms } },
    effects: [...(decision.effects ?? []), ...left, listed],
  };
}

export function unlistUnhealthy(trouble: Trouble, member: string): Effect[] {
  return [{ effect: 'remove_from_index', ...unhealthyIndex(trouble), member }];
}

function troubleOf(state: Endpoint): Trouble | null {
  const { standing, failure_count, retryable_failures } = state;
  switch (standing.status) {
    case 'paused':
      return 'stopped';
    case 'disabled':
      return standing.reason === TOO_MANY_FAILURES ? 'disabled' : 'stopped';
    case 'active':
      if (isCircuitOpen(state)) return 'circuit_open';
      return failure_count > 0 || retryable_failures > 0 ? 'failing' : null;
  }
}

/** Since when an endpoint is unhealthy: by its failures, or by its status. */
function sinceMs({ standing }: Endpoint, trouble: Trouble, failing_since_ms: number): number {
  return trouble === 'circuit_open' || trouble === 'failing' ? failing_since_ms : standing.since_ms;
}
