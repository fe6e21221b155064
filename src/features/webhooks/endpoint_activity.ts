import type { AttemptResult } from '../../../actors/webhooks/delivery.js';
import type { QueryAnswers } from '../../engine/cluster/process_queries.js';
import { RecentlyUsed } from '../../engine/pools/recently_used.js';

const ENDPOINTS_MAX = 5_000;

/** The activity of an endpoint in this process. Times are the clock's. */
export type SeenEndpoint = {
  endpoint_id: string;
  /** Null until a request was sent to the endpoint here. */
  account_id: string | null;
  last: { at_ms: number; verdict: AttemptResult['verdict']; status_code: number | null; error: string | null } | null;
  /** Requests in a row that were not accepted. */
  failures: number;
  failing_since_ms: number | null;
  last_success_at_ms: number | null;
  /** When too many failures disabled it. */
  disabled_at_ms: number | null;
};

/**
 * The queries to each process about endpoints: the results of its last requests, and the number of those in progress.
 */
export type EndpointQueries = {
  endpoints: { about: string[]; value: { since_ms: number; in_flight: number; items: SeenEndpoint[] } };
};

/** `since_ms`: since when this process records activity. */
export function endpointAnswers(
  deliveries: { activity: EndpointActivity; in_flight: number },
  since_ms: number,
): QueryAnswers<EndpointQueries> {
  return {
    endpoints(ids) {
      const { activity, in_flight } = deliveries;
      return { since_ms, in_flight, items: ids.flatMap((id) => activity.find(id) ?? []) };
    },
  };
}

/** The results of the last requests by this process to each of the 5,000 endpoints that were posted to last. */
export class EndpointActivity {
  readonly #seen = new RecentlyUsed<SeenEndpoint>(ENDPOINTS_MAX);

  attempted(
    { endpoint_id, account_id }: { endpoint_id: string; account_id: string },
    { attempt, verdict }: Pick<AttemptResult, 'attempt' | 'verdict'>,
  ): void {
    const { attempted_at_ms: at_ms, status_code, error } = attempt;
    const seen = this.#of(endpoint_id);
    const accepted = verdict === 'accepted';
    this.#seen.set(endpoint_id, {
      endpoint_id,
      account_id,
      last: { at_ms, verdict, status_code, error },
      failures: accepted ? 0 : seen.failures + 1,
      failing_since_ms: accepted ? null : (seen.failing_since_ms ?? at_ms),
      last_success_at_ms: accepted ? at_ms : seen.last_success_at_ms,
      disabled_at_ms: accepted ? null : seen.disabled_at_ms,
    });
  }

  disabled(endpoint_id: string, at_ms: number): void {
    this.#seen.set(endpoint_id, { ...this.#of(endpoint_id), disabled_at_ms: at_ms });
  }

  /** Null if nothing was sent to the endpoint here, or too long ago. */
  find(endpoint_id: string): SeenEndpoint | null {
    return this.#seen.peek(endpoint_id) ?? null;
  }

  #of(endpoint_id: string): SeenEndpoint {
    return (
      this.#seen.get(endpoint_id) ?? {
        endpoint_id,
        account_id: null,
        last: null,
        failures: 0,
        failing_since_ms: null,
        last_success_at_ms: null,
        disabled_at_ms: null,
      }
    );
  }
}

/** For each endpoint, the record of the process that posted to it last. */
export function newestOfEach(seen: readonly SeenEndpoint[]): SeenEndpoint[] {
  const newest = new Map<string, SeenEndpoint>();
  for (const one of seen) {
    const known = newest.get(one.endpoint_id);
    if (known === undefined || lastAt(one) > lastAt(known)) newest.set(one.endpoint_id, one);
  }
  return [...newest.values()];
}

function lastAt({ last, disabled_at_ms }: SeenEndpoint): number {
  return Math.max(last?.at_ms ?? 0, disabled_at_ms ?? 0);
}
