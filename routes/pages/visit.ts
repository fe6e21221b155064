import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AccountPage } from '../../actors/oauth/browser_sign_in.js';
import { atBase, issuerOf } from '../../src/access/issuer.js';
import { isRefused, Refused, refuse } from '../../src/domain/refusals.js';
import type { Answer } from '../../src/edge/http/route.js';
import { ACCOUNT_PAGES } from '../../src/edge/pages/account_pages.js';
import { type Holder, sendPage } from '../../src/edge/pages/page.js';
import { deriveToken, isGenuine, parseToken } from '../../src/engine/secrets/tokens.js';
import type { Fence } from '../../src/engine/store/store.js';
import {
  browserSessionOf,
  endBrowserSession,
  type LiveBrowserSession,
} from '../../src/features/oauth/browser_sessions.js';
import { beginSignIn } from '../../src/features/oauth/browser_sign_ins.js';
import { clearSessionCookie } from '../../src/features/oauth/cookies.js';
import { leave } from '../../src/features/oauth/redirect.js';
import type { Services } from '../services.js';

/** Pages for account holders: whoever has a browser session is at once on them, anybody else after a sign-in. */

const OTHER_FORM = refuse('FORBIDDEN', 'This page was opened under another sign-in. Nothing was changed.');
const NO_ACTION = refuse('BAD_REQUEST', 'The form says nothing that can be done.');

/** What every form on these pages sends; some send more. */
export const holderForm = z.object({ form_token: z.string().optional(), action: z.string().optional() });
type HolderForm = z.output<typeof holderForm>;

type Ends = { services: Services; request: FastifyRequest; reply: FastifyReply };

/** Somebody who is signed in, at one of the pages. */
export type Visit = Ends &
  LiveBrowserSession & {
    holder: Holder;
    /** Fences every commit by the credential epochs that were seen. */
    fences: Fence[];
  };

/** Opens the page. Signing in changes nothing of the account by itself. */
export async function visit(ends: Ends, page: AccountPage, show: (visit: Visit) => Promise<Answer>): Promise<Answer> {
  const { services, request, reply } = ends;
  if (issuerOf(services, request) === 'legacy') return leave(reply, atBase(services, request));
  const live = await browserSessionOf(services, request);
  if (live === null) return beginSignIn(services, { request, reply }, { to: 'page', page }, null);
  return show(visitOf(ends, page, live));
}

/** Presses a button of the page: what it does, by its `action`; `sign_out` is on all of them. */
export async function press<Form extends HolderForm>(
  ends: Ends,
  page: AccountPage,
  form: Form,
  actions: Record<string, (visit: Visit, form: Form) => Promise<Answer>>,
): Promise<Answer> {
  const { services, request, reply } = ends;
  const { path } = ACCOUNT_PAGES[page];
  const live = await browserSessionOf(services, request);
  // The session has ended meanwhile: after signing out twice that is what was wanted, else the page leads to a sign-in.
  if (live === null) return form.action === 'sign_out' ? signedOut(reply, path) : leave(reply, path);
  const token = parseToken('account_form', form.form_token ?? '');
  if (token === null || token.id !== live.id || !isGenuine(services.keys, 'account_form', token, live.session)) {
    throw new Refused(OTHER_FORM);
  }
  const { action = '' } = form;
  if (action === 'sign_out') {
    await endBrowserSession(services, request);
    clearSessionCookie(services, reply);
    return signedOut(reply, path);
  }
  const act = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (act === undefined) throw new Refused(NO_ACTION);
  // The session ended, or the account's epoch was raised, during the request: the page says how things stand.
  return act(visitOf(ends, page, live), form).catch((error: unknown) => {
    if (isRefused(error, 'UNAUTHORIZED')) return leave(reply, path);
    throw error;
  });
}

function signedOut(reply: FastifyReply, again: string): FastifyReply {
  return sendPage(reply, { page: 'signed_out', again });
}

function visitOf(ends: Ends, page: AccountPage, live: LiveBrowserSession): Visit {
  const { id, session, account } = live;
  const form_token = deriveToken(ends.services.keys, 'account_form', { ...session, id, counter: 0 });
  return {
    ...ends,
    ...live,
    holder: { action: ACCOUNT_PAGES[page].path, form_token, email: account.email },
    fences: [
      { fence: 'epoch', account_id: account.id, epoch: 'account', value: account.lives.account },
      { fence: 'epoch', account_id: account.id, epoch: 'grants', value: session.born.grants },
    ],
  };
}
