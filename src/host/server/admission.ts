import { LIMITS } from '../../domain/limits.js';
import { BodyBudget } from '../../edge/admission/body_budget.js';
import { type DescriptorPlan, descriptorLimit, planDescriptors } from '../../edge/admission/descriptor_limits.js';
import { Overload } from '../../edge/admission/overload.js';
import { BodySlabs } from '../../edge/http/body_slabs.js';
import { RateLimits } from '../../engine/limits/rate_limits.js';
import type { SharedWindows } from '../../engine/limits/shared_windows.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { type PoolBounds, SharedPool } from '../../engine/pools/shared_pool.js';
import type { Settings } from '../settings.js';
import { CannotStart, type Start } from './start.js';

const ACCOUNT_REQUESTS_WAIT_MS_MAX = 30_000; // ours: then whoever asked has given up

/** Requests of one account that are worked on at once; all together, connections bound them. */
const REQUESTS: PoolBounds = {
  places_max: Number.POSITIVE_INFINITY,
  share_max: LIMITS.account_requests_at_once_max,
  waiting_max: Number.POSITIVE_INFINITY,
  waiting_share_max: LIMITS.account_requests_waiting_max,
  wait_ms_max: ACCOUNT_REQUESTS_WAIT_MS_MAX,
};

/** The limits that requests are held to, whoever makes them. */
export type AdmissionServices = {
  overload: Overload;
  rates: RateLimits;
  account_requests: SharedPool;
  body_budget: BodyBudget;
  body_slabs: BodySlabs;
};

export function startOverload({ settings, shutdown }: Start, metrics: Metrics): Overload {
  const { overload_delay_ms: delay_ms, overload_memory_mb: memory_mb } = settings;
  const overload = new Overload({ delay_ms, memory_mb }, metrics);
  overload.start();
  shutdown.add(() => overload.stop());
  return overload;
}

export function openAdmission(
  settings: Settings,
  { metrics, shared }: { metrics: Metrics; shared: SharedWindows | null },
): Omit<AdmissionServices, 'overload'> {
  const limits = {
    sign_ins_begun: settings.rate_sign_ins_begun,
    codes_sent: settings.rate_codes_sent,
    codes_checked: settings.rate_codes_checked,
    native_steps: settings.rate_native_steps,
    registrations: settings.rate_registrations,
    claims: settings.rate_claims,
    links_opened: LIMITS.links_opened_per_minute_max,
    omi_bodies: LIMITS.omi_bodies_per_minute_max,
    wrong_pairing_codes: LIMITS.pairing_codes_wrong_per_minute_max,
  };
  const account_requests = new SharedPool('requests', REQUESTS);
  const body_budget = new BodyBudget();
  metrics.pools.add(account_requests).add(body_budget.large);
  const rates = new RateLimits(limits, { on: settings.rate_limits, shared });
  return { rates, account_requests, body_budget, body_slabs: new BodySlabs() };
}

/** Plans the descriptors of this process; a start that asks for more than it may have says so. */
export function shareDescriptors({ settings, log }: Start): DescriptorPlan {
  const limit = descriptorLimit();
  const { connections_max, device_connections_max } = settings;
  const asked = { public_connections: connections_max, device_connections: device_connections_max };
  const plan = planDescriptors(limit, asked);
  if (typeof plan === 'string') throw new CannotStart(plan);
  const { public_connections, device_connections } = plan;
  if (plan.is_low) {
    const few = 'few files may be open (ulimit -n): fewer connections than usual are let in';
    log.warn({ open_files: limit, public_connections, device_connections }, few);
  }
  return plan;
}
