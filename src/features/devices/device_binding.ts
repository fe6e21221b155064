import type { Account } from '../../../actors/accounts/account_state.js';
import type { Binding } from '../../../actors/devices/binding.js';
import type { SessionTerms } from '../../../actors/devices/device_session.js';
import { UNBOUND } from '../../../actors/recordings/stream_refs.js';
import { accountDeleted } from '../../access/principal.js';
import { isRefused, orNull, type Refusal, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import type { DeviceIdentity } from '../../edge/admission/device_identity.js';
import type { EntityOf } from '../../engine/runtime/actors.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices as Services } from '../services.js';

/** What every route is refused with that asks for a binding. */
export const BOUND_REFUSALS = ['DEVICE_UNBOUND', 'ACCOUNT_DELETED'] as const;

/**
 * What lets a device do what it asks: a personal one's binding, a shared one's recorder session, as it stands; and the
 * credential epoch of the account that commits for it must hold. `session` is null for a personal device.
 */
export type Bound = {
  /** Who lies behind the epoch. */
  binder: EntityOf<'binding'> | EntityOf<'deviceSession'>;
  terms: Pick<Binding, 'account_id' | 'workspace_id' | 'device_id' | 'source_id'>;
  session: SessionTerms | null;
  /** Whether the account belongs to the workspace, which it may have left since its session began. */
  belongs: boolean;
  private_workspace_id: string;
  fences: Fence[];
};

/** Of a device's identity, what says whose epochs it may use. */
export type Recording = Pick<DeviceIdentity, 'device_id' | 'kind'>;

const BOUND_TO_NOBODY = refuse('DEVICE_UNBOUND', 'The device is bound to no account; it has to redeem a claim.');

/** What the device is bound by, or was last and may still upload for. */
export async function presentEpoch(
  { actors }: Services,
  { device_id: id }: Pick<Recording, 'device_id'>,
): Promise<string> {
  const device = await actors.device(id).view();
  return device.binding?.epoch ?? throwRefusal(BOUND_TO_NOBODY);
}

/** Throws a refusal, or that the device is bound to nobody where it is. */
export async function refuseAs(services: Services, who: Recording, refusal: Refusal): Promise<never> {
  await presentEpoch(services, who);
  throw new Refused(refusal);
}

/** For `catch`: a device whose binding has ended hears that it is bound to nobody where it is. */
export function unboundAs(services: Services, who: Recording): (error: unknown) => Promise<never> {
  return (error) => {
    if (isRefused(error, 'DEVICE_UNBOUND')) return refuseAs(services, who, error.refusal);
    throw error;
  };
}

/** The binding of an epoch, if it is this device's and has not ended, and its account is there. */
export async function boundBy(services: Services, who: Recording, epoch: string): Promise<Bound> {
  const { device_id, kind } = who;
  const { actors } = services;
  const binder = kind === 'personal' ? actors.binding(epoch) : actors.deviceSession(epoch);
  const asked: Promise<Binding | SessionTerms> = binder.terms({ device_id });
  const terms = await asked.catch(unboundAs(services, who));
  const { account_id, workspace_id } = terms;
  const account = await openAccount(services, account_id);
  return {
    binder,
    terms,
    session: 'drain_until_ms' in terms ? terms : null,
    belongs:
      account.private_workspace.id === workspace_id ||
      account.memberships.some((membership) => membership.workspace_id === workspace_id),
    private_workspace_id: account.private_workspace.id,
    fences: [{ fence: 'epoch', account_id, epoch: 'account', value: account.lives.account }],
  };
}

/** The account that a device acts for, unless it is deleted. */
export async function openAccount({ actors }: Services, account_id: string): Promise<Account> {
  const account = await orNull(actors.account(account_id).view(), 'UNAUTHORIZED');
  if (account === null) throw new Refused(UNBOUND);
  const deleted = accountDeleted(account);
  return deleted === null ? account : throwRefusal(deleted);
}
