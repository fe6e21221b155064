import { z } from 'zod';
import type { Texts } from '../../src/domain/language/texts.js';
import { orNull, unreachable } from '../../src/domain/refusals.js';
import type { Answer } from '../../src/edge/http/route.js';
import { ACCOUNT_PAGES } from '../../src/edge/pages/account_pages.js';
import { type RestoreView, sendPage } from '../../src/edge/pages/page.js';
import { leave } from '../../src/edge/pages/redirect.js';
import { requestTexts } from '../../src/edge/pages/request_language.js';
import { restoreAccount } from '../../src/features/accounts/account.js';
import { openRoute, type Route } from '../rows.js';
import { type AccountPageContext, holderForm, openAccountPage, submitForm } from './account_page.js';

/** The page that mails about a deletion lead to. Rules D-014 to D-037. */

const { path } = ACCOUNT_PAGES.restore;
const HOUR_MS = 60 * 60_000;

type Phase = AccountPageContext['account']['phase'];

/** The outcome of a button, as the page's address carries it. */
type RestoreOutcome = 'restored' | 'begun';
const done = z.enum(['restored', 'begun']).optional().catch(undefined);

export const RESTORE_PAGE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path,
    credential: 'none',
    dialect: 'page',
    query: z.object({ done }),
    handler: async ({ services, request, reply, query }) =>
      openAccountPage({ services, request, reply }, 'restore', async ({ account, holder }) =>
        sendPage(reply, {
          page: 'restore',
          holder,
          account: restoreView(account, {
            now_ms: services.clock.now(),
            done: query.done,
            texts: requestTexts(request),
          }),
        }),
      ),
  }),
  openRoute({
    method: 'POST',
    path,
    credential: 'none',
    dialect: 'page',
    takes: 'form',
    body: holderForm,
    handler: async ({ services, request, reply, body }) =>
      submitForm({ services, request, reply }, 'restore', body, {
        restore: (context) => restore(context, 'restored'),
        begin: (context) => restore(context, 'begun'),
      }),
  }),
];

/** A button does what its page said, and pressed again shows what it did; on anything else the page says how it is. */
const MEANT_FOR: Record<RestoreOutcome, readonly Phase['status'][]> = {
  restored: ['deleted', 'active'],
  begun: ['erased', 'active'],
};

async function restore(context: AccountPageContext, done: RestoreOutcome): Promise<Answer> {
  const { services, reply, account, fences } = context;
  if (!MEANT_FOR[done].includes(account.phase.status)) return leave(reply, path);
  const restored = restoreAccount(services, { account_id: account.id, fences });
  const is_open = (await orNull(restored, 'ACCOUNT_DELETION_IN_PROGRESS')) !== null;
  return leave(reply, is_open ? `${path}?done=${done}` : path);
}

export function restoreView(
  { phase }: { phase: Phase },
  { now_ms, done, texts }: { now_ms: number; done: RestoreOutcome | undefined; texts: Texts },
): RestoreView {
  switch (phase.status) {
    case 'active':
    case 'leaving': // until that is decided it is as it was
      return { is: done ?? 'active' };
    case 'deleted': {
      const left_ms = phase.erase_at_ms - now_ms;
      // The button would begin the erasure that is due.
      if (left_ms <= 0) return { is: 'erasing' };
      return {
        is: 'deleted',
        deleted_on: texts.momentText(phase.deleted_at_ms),
        erased_on: texts.momentText(phase.erase_at_ms),
        left: timeLeft(left_ms, texts),
      };
    }
    case 'erasing':
    case 'erased':
      return { is: phase.status };
    default:
      return unreachable(phase);
  }
}

/** Such as "about 7 days", which nobody has to reckon from dates of another time zone. */
function timeLeft(left_ms: number, texts: Texts): string {
  const hours = Math.floor(left_ms / HOUR_MS);
  const days = Math.round(left_ms / (24 * HOUR_MS));
  if (hours >= 48) return texts.sayCount(days, { one: 'about a day', other: 'about {n} days' });
  if (hours >= 1) return texts.sayCount(hours, { one: 'about an hour', other: 'about {n} hours' });
  return texts.say('less than an hour');
}
