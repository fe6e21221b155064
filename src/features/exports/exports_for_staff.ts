import { z } from 'zod';
import { isOpen } from '../../../actors/accounts/account_state.js';
import { isUnderWay } from '../../../actors/accounts/exports.js';
import type { Export } from '../../../actors/accounts/exports_state.js';
import { id } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { orRefused, Refused, refuse } from '../../domain/refusals.js';
import { randomId } from '../../engine/runtime/random.js';
import { accountNamed } from '../accounts/account_of_email.js';
import type { FeatureServices as Services } from '../services.js';
import { archiveDownload, exportShape, exportView, type exportWishes } from './export_views.js';

/** Exports that staff ask for: they hold all layers, and the account does not see them. */

const BY = 'staff';
const CLOSED_ACCOUNT = refuse('CONFLICT', 'A deleted account is not exported.');

type ExportView = z.infer<typeof exportShape>;

/** An export of an account, which is named by its id or email. */
type StaffExport = { account: string; id: string };

export const exportUnderWayShape = z.strictObject({
  account_id: id.describe('Whose data it is.'),
  by: z.enum(['account', 'staff']).describe('Who asked for it.'),
  export: exportShape,
});

/** Exports that are under way, whoever asked for them. */
export async function listExportsUnderWay({
  actors,
  exports,
}: Services): Promise<z.infer<typeof exportUnderWayShape>[]> {
  const found = await Promise.all(
    (await exports.listDue()).map(async (account_id) => {
      const lists = await Promise.all(
        (['account', 'staff'] as const).map((by) => actors.exports(account_id).list({ by }).catch(orRefused(null))),
      );
      const all = lists.flatMap((list) => list?.exports ?? []);
      return all.filter(isUnderWay).map((one) => ({ account_id, by: one.by, export: exportView(one) }));
    }),
  );
  return found.flat();
}

export async function requestStaffExport(
  services: Services,
  named: string,
  wishes: z.output<typeof exportWishes>,
): Promise<ExportView> {
  const account = await accountNamed(services, named);
  if (!isOpen(account)) throw new Refused(CLOSED_ACCOUNT);
  const { id: account_id, lives } = account;
  const export_id = randomId({ partition: partitionOfId(account_id), now_ms: services.clock.now() });
  const asker = { epochs: [{ epoch: 'account' as const, value: lives.account }], credential: null };
  const made = await services.actors.exports(account_id).request({ export_id, by: BY, ...wishes, asker });
  services.exports.offer(account_id);
  return exportView(made);
}

export async function readStaffExport(services: Services, asked: StaffExport): Promise<ExportView> {
  return exportView((await find(services, asked)).found);
}

/** The archive, to send. */
export async function downloadStaffExport(services: Services, asked: StaffExport) {
  const { account_id, found } = await find(services, asked);
  return archiveDownload(services, account_id, found);
}

export async function deleteStaffExport(services: Services, { account, id }: StaffExport): Promise<void> {
  const { id: account_id } = await accountNamed(services, account);
  await services.actors.exports(account_id).delete({ export_id: id, by: BY });
  services.exports.offer(account_id);
}

async function find(services: Services, { account, id }: StaffExport): Promise<{ account_id: string; found: Export }> {
  const { id: account_id } = await accountNamed(services, account);
  return { account_id, found: await services.actors.exports(account_id).view({ export_id: id, by: BY }) };
}
