import pMap from 'p-map';
import type { Account } from '../../../actors/accounts/account_state.js';
import type { Address } from '../../../actors/actor.js';
import type { Device } from '../../../actors/devices/device.js';
import type { Stream } from '../../../actors/recordings/stream_state.js';
import type { Endpoint } from '../../../actors/webhooks/endpoint_state.js';
import type { Workspace } from '../../../actors/workspaces/workspace_state.js';
import { isId, ownerOfPrivateWorkspace } from '../../domain/ids.js';
import { isRetryable } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';

/** Short texts by which staff tell entities apart: an account's email, an endpoint's host, a device's account. */

const READS_AT_ONCE = 8;

/** Kinds that are labelled by the account in their state alone. */
const OWNED: ReadonlySet<string> = new Set([
  'app_session',
  'binding',
  'claim',
  'device_session',
  'grant',
  'library',
  'personal_access_token',
  'share_link',
  'source',
]);

/** Null for a kind without labels, and if nothing readable is stored. The result has the order of `addresses`. */
export async function entityLabels(
  services: Pick<FeatureServices, 'runtime'>,
  addresses: readonly Address[],
): Promise<(string | null)[]> {
  const labels = new EntityLabels(services);
  return pMap(addresses, (address) => labels.of(address), { concurrency: READS_AT_ONCE });
}

class EntityLabels {
  readonly #runtime: FeatureServices['runtime'];
  /** By account id: many entities of a page belong to the same few accounts. */
  readonly #emails = new Map<string, Promise<string | null>>();

  constructor({ runtime }: Pick<FeatureServices, 'runtime'>) {
    this.#runtime = runtime;
  }

  async of({ kind, id }: Address): Promise<string | null> {
    switch (kind) {
      case 'account':
        return this.#email(id);
      case 'contacts':
      case 'context':
      case 'exports':
      case 'files':
      case 'imports':
      case 'omi':
        return named(kind, await this.#email(id));
      case 'device':
        return this.#device(id);
      case 'endpoint': {
        const endpoint = await this.#stored<Endpoint>({ kind, id });
        return endpoint === null ? null : new URL(endpoint.url).host;
      }
      case 'stream':
        return this.#recording('recording', id);
      case 'signals':
      case 'transcript':
        return this.#recording(kind, id);
      case 'workspace':
        return this.#workspace(id);
      case 'sweep':
        return named(kind, await this.#workspace(id));
      default:
        return OWNED.has(kind) ? this.#owned({ kind, id }) : null;
    }
  }

  #email(account_id: string): Promise<string | null> {
    const asked = this.#emails.get(account_id);
    if (asked !== undefined) return asked;
    const email = this.#stored<Account>({ kind: 'account', id: account_id }).then((account) => account?.email ?? null);
    this.#emails.set(account_id, email);
    return email;
  }

  async #device(id: string): Promise<string | null> {
    const device = await this.#stored<Device>({ kind: 'device', id });
    if (device === null) return null;
    const words = `${device.kind} device`;
    return device.binding === null ? `${words}, not bound` : named(words, await this.#email(device.binding.account_id));
  }

  /** `kind`: the kind of the entity that belongs to the stream of this id. */
  async #recording(kind: string, id: string): Promise<string | null> {
    const stream = await this.#stored<Stream>({ kind: 'stream', id });
    if (stream === null) return null;
    const label = named(kind, await this.#email(stream.account_id));
    return label === null
      ? null
      : `${label}, ${new Date(stream.captured_at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  }

  async #workspace(id: string): Promise<string | null> {
    const shared = await this.#stored<Workspace>({ kind: 'workspace', id });
    if (shared === null) {
      const of = ownerOfPrivateWorkspace(id);
      return of === null ? null : named('private workspace', await this.#email(of.account_id));
    }
    const owner = shared.members.find(({ role }) => role === 'owner');
    return owner === undefined ? null : named('shared workspace', await this.#email(owner.account_id));
  }

  async #owned(address: Address): Promise<string | null> {
    const state = await this.#stored<{ account_id?: unknown; host_account_id?: unknown }>(address);
    const owner = state?.account_id ?? state?.host_account_id;
    return typeof owner === 'string' ? named(address.kind, await this.#email(owner)) : null;
  }

  /** An unreadable entity has no label; its own page says why. */
  async #stored<State>(address: Address): Promise<State | null> {
    const home = this.#runtime.homeOf(address.kind);
    if (home === null || (home === 'id' && !isId(address.id))) return null;
    try {
      return ((await this.#runtime.stored(address))?.state ?? null) as State | null;
    } catch (error) {
      if (isRetryable(error)) throw error;
      return null;
    }
  }
}

function named(kind: string, of: string | null): string | null {
  return of === null ? null : `${kind.replaceAll('_', ' ')} of ${of}`;
}
