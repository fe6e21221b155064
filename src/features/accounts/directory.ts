import type { Account } from '../../../actors/accounts/account_state.js';
import type { Device } from '../../../actors/devices/device.js';
import type { Email } from '../../../actors/emails/email.js';
import { isId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull } from '../../domain/refusals.js';
import type { ScannedPage } from '../../engine/store/entity_scan.js';
import { isRetryable } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';
import { accountNamed } from './account_of_email.js';

/** Accounts and devices, as staff search for them. Reads stored states directly, without the actors' mailboxes. */

const ID_PART = /^[0-9a-f]{8}[0-9a-f-]*$/;

type DirectoryQuery<Row> = {
  /** An id, an email or a part of either; '' for all. */
  find: string;
  holds: (row: Row) => boolean;
  cursor?: string | undefined;
  limit: number;
};

export type FoundDevice = Device & { device_id: string };

/** Finds accounts by a part of the id or of the email. */
export async function findAccounts(
  services: Pick<FeatureServices, 'entity_scan' | 'runtime'>,
  { find, holds, ...page }: DirectoryQuery<Account>,
): Promise<ScannedPage<Account>> {
  const { entity_scan } = services;
  const kept = async (ids: string[]) => (await all<Account>(services, 'account', ids)).filter(holds);
  if (isId(find)) return whole(await kept([find]));
  if (find === '' || ID_PART.test(find)) return entity_scan.page({ kind: 'account', part: find }, page, kept);
  return entity_scan.page({ kind: 'email', part: find }, page, async (ids) => {
    const emails = await all<Email>(services, 'email', ids);
    return kept(emails.flatMap(({ account_id }) => account_id ?? []));
  });
}

/** Finds devices by a part of the id, or those bound to the account of an email or id. */
export async function findDevices(
  services: Pick<FeatureServices, 'actors' | 'entity_scan' | 'runtime'>,
  { find, holds, ...page }: DirectoryQuery<FoundDevice>,
): Promise<ScannedPage<FoundDevice>> {
  const kept = async (ids: string[]) => {
    const devices = await allWithIds<Device>(services, 'device', ids);
    return devices.map(({ id, state }) => ({ ...state, device_id: id })).filter(holds);
  };
  const is_id: boolean = isId(find);
  if (is_id) {
    const named = await kept([find]);
    if (named.length > 0) return whole(named);
  }
  if (is_id || find.includes('@')) {
    const account = await orNull(accountNamed(services, find), 'NOT_FOUND');
    if (account === null) return whole([]);
    const range = { descending: true, limit: LIMITS.devices_per_account_max };
    const listed = await services.actors.account(account.id).list_devices({ range });
    return whole(await kept(listed.devices.map(({ id }) => id)));
  }
  return services.entity_scan.page({ kind: 'device', part: find }, page, kept);
}

function whole<Row>(rows: Row[]): ScannedPage<Row> {
  return { rows, cursor: null, looked_at: rows.length };
}

async function all<State>(services: Pick<FeatureServices, 'runtime'>, kind: string, ids: string[]): Promise<State[]> {
  return (await allWithIds<State>(services, kind, ids)).map(({ state }) => state);
}

/** Reads the entities that exist. Unreadable ones are reported as quarantined on their next use. */
async function allWithIds<State>(
  { runtime }: Pick<FeatureServices, 'runtime'>,
  kind: string,
  ids: string[],
): Promise<{ id: string; state: State }[]> {
  const found = await Promise.all(
    ids.map(async (id) => {
      try {
        const stored = await runtime.stored({ kind, id });
        return { id, state: (stored?.state ?? null) as State | null };
      } catch (error) {
        if (isRetryable(error)) throw error;
        return { id, state: null };
      }
    }),
  );
  return found.flatMap(({ id, state }) => (state === null ? [] : [{ id, state }]));
}
