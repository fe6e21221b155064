import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { browserSessionEndMs } from '../../actors/oauth/browser_session.js';
import type { BrowserSignIn, NewGrantSeed } from '../../actors/oauth/browser_sign_in.js';
import { emailAddress } from '../../src/access/request_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { oauthError } from '../../src/domain/oauth_errors.js';
import { Refused, refuse, throwRefusal } from '../../src/domain/refusals.js';
import type { Answer } from '../../src/edge/http/route.js';
import { ACCOUNT_PAGES } from '../../src/edge/pages/account_pages.js';
import { captchaWidget } from '../../src/edge/pages/captcha_widget.js';
import { type Flow, type Page, sendPage } from '../../src/edge/pages/page.js';
import type { EntityOf } from '../../src/engine/runtime/actors.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { deriveToken, isGenuine, parseToken, randomSeed } from '../../src/engine/secrets/tokens.js';
import { accountIdOf, knownEmail } from '../../src/features/accounts/account_of_email.js';
import { passesCaptcha } from '../../src/features/accounts/captcha.js';
import {
  browserSessionOf,
  endBrowserSession,
  sessionOpens,
  showBrowserSession,
} from '../../src/features/oauth/browser_sessions.js';
import { SIGN_IN_PATHS, signInPath } from '../../src/features/oauth/browser_sign_ins.js';
import { redirectHost } from '../../src/features/oauth/clients/redirect_uris.js';
import { isTiedBrowser } from '../../src/features/oauth/cookies.js';
import { leave, sendBack } from '../../src/features/oauth/redirect.js';
import { accountBehind, newCode, triedCode } from '../../src/features/oauth/sign_in_code.js';
import { openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/**
 * The pages between /oauth/authorize, or a page for account holders, and the redirect back. Each shows the step that its
 * sign-in is at.
 */

const OTHER_BROWSER = refuse('FORBIDDEN', 'This sign-in was begun in another browser, or cookies are switched off.');
const GONE = refuse('NOT_FOUND', 'This sign-in is over.');
const CLIENT_GONE = refuse('FORBIDDEN', 'The app that began this sign-in may not sign people in any more.');
/** What the page of the code says of the last wish for one. */
const NOTICES = {
  first: null,
  again: 'A new code is on its way.',
  none: 'No code was sent this time: this address was sent many of late. Wait a minute, then ask for a new one.',
};
const DENIED = oauthError('access_denied', 'The person did not allow it.');

const text = z.string().optional();
const form = z.object({
  form_token: text,
  action: text,
  email: text,
  code: text,
  // As the usual providers' widgets name it.
  captcha_token: text,
  'cf-turnstile-response': text,
  'h-captcha-response': text,
  'g-recaptcha-response': text,
});
type Form = z.output<typeof form>;

export const SIGN_IN_ROUTES: readonly Route[] = Object.values(SIGN_IN_PATHS).flatMap((path) => [
  openRoute({
    method: 'GET',
    path: `${path}/:id`,
    credential: 'none',
    dialect: 'page',
    query: z.object({ problem: text }),
    async handler({ services, request, reply, params, query }) {
      const visit = await visitOf(services, { request, reply }, params.id as string);
      const { goal, step } = visit.sign_in;
      if (goal.to === 'page' && step.at === 'done') return nextPage(visit);
      return sendPage(reply, pageOf(visit, codeProblem(visit.sign_in, query.problem)));
    },
  }),
  openRoute({
    method: 'POST',
    path: `${path}/:id`,
    credential: 'none',
    dialect: 'page',
    takes: 'form',
    body: form,
    async handler({ services, request, reply, params, body }) {
      const visit = await visitOf(services, { request, reply }, params.id as string);
      const token = parseToken('sign_in_form', body.form_token ?? '');
      if (token === null || token.id !== visit.id || !isGenuine(services.keys, 'sign_in_form', token, visit.sign_in)) {
        throw new Refused(refuse('FORBIDDEN', 'This form does not belong to this sign-in.'));
      }
      const act = ACTIONS.get(body.action ?? '');
      return act === undefined
        ? throwRefusal(refuse('BAD_REQUEST', 'The form says nothing that can be done.'))
        : act(visit, body);
    },
  }),
]);

/** A request of the browser that began the sign-in. */
type Visit = { services: Services; request: FastifyRequest; reply: FastifyReply; id: string; sign_in: BrowserSignIn };

async function visitOf(
  services: Services,
  ends: { request: FastifyRequest; reply: FastifyReply },
  id: string,
): Promise<Visit> {
  const sign_in = await services.actors.browserSignIn(id).view();
  const { goal, browser } = sign_in;
  if (!isTiedBrowser(services, ends.request, { sign_in_id: id, kept: browser })) throw new Refused(OTHER_BROWSER);
  if (ends.request.routeOptions.url !== signInPath(goal, ':id')) throw new Refused(GONE);
  // Nobody is led to an app that staff have stopped meanwhile.
  if (goal.to === 'client' && (await services.clients.find(goal.request.client_id)) === null)
    throw new Refused(CLIENT_GONE);
  return { services, ...ends, id, sign_in };
}

/** What the buttons of the pages do. */
const ACTIONS = new Map<string, (visit: Visit, body: Form) => Promise<Answer>>([
  ['email', sendCode],
  ['resend', resendCode],
  ['other_email', (visit) => follow(visit, signIn(visit).other_email())],
  ['code', tryCode],
  ['continue', continueAs],
  ['approve', approve],
  ['deny', (visit) => follow(visit, signIn(visit).deny())],
  ['leave', (visit) => follow(visit, signIn(visit).deny())],
]);

async function sendCode(visit: Visit, body: Form): Promise<Answer> {
  const { services, request } = visit;
  const typed = emailAddress.safeParse(body.email ?? '');
  if (!typed.success) return emailProblem(visit, body, 'Enter an email address, such as name@example.com.');
  // Before the CAPTCHA's provider is asked: what fails there counts, too.
  const limited = await services.rates.refusalOf('codes_sent', request.ip);
  if (limited !== null) throw new Refused(limited);
  const token =
    body.captcha_token ?? body['cf-turnstile-response'] ?? body['h-captcha-response'] ?? body['g-recaptcha-response'];
  const passed = await passesCaptcha(services.settings, { token, ip: request.ip });
  if (!passed) return emailProblem(visit, body, 'Please show first that you are a person.');
  const email = await knownEmail(services, typed.data);
  return mailCode(visit, email);
}

async function resendCode(visit: Visit): Promise<Answer> {
  const { services, request, sign_in } = visit;
  const { step } = sign_in;
  if (step.at !== 'code') return nextPage(visit);
  const limited = await services.rates.refusalOf('codes_sent', request.ip);
  if (limited !== null) throw new Refused(limited);
  return mailCode(visit, step.email);
}

/** The page of the present step with a problem; what was typed stays, though not in an address, where it would be logged. */
function emailProblem(visit: Visit, { email = '' }: Form, problem: string): FastifyReply {
  const page = pageOf(visit, problem);
  visit.reply.code(400);
  return sendPage(visit.reply, page.page === 'email' ? { ...page, email } : page);
}

async function mailCode(visit: Visit, email: string): Promise<Answer> {
  const { services, request, id } = visit;
  const code = await newCode(services, request, { sign_in_id: id, email });
  const answer = await follow(visit, signIn(visit).send_code({ email, code }));
  void services.mails.sendDue(partitionOfId(id)); // the page does not wait for it
  return answer;
}

async function tryCode(visit: Visit, body: Form): Promise<Answer> {
  const { services, request, id, sign_in } = visit;
  const { step } = sign_in;
  if (step.at !== 'code' && step.at !== 'verified') return nextPageSignedIn(visit);
  const code = (body.code ?? '').replace(/\s/g, '');
  if (!/^\d{6}$/.test(code)) return leave(visit.reply, codeProblemPath(visit, 'digits'));
  const limited = await services.rates.refusalOf('codes_checked', request.ip);
  if (limited !== null) throw new Refused(limited);
  const tried = await triedCode(services, request, { sign_in_id: id, email: step.email, code });
  const judged = await signIn(visit).try_code({ tried });
  const now = { ...visit, sign_in: judged };
  if (judged.step.at === 'verified') return enter(now, judged.step.email);
  return judged.step.at === 'code' ? leave(visit.reply, codeProblemPath(visit, 'wrong')) : nextPageSignedIn(now);
}

/**
 * A problem with a code is in the page's address: answered to the form itself, a reload would send the wrong code once
 * more, and the back button would end at the browser's own page about forms.
 */
function codeProblemPath({ sign_in, id }: Visit, problem: 'digits' | 'wrong'): string {
  return `${signInPath(sign_in.goal, id)}?problem=${problem}`;
}

/** What the page says of it, as far as it is still true. */
function codeProblem({ step, wrong }: BrowserSignIn, problem: string | undefined): string | null {
  if (step.at !== 'code') return null;
  if (problem === 'digits') return 'Enter the six digits of the code.';
  if (problem !== 'wrong' || wrong === 0) return null;
  const left = LIMITS.sign_in_tries_max - wrong;
  return `That code is wrong or has expired. You can try ${left === 1 ? 'once' : `${left} times`} more.`;
}

/** After a right code: the account, a new browser session whatever cookie came, and then on. */
async function enter(visit: Visit, email: string): Promise<Answer> {
  const { services, request, sign_in } = visit;
  if (sign_in.goal.to === 'page' && !ACCOUNT_PAGES[sign_in.goal.page].makes_accounts) {
    const account_id = await accountIdOf(services, email);
    if (account_id === null) return follow(visit, signIn(visit).no_account({ email }));
  }
  const account = await accountBehind(services, request, email);
  const born = { account: account.lives.account, grants: account.lives.grants };
  const entered = await signIn(visit).enter({
    email,
    account: { account_id: account.id, born },
    session: {
      // With the account, whose erasure must find it.
      id: randomId({ partition: partitionOfId(account.id), now_ms: services.clock.now() }),
      ...randomSeed(services.keys),
    },
    grant: newGrantSeed(services, account.id),
  });
  if (entered.session !== null) await endBrowserSession(services, request, { but: entered.session.id });
  return nextPageSignedIn({ ...visit, sign_in: entered });
}

/**
 * After a code was entered: whichever of several presses is answered last, the browser has the session's cookie. A form
 * that is sent again does not bring back a session that has ended, nor one before the browser's present one.
 */
async function nextPageSignedIn(visit: Visit): Promise<Answer> {
  const { services, request, reply, sign_in } = visit;
  const { step, session } = sign_in;
  if (session !== null && (step.at === 'consent' || isFresh(visit))) {
    const live = await browserSessionOf(services, request);
    const opened = live?.id === session.id ? live.session : await sessionOpens(services, session.id);
    const is_latest = opened !== null && (live?.session.verified_at_ms ?? 0) <= opened.verified_at_ms;
    if (is_latest) {
      const lasts_ms = browserSessionEndMs(opened) - services.clock.now();
      showBrowserSession(services, reply, { ...session, lasts_ms });
    }
  }
  return nextPage(visit);
}

/** Continuing counts from the session's own code. */
async function continueAs(visit: Visit): Promise<Answer> {
  const { services, request, sign_in } = visit;
  const { step } = sign_in;
  if (step.at !== 'accounts') return nextPage(visit);
  const live = await browserSessionOf(services, request);
  if (live === null || live.id !== step.session_id) return follow(visit, signIn(visit).other_email()); // it has ended meanwhile
  const { session, account } = live;
  const born = { account: account.lives.account, grants: session.born.grants };
  const owner = { account_id: account.id, born, verified_at_ms: session.verified_at_ms };
  return follow(visit, signIn(visit).continue({ owner, grant: newGrantSeed(services, account.id) }));
}

async function approve(visit: Visit): Promise<Answer> {
  const { step } = visit.sign_in;
  if (step.at !== 'consent') return nextPage(visit);
  return follow(visit, signIn(visit).approve({ grant: newGrantSeed(visit.services, step.owner.account_id) }));
}

function newGrantSeed({ keys, clock }: Services, account_id: string): NewGrantSeed {
  const grant_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  return { grant_id, ...randomSeed(keys) };
}

function signIn({ services, id }: Visit): EntityOf<'browserSignIn'> {
  return services.actors.downstream.browserSignIn(id);
}

async function follow(visit: Visit, asked: Promise<BrowserSignIn>): Promise<Answer> {
  const sign_in = await asked;
  return nextPage({ ...visit, sign_in });
}

/** After a form: back to the client, or on to the page, where all is said, else to the page of the present step. */
function nextPage(visit: Visit): Answer {
  const { services, reply, id, sign_in } = visit;
  const { step, goal } = sign_in;
  if (step.at !== 'done') return leave(reply, signInPath(goal, id));
  if (goal.to === 'page') return leave(reply, ACCOUNT_PAGES[goal.page].path);
  if (!isFresh(visit) || 'entered' in step.answer) return leave(reply, signInPath(goal, id));
  const back = { redirect_uri: goal.request.code.redirect_uri, state: goal.state };
  if ('denied' in step.answer) return sendBack(services, reply, back, DENIED);
  const { grant_id, ...seed } = step.answer.granted;
  return sendBack(services, reply, back, {
    code: deriveToken(services.keys, 'authorization_code', { ...seed, id: grant_id, counter: 0 }),
  });
}

/** Later than a double click the code may be used up: sending it again could only look like theft. */
function isFresh({ services: { clock }, sign_in: { step } }: Visit): boolean {
  return step.at === 'done' && clock.now() < step.at_ms + LIMITS.oauth_code_replay_harmless_ms;
}

/** The page of the present step. */
function pageOf({ services, id, sign_in }: Visit, problem: string | null): Page {
  const { step, goal } = sign_in;
  const leads_to = goal.to === 'client' ? goal.client_name : ACCOUNT_PAGES[goal.page].leads_to;
  const flow: Flow = {
    action: signInPath(goal, id),
    form_token: deriveToken(services.keys, 'sign_in_form', { ...sign_in, id, counter: 0 }),
    leads_to,
  };
  switch (step.at) {
    case 'email':
      return { page: 'email', flow, email: null, problem, captcha: captchaWidget(services.settings) };
    case 'accounts':
      return { page: 'accounts', flow, email: step.email };
    case 'code':
    case 'verified': {
      const last_send = step.at === 'code' ? step.last_send : 'first';
      const notice = problem === null ? NOTICES[last_send] : null;
      return { page: 'code', flow, email: step.email, sent: step.codes.length > 0, problem, notice };
    }
    case 'consent': {
      if (goal.to !== 'client') throw new Error('only a client is consented to');
      const { scopes, audience, code } = goal.request;
      const { host, kind } = redirectHost(code.redirect_uri);
      return { page: 'consent', flow, email: step.email, redirect_host: host, redirect_kind: kind, scopes, audience };
    }
    case 'no_account':
      return { page: 'no_account', flow, email: step.email };
    case 'ended': {
      const text =
        goal.to === 'client'
          ? 'This sign-in has ended. Go back to the app and start again.'
          : 'This sign-in has ended.';
      return { page: 'ended', flow, heading: 'Too many wrong codes', text };
    }
    case 'done':
      return {
        page: 'ended',
        flow: goal.to === 'client' ? null : flow,
        heading: 'This sign-in is finished',
        text: `Go back to ${leads_to}. To sign in once more, start again there.`,
      };
  }
}
