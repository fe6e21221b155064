import { z } from 'zod';
import { listCursor, pageOfAll } from '../../src/access/cursors.js';
import { listLimit } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isEnabled } from '../../src/domain/permissions.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { savedAs, sendBytes } from '../../src/edge/http/byte_download.js';
import { randomId } from '../../src/engine/runtime/random.js';
import {
  archiveContent,
  askerOf,
  exportShape,
  exportView,
  exportWishes,
} from '../../src/features/exports/export_views.js';
import { accountRoute, type Route } from '../rows.js';

/** All of an account's data as one archive. docs/export.md. */

/** Who may have everything at once: the person, in an app of ours. */
const OWN = { credential: 'app', permission: ['account:manage'], own_apps: true } as const;
const BY = 'account';
const HIDDEN = refuse('FORBIDDEN', 'It holds a layer of content that is switched off for the account by now.');

export const EXPORT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/me/exports',
    summary: "Asks for an archive of all of the account's data.",
    notes: `It is made in the background and kept for seven days. One is made at a time (409), and ${LIMITS.exports_per_day_max} a day (429). It ends with whoever asked for it: signing out stops it.`,
    ...OWN,
    status: 201,
    body: exportWishes,
    answer: exportShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, body }) {
      const { account_id, fences } = who;
      const export_id = randomId({ partition: partitionOfId(account_id), now_ms: services.clock.now() });
      const wanted = { export_id, by: BY, ...body, asker: askerOf(who) } as const;
      const made = await services.actors.exports(account_id).request(wanted, fences);
      services.exports.offer(account_id);
      return exportView(made);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/me/exports',
    summary: 'Exports of the account, newest first.',
    notes: 'Each is known for 30 days.',
    ...OWN,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(exportShape),
    async handler({ services, who: { account_id }, query }) {
      const found = await services.actors.exports(account_id).list({ by: BY });
      const page = pageOfAll(found.exports, { ...query, idOf: ({ id }) => id });
      return { items: page.rows.map(exportView), cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/me/exports/:id',
    summary: 'How an export stands.',
    ...OWN,
    answer: exportShape,
    async handler({ services, who: { account_id }, params }) {
      const found = await services.actors.exports(account_id).view({ export_id: params.id as string, by: BY });
      return exportView(found);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/me/exports/:id/content',
    summary: 'The archive, to be saved.',
    notes: 'A ZIP; `manifest.json` in it says what is in it. After seven days 410.',
    ...OWN,
    answer: 'bytes',
    refusals: ['CONFLICT', 'CONTENT_EXPIRED'],
    async handler({ services, who: { account, account_id }, params, request, reply }) {
      const found = await services.actors.exports(account_id).view({ export_id: params.id as string, by: BY });
      const layers = found.stage.status === 'ready' ? found.stage.layers : [];
      if (layers.some((layer) => !isEnabled(account.entitlements, layer))) throw new Refused(HIDDEN);
      const archive = archiveContent(services, account_id, found);
      return sendBytes({ request, reply }, archive, savedAs(archive.file_name));
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me/exports/:id',
    summary: 'Deletes an export, or stops it.',
    ...OWN,
    status: 204,
    async handler({ services, who: { account_id, fences }, params }) {
      await services.actors.exports(account_id).delete({ export_id: params.id as string, by: BY }, fences);
      services.exports.offer(account_id);
      return undefined;
    },
  }),
];
