import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isRefused } from '../../src/domain/refusals.js';
import type { Answer } from '../../src/edge/http/route.js';
import { sendEnded } from '../../src/edge/pages/ended_page.js';
import { sendPage } from '../../src/edge/pages/page.js';
import { unsubscribing } from '../../src/features/due/due_mail_settings.js';
import { PARAMETERS } from '../path_parameters.js';
import { openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** The page that ends mails of what is due, and the POST by which mail programs do (RFC 8058). */

const PATH = '/unsubscribe/:unsubscribe';
const row = {
  path: PATH,
  params: { unsubscribe: PARAMETERS.unsubscribe },
  credential: 'none',
  dialect: 'page',
  rate: 'links_opened',
} as const;

type Asked = { services: Services; request: FastifyRequest; reply: FastifyReply; params: { unsubscribe: string } };

export const UNSUBSCRIBE_PAGE_ROUTES: readonly Route[] = [
  openRoute({ ...row, method: 'GET', handler: (asked) => answer(asked, { ends: false }) }),
  openRoute({
    ...row,
    method: 'POST',
    takes: 'form',
    body: z.object({ 'List-Unsubscribe': z.string().optional() }),
    handler: (asked) => answer(asked, { ends: true }),
  }),
];

async function answer({ services, request, reply, params }: Asked, { ends }: { ends: boolean }): Promise<Answer> {
  reply.header('X-Robots-Tag', 'noindex, nofollow, noarchive');
  try {
    const { account_id, is_on } = await unsubscribing(services, params.unsubscribe);
    if (ends && is_on) await services.actors.account(account_id).unsubscribe_due_mail({});
    return sendPage(reply, { page: 'unsubscribe', path: request.url.replace(/\?.*$/, ''), is_on: is_on && !ends });
  } catch (error) {
    if (!isRefused(error, 'NOT_FOUND')) throw error;
    return sendEnded(
      { request, reply },
      {
        heading: 'This address is not known',
        text: 'It may have been cut. The settings of your account switch these mails off as well.',
      },
    );
  }
}
