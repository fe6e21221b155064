import { z } from 'zod';
import type { Account } from '../../actors/accounts/account_state.js';
import { isOpen } from '../../actors/accounts/account_state.js';
import { isUnderWay } from '../../actors/accounts/exports.js';
import { id, no_cursor } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { orRefused, Refused, refuse } from '../../src/domain/refusals.js';
import { savedAs, sendBytes } from '../../src/edge/http/byte_download.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { accountNamed } from '../../src/features/accounts/account_of_email.js';
import { archiveContent, exportShape, exportView, exportWishes } from '../../src/features/exports/export_views.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Exports that staff ask for: they hold all layers, and the account does not see them. */

const BY = 'staff';
const CLOSED_ACCOUNT = refuse('CONFLICT', 'A deleted account is not exported.');

export const STAFF_EXPORT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/exports',
    summary: 'Exports that are under way, whoever asked for them.',
    credential: 'operator',
    answer: z.strictObject({
      items: z.array(
        z.strictObject({
          account_id: id.describe('Whose data it is.'),
          by: z.enum(['account', 'staff']).describe('Who asked for it.'),
          export: exportShape,
        }),
      ),
      cursor: no_cursor,
    }),
    handler: async ({ services }) => ({ items: await exportsUnderWay(services), cursor: null }),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/accounts/:account/exports',
    summary: "Asks for an archive of all of an account's data, with the layers that are switched off.",
    credential: 'operator',
    status: 201,
    body: exportWishes,
    answer: exportShape,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    async handler({ services, params, body }) {
      const account = await accountNamed(services, params.account as string);
      if (!isOpen(account)) throw new Refused(CLOSED_ACCOUNT);
      const { id: account_id, lives } = account;
      const export_id = randomId({ partition: partitionOfId(account_id), now_ms: services.clock.now() });
      const asker = { epochs: [{ epoch: 'account' as const, value: lives.account }], credential: null };
      const made = await services.actors.exports(account_id).request({ export_id, by: BY, ...body, asker });
      services.exports.offer(account_id);
      return exportView(made);
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/exports/:id',
    summary: 'How an export that staff asked for stands.',
    credential: 'operator',
    answer: exportShape,
    handler: ({ services, params }) =>
      ofAccount(services, params, async ({ id: account_id }) => {
        const found = await services.actors.exports(account_id).view({ export_id: params.id as string, by: BY });
        return exportView(found);
      }),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/accounts/:account/exports/:id/content',
    summary: 'The archive that staff asked for.',
    credential: 'operator',
    answer: 'bytes',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED'],
    handler: ({ services, params, request, reply }) =>
      ofAccount(services, params, async ({ id: account_id }) => {
        const found = await services.actors.exports(account_id).view({ export_id: params.id as string, by: BY });
        const archive = archiveContent(services, account_id, found);
        return sendBytes({ request, reply }, archive, savedAs(archive.file_name));
      }),
  }),

  operatorRoute({
    method: 'DELETE',
    path: '/ops/accounts/:account/exports/:id',
    summary: 'Deletes an export that staff asked for.',
    credential: 'operator',
    status: 204,
    handler: ({ services, params }) =>
      ofAccount(services, params, async ({ id: account_id }) => {
        await services.actors.exports(account_id).delete({ export_id: params.id as string, by: BY });
        services.exports.offer(account_id);
        return undefined;
      }),
  }),
];

async function ofAccount(
  services: Services,
  { account: named = '' }: Record<string, string>,
  answer: (account: Account) => Promise<unknown>,
): Promise<unknown> {
  const account = await accountNamed(services, named);
  return answer(account);
}

async function exportsUnderWay({ actors, exports }: Services) {
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
