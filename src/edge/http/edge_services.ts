import type { Logger } from 'pino';
import type { AccessDeps } from '../../access/principal.js';
import type { RateLimits } from '../../engine/limits/rate_limits.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { SharedPool } from '../../engine/pools/shared_pool.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { Clock } from '../../engine/time/clock.js';
import type { Tracing } from '../../engine/tracing/tracing.js';
import type { BodyBudget } from '../admission/body_budget.js';
import type { DeviceIdentityDeps } from '../admission/device_identity.js';
import type { Overload } from '../admission/overload.js';
import type { OperatorSessionDeps } from '../operations/operator_session.js';
import type { BodySlabs } from './body_slabs.js';

/** The services by which listeners admit, answer and log requests. Handlers get more. */
export type EdgeServices = AccessDeps &
  DeviceIdentityDeps &
  OperatorSessionDeps & {
    settings: { cors_origins: readonly string[] };
    actors: Actors;
    clock: Clock;
    log: Logger;
    metrics: Metrics;
    overload: Overload;
    rates: RateLimits;
    /** Places for requests, by their accounts. */
    account_requests: SharedPool;
    body_budget: BodyBudget;
    body_slabs: BodySlabs;
    /** Null if traces are not exported. */
    tracing: Tracing | null;
  };
