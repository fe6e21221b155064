import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { atBase, issuerOf } from '../../src/access/issuer.js';
import { isRefused, Refused, refuse } from '../../src/domain/refusals.js';
import type { Answer } from '../../src/edge/http/route.js';
import { ACCOUNT_PAGES } from '../../src/edge/pages/account_pages.js';
import { browserCookie, clearSessionCookie, sessionCookie } from '../../src/edge/pages/browser_cookies.js';
import { type Holder, sendPage } from '../../src/edge/pages/page.js';
import { leadToSignIn, leave } from '../../src/edge/pages/redirect.js';
import {
  accountFormToken,
  browserSessionOf,
  checkAccountForm,
  endBrowserSession,
  type LiveBrowserSession,
} from '../../src/features/oauth/browser_sessions.js';
import { beginSignIn } from '../../src/features/oauth/browser_sign_ins.js';
import type { Services } from '../services.js';

/** Pages for account holders: whoever has a browser session is at once on them, anybody else after a sign-in. */

const NO_ACTION = refuse('BAD_REQUEST', 'The form says nothing that can be done.');

/** The fields that every form on these pages sends; some send more. */
export const holderForm = z.object({ form_token: z.string().optional(), action: z.string().optional() });
type HolderForm = z.output<typeof holderForm>;

type AccountPage = keyof typeof ACCOUNT_PAGES;
type Ends = { services: Services; request: FastifyRequest; reply: FastifyReply };

/** Somebody who is signed in, at one of the pages. */
export type AccountPageContext = Ends & LiveBrowserSession & { holder: Holder };

/** Opens the page. Signing in changes nothing of the account by itself. */
export async function openAccountPage(
  ends: Ends,
  page: AccountPage,
  show: (context: AccountPageContext) => Promise<Answer>,
): Promise<Answer> {
  const { services, request, reply } = ends;
  if (issuerOf(services, request) === 'legacy') return leave(reply, atBase(services, request));
  const live = await browserSessionOf(services, sessionCookie(services, request));
  if (live === null) {
    const goal = { to: 'page' as const, page };
    const browser_cookie = browserCookie(services, request);
    const begun = await beginSignIn(services, { goal, signed_in: null, ip: request.ip, browser_cookie });
    return leadToSignIn(services, reply, goal, begun);
  }
  return show(contextOf(ends, page, live));
}

/** Presses a button of the page: what it does, by its `action`; `sign_out` is on all of them. */
export async function submitForm<Form extends HolderForm>(
  ends: Ends,
  page: AccountPage,
  form: Form,
  actions: Record<string, (context: AccountPageContext, form: Form) => Promise<Answer>>,
): Promise<Answer> {
  const { services, request, reply } = ends;
  const { path } = ACCOUNT_PAGES[page];
  const cookie = sessionCookie(services, request);
  const live = await browserSessionOf(services, cookie);
  // The session has ended meanwhile: after signing out twice that is what was wanted, else the page leads to a sign-in.
  if (live === null) return form.action === 'sign_out' ? signedOut(reply, path) : leave(reply, path);
  checkAccountForm(services, live, form.form_token ?? '');
  const { action = '' } = form;
  if (action === 'sign_out') {
    await endBrowserSession(services, cookie);
    clearSessionCookie(services, reply);
    return signedOut(reply, path);
  }
  const act = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (act === undefined) throw new Refused(NO_ACTION);
  // The session ended, or the account's epoch was raised, during the request: the page says how things stand.
  return act(contextOf(ends, page, live), form).catch((error: unknown) => {
    if (isRefused(error, 'UNAUTHORIZED')) return leave(reply, path);
    throw error;
  });
}

function signedOut(reply: FastifyReply, again: string): FastifyReply {
  return sendPage(reply, { page: 'signed_out', again });
}

function contextOf(ends: Ends, page: AccountPage, live: LiveBrowserSession): AccountPageContext {
  const form_token = accountFormToken(ends.services, live);
  return { ...ends, ...live, holder: { action: ACCOUNT_PAGES[page].path, form_token, email: live.account.email } };
}
