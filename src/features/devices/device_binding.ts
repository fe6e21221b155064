import { z } from 'zod';
import type { Account } from '../../../actors/accounts/account_state.js';
import type { Binding } from '../../../actors/devices/binding.js';
import type { SessionTerms } from '../../../actors/devices/device_session_state.js';
import { UNBOUND } from '../../../actors/recordings/stream_refs.js';
import { accountDeleted, type DeviceIdentity } from '../../access/principal.js';
import { count, id, moment, serverNow } from '../../access/response_schemas.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, orNull, type Refusal, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import type { EntityOf } from '../../engine/runtime/actors.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';

/** Refusals of every route that requires a binding. */
export const BOUND_REFUSALS = ['DEVICE_UNBOUND', 'ACCOUNT_DELETED'] as const;

/**
 * The binding of a personal device, or the recorder session of a shared one, under which it may act now. The credential
 * epoch of the committing account must hold. `session` is null for a personal device.
 */
export type Bound = {
  /** The entity that the epoch belongs to. */
  binder: EntityOf<'binding'> | EntityOf<'deviceSession'>;
  terms: Pick<Binding, 'account_id' | 'workspace_id' | 'device_id' | 'source_id'>;
  session: SessionTerms | null;
  /** Whether the account belongs to the workspace; it may have left since its session began. */
  belongs: boolean;
  private_workspace_id: string;
  fences: Fence[];
};

const BOUND_TO_NOBODY = refuse('DEVICE_UNBOUND', 'The device is bound to no account; it has to redeem a claim.');

/** The epoch that the device is bound by, or was bound by last and may still upload for. */
async function presentEpoch(
  { actors }: Pick<FeatureServices, 'actors'>,
  { device_id: id }: Pick<DeviceIdentity, 'device_id'>,
): Promise<string> {
  const device = await actors.device(id).view();
  return device.binding?.epoch ?? throwRefusal(BOUND_TO_NOBODY);
}

/** Throws a refusal, or DEVICE_UNBOUND if the device is bound to nobody. */
export async function refuseAs(
  services: Pick<FeatureServices, 'actors'>,
  who: DeviceIdentity,
  refusal: Refusal,
): Promise<never> {
  await presentEpoch(services, who);
  throw new Refused(refusal);
}

/** For `catch`: turns the end of a device's binding into the refusal for an unbound device. */
export function unboundAs(
  services: Pick<FeatureServices, 'actors'>,
  who: DeviceIdentity,
): (error: unknown) => Promise<never> {
  return (error) => {
    if (isRefused(error, 'DEVICE_UNBOUND')) return refuseAs(services, who, error.refusal);
    throw error;
  };
}

/** The binding of an epoch, if it is this device's and has not ended, and its account exists. */
export async function boundBy(
  services: Pick<FeatureServices, 'actors'>,
  who: DeviceIdentity,
  epoch: string,
): Promise<Bound> {
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
    fences: [{ fence: 'epoch', account_id, epoch: 'account', value: account.epochs.account }],
  };
}

/** The account that a device acts for, unless it is deleted. */
export async function openAccount({ actors }: Pick<FeatureServices, 'actors'>, account_id: string): Promise<Account> {
  const account = await orNull(actors.account(account_id).view(), 'UNAUTHORIZED');
  if (account === null) throw new Refused(UNBOUND);
  const deleted = accountDeleted(account);
  return deleted === null ? account : throwRefusal(deleted);
}

export const bindingShape = z
  .strictObject({
    kind: z.enum(['owner', 'session']).describe('owner: until it is removed; session: as long as a recorder session.'),
    binding_epoch: id.describe('What the device sends with all that it records under this binding.'),
    owner_user_id: id.describe('The account that it records for.'),
    source_device_id: id.describe('The device itself.'),
    session: z
      .strictObject({
        id,
        expires_at: moment.describe('When it ends by itself; its host may move that.'),
        drain_until: moment.describe('Until then it may upload.'),
      })
      .nullable()
      .describe('Of a shared recorder; null for a personal device.'),
    server_time: serverNow,
    limits: z
      .strictObject({
        chunk_bytes_max: count.describe('How large a chunk may be, in bytes.'),
        open_intents_max: count.describe('How many announced chunks may wait for their upload at once.'),
      })
      .describe('What the device has to keep to.'),
  })
  .meta({ id: 'Binding' });

export type BindingView = z.infer<typeof bindingShape>;

/** The present binding of the device. */
export async function viewPresentBinding(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  who: DeviceIdentity,
): Promise<BindingView> {
  const epoch = await presentEpoch(services, who);
  return viewBinding(services, who, epoch);
}

/** The binding of an epoch, as the device sees it. */
export async function viewBinding(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  who: DeviceIdentity,
  epoch: string,
): Promise<BindingView> {
  const bound = await boundBy(services, who, epoch);
  const { session } = bound;
  return {
    kind: session === null ? 'owner' : 'session',
    binding_epoch: epoch,
    owner_user_id: bound.terms.account_id,
    source_device_id: who.device_id,
    session: session && {
      id: epoch,
      expires_at: new Date(session.expires_at_ms).toISOString(),
      drain_until: new Date(session.drain_until_ms).toISOString(),
    },
    server_time: new Date(services.clock.now()).toISOString(),
    limits: { chunk_bytes_max: LIMITS.chunk_bytes_max, open_intents_max: LIMITS.open_intents_max },
  };
}

/** Records a bound device's heartbeat; returns the server's time. */
export async function recordHeartbeat(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  who: DeviceIdentity,
): Promise<{ server_time: string }> {
  const { actors, clock } = services;
  const epoch = await presentEpoch(services, who);
  await boundBy(services, who, epoch);
  await actors.device(who.device_id).seen();
  return { server_time: new Date(clock.now()).toISOString() };
}
