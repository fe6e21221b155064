import { createSecretKey, type KeyObject } from 'node:crypto';
import type { AttemptResult } from '../../../actors/webhooks/delivery.js';
import type { DeliveriesTaken, DeliveryRequest, MailNeeded } from '../../../actors/webhooks/endpoint_delivery.js';
import { partitionOfId } from '../../domain/ids.js';
import { textsIn } from '../../domain/language/texts.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, orNull } from '../../domain/refusals.js';
import type { ClusterView } from '../../engine/cluster/cluster_processes.js';
import { sealMail } from '../../engine/mail/sealed_mail.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { RecentlyUsed } from '../../engine/pools/recently_used.js';
import { randomBytes, randomFraction, randomId } from '../../engine/random/random.js';
import type { Actors } from '../../engine/runtime/actors.js';
import type { ServerKeys } from '../../engine/secrets/server_keys.js';
import { type Store, StoreUnavailable } from '../../engine/store/store.js';
import type { ConcurrencyGroups } from './concurrency_limit.js';
import type { EndpointActivity } from './endpoint_activity.js';
import { endpointDisabledMail } from './endpoint_mail.js';
import { openSigningSecret } from './signing_secret.js';

const TARGETS_MAX = 20_000;
/** All tries but the last met a credential epoch that had been raised, or lacked the mail. */
const TRIES_MAX = 4;
const TOKEN_BYTES = 9;

/** The fixed fields of an endpoint, and the account's credential epoch as last read. */
export type Target = ConcurrencyGroups & {
  endpoint_id: string;
  url: URL;
  key: KeyObject | null;
  account_epoch: number;
};

type EndpointWorkDeps = {
  store: Store;
  actors: Actors;
  keys: ServerKeys;
  metrics: Metrics;
  activity: EndpointActivity;
  members: ClusterView;
  now: () => number;
};

/** Takes claims of deliveries from endpoints' actors, and gives results back to them. */
export class EndpointQueue {
  readonly #deps: EndpointWorkDeps;
  readonly #targets = new RecentlyUsed<Target>(TARGETS_MAX);

  constructor(deps: EndpointWorkDeps) {
    this.#deps = deps;
  }

  /** Null if it is not known at present. */
  knownTarget(endpoint_id: string): Target | null {
    return this.#targets.get(endpoint_id) ?? null;
  }

  /** Reads the fields that a delivery to an endpoint needs; null if there is no such endpoint. */
  async targetOf(endpoint_id: string): Promise<Target | null> {
    const { actors, keys } = this.#deps;
    const endpoint = await orNull(actors.endpoint(endpoint_id).view(), 'NOT_FOUND');
    if (endpoint === null) return null;
    const { account_id, sealed_secret } = endpoint;
    const url = new URL(endpoint.url);
    const key = openSigningSecret(keys, sealed_secret);
    const target = {
      endpoint_id,
      account_id,
      origin: url.origin,
      url,
      key: key === null ? null : createSecretKey(key),
      account_epoch: await this.#accountEpoch(account_id),
    };
    this.#targets.set(endpoint_id, target);
    return target;
  }

  forget(endpoint_id: string): void {
    this.#targets.delete(endpoint_id);
  }

  /**
   * Hands over results and takes up to `want` deliveries in one message to the endpoint's actor; null if there is no
   * such endpoint.
   */
  async exchange(
    target: Target,
    { results, granted }: { results: AttemptResult[]; granted: number },
  ): Promise<DeliveriesTaken | null> {
    const { actors, members } = this.#deps;
    const { account_id, endpoint_id } = target;
    const gone = members.gone.size > 0 ? { gone: [...members.gone] } : {};
    let mail: DeliveryRequest['mail'];
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const { account_epoch } = target;
      const tokens = Array.from({ length: granted }, () => this.#drawToken());
      const fences = [{ fence: 'epoch' as const, account_id, epoch: 'account', value: account_epoch }];
      const input = {
        credential_epoch: account_epoch,
        results,
        tokens,
        ...gone,
        jitter: randomFraction(),
        ...(mail && { mail }),
      };
      try {
        const work = await actors.endpoint(endpoint_id).work(input, fences);
        if (!('mail_needed' in work)) {
          this.#observe(endpoint_id, work);
          return work;
        }
        mail = await this.#disabledMail(endpoint_id, work);
      } catch (error) {
        if (isRefused(error, 'NOT_FOUND')) return null;
        if (!isRefused(error, 'UNAUTHORIZED')) throw error;
        // The account was deleted or restored meanwhile: results are counted under its present epoch.
        target.account_epoch = await this.#accountEpoch(account_id);
      }
    }
    throw new StoreUnavailable('endpoint: it changes all the time');
  }

  #drawToken(): string {
    return this.#deps.members.id + Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url');
  }

  async #accountEpoch(account_id: string): Promise<number> {
    const { account = 0 } = await this.#deps.store.epochs({ account_id, partition: partitionOfId(account_id) });
    return account;
  }

  async #disabledMail(endpoint_id: string, { account_id, url }: MailNeeded) {
    const { actors, keys, now } = this.#deps;
    const account = await actors.account(account_id).view();
    const { host } = new URL(url);
    const failures = LIMITS.endpoint_failures_max;
    const texts = textsIn(account.mail_language ?? 'en');
    return {
      mail_id: randomId({ partition: 0, now_ms: now() }),
      sealed: sealMail(keys, endpointDisabledMail({ to: account.email, host, endpoint_id, failures }, texts)),
    };
  }

  #observe(endpoint_id: string, { late, disabled, ended }: DeliveriesTaken): void {
    const { activity, metrics, now } = this.#deps;
    if (late > 0) metrics.delivery_late_results.inc(late);
    if (disabled) {
      metrics.endpoints_disabled.inc();
      activity.disabled(endpoint_id, now());
    }
    for (const { outcome, event_ms } of ended) {
      metrics.deliveries.inc({ outcome });
      if (outcome === 'succeeded') metrics.delivery_success.observe(Math.max(0, now() - event_ms) / 1000);
    }
  }
}
