import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { emailAddress } from '../../src/access/request_schemas.js';
import type { PlainText, Texts } from '../../src/domain/language/texts.js';
import { LIMITS } from '../../src/domain/limits.js';
import { refuse, throwRefusal } from '../../src/domain/refusals.js';
import { typedCode } from '../../src/domain/typed_code.js';
import type { Answer } from '../../src/edge/http/route.js';
import { ACCOUNT_PAGES, SIGN_IN_PATHS, signInPath } from '../../src/edge/pages/account_pages.js';
import { browserCookie, sessionCookie, setSessionCookie } from '../../src/edge/pages/browser_cookies.js';
import { captchaWidget } from '../../src/edge/pages/captcha_widget.js';
import { type Flow, type HtmlPage, sendPage } from '../../src/edge/pages/page.js';
import { leave, sendBack } from '../../src/edge/pages/redirect.js';
import { requestLanguage, requestTexts } from '../../src/edge/pages/request_language.js';
import {
  approve,
  checkSignInForm,
  continueAs,
  deny,
  nextOf,
  type OpenSignIn,
  otherEmail,
  readSignIn,
  resendCode,
  sendCode,
  signInFormToken,
  tryCode,
} from '../../src/features/oauth/browser_sign_ins.js';
import { redirectHost } from '../../src/features/oauth/clients/redirect_uris.js';
import { PARAMETERS } from '../path_parameters.js';
import { openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/**
 * The pages between /oauth/authorize, or a page for account holders, and the redirect back. Each shows the step that its
 * sign-in is at.
 */

const NO_ACTION = refuse('BAD_REQUEST', 'The form says nothing that can be done.');
/** The notices of the code page on the last request for a code. */
const NOTICES = {
  first: null,
  again: 'A new code is on its way.',
  none: 'No code was sent this time: this address was sent many of late. Wait a minute, then ask for a new one.',
} as const satisfies Record<string, PlainText | null>;

const text = z.string().optional();
export const signInForm = z.object({
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
type SignInForm = z.output<typeof signInForm>;

const LEADS_TO = Object.keys(SIGN_IN_PATHS) as (keyof typeof SIGN_IN_PATHS)[];

export const SIGN_IN_ROUTES: readonly Route[] = LEADS_TO.flatMap((leads_to) => [
  openRoute({
    method: 'GET',
    path: `${SIGN_IN_PATHS[leads_to]}/:id`,
    params: { id: PARAMETERS.sign_in },
    credential: 'none',
    dialect: 'page',
    query: z.object({ problem: text }),
    async handler({ services, request, reply, params, query }) {
      const browser_cookie = browserCookie(services, request);
      const open = await readSignIn(services, params.id, { browser_cookie, leads_to });
      const context = { services, request, reply, ...open };
      const { goal, step } = open.sign_in;
      if (goal.to === 'page' && step.at === 'done') return nextPage(context, open);
      return sendPage(reply, pageOf(context, codeProblem(open.sign_in, query.problem, requestTexts(request))));
    },
  }),
  openRoute({
    method: 'POST',
    path: `${SIGN_IN_PATHS[leads_to]}/:id`,
    params: { id: PARAMETERS.sign_in },
    credential: 'none',
    dialect: 'page',
    takes: 'form',
    body: signInForm,
    async handler({ services, request, reply, params, body }) {
      const browser_cookie = browserCookie(services, request);
      const open = await readSignIn(services, params.id, { browser_cookie, leads_to });
      checkSignInForm(services, open, body.form_token ?? '');
      const act = ACTIONS.get(body.action ?? '') ?? throwRefusal(NO_ACTION);
      return act({ services, request, reply, ...open }, body);
    },
  }),
]);

/** A request of the browser that began the sign-in. */
type SignInContext = OpenSignIn & { services: Services; request: FastifyRequest; reply: FastifyReply };

/** The handlers of the pages' buttons. */
const ACTIONS = new Map<string, (context: SignInContext, body: SignInForm) => Promise<Answer>>([
  ['email', pressEmail],
  [
    'resend',
    async (context) => nextPage(context, await resendCode(context.services, context, senderOf(context.request))),
  ],
  ['other_email', async (context) => nextPage(context, await otherEmail(context.services, context))],
  ['code', pressCode],
  ['continue', pressContinue],
  ['approve', async (context) => nextPage(context, await approve(context.services, context))],
  ['deny', pressDeny],
  ['leave', pressDeny],
]);

/** Sends a code to the address that was typed. */
export async function pressEmail(context: SignInContext, body: SignInForm): Promise<Answer> {
  const { services, request } = context;
  const texts = requestTexts(request);
  const typed = emailAddress.safeParse(body.email ?? '');
  if (!typed.success)
    return emailProblem(context, body, texts.say('Enter an email address, such as name@example.com.'));
  const captcha_token =
    body.captcha_token ?? body['cf-turnstile-response'] ?? body['h-captcha-response'] ?? body['g-recaptcha-response'];
  const sent = await sendCode(services, context, { email: typed.data, captcha_token, ...senderOf(request) });
  if (sent === null) return emailProblem(context, body, texts.say('Please show first that you are a person.'));
  return nextPage(context, sent);
}

/** Who asks for a code, and the language of its mail. */
function senderOf(request: FastifyRequest) {
  return { ip: request.ip, language: requestLanguage(request) };
}

/** The page of the present step with a problem; what was typed stays, though not in an address, where it would be logged. */
function emailProblem(context: SignInContext, { email = '' }: SignInForm, problem: string): FastifyReply {
  const page = pageOf(context, problem);
  context.reply.code(400);
  return sendPage(context.reply, page.page === 'email' ? { ...page, email } : page);
}

async function pressCode(context: SignInContext, body: SignInForm): Promise<Answer> {
  const { services, request, reply } = context;
  const code = typedCode(body.code ?? '');
  const session_cookie = sessionCookie(services, request);
  const tried = await tryCode(services, context, { code, ip: request.ip, session_cookie });
  if (tried.problem !== null) return leave(reply, codeProblemPath(context, tried.problem));
  setSessionCookie(services, reply, tried.session_cookie);
  return nextPage(context, tried);
}

async function pressContinue(context: SignInContext): Promise<Answer> {
  const { services, request } = context;
  return nextPage(context, await continueAs(services, context, sessionCookie(services, request)));
}

async function pressDeny(context: SignInContext): Promise<Answer> {
  return nextPage(context, await deny(context.services, context));
}

/**
 * A problem with a code is in the page's address: answered to the form itself, a reload would send the wrong code once
 * more, and the back button would end at the browser's own page about forms.
 */
function codeProblemPath({ sign_in, id }: OpenSignIn, problem: 'digits' | 'wrong'): string {
  return `${signInPath(sign_in.goal, id)}?problem=${problem}`;
}

/** The problem that the code page shows, unless the state has moved on. */
function codeProblem({ step, wrong }: OpenSignIn['sign_in'], problem: string | undefined, texts: Texts): string | null {
  if (step.at !== 'code') return null;
  if (problem === 'digits') return texts.say('Enter the six digits of the code.');
  if (problem !== 'wrong' || wrong === 0) return null;
  const left = LIMITS.sign_in_tries_max - wrong;
  return texts.sayCount(left, {
    one: 'That code is wrong or has expired. You can try once more.',
    other: 'That code is wrong or has expired. You can try {n} times more.',
  });
}

/** After a form: redirects to the client, or to the page of the present step. */
function nextPage({ services, reply }: SignInContext, open: OpenSignIn): FastifyReply {
  const next = nextOf(services, open);
  switch (next.to) {
    case 'client':
      return sendBack(services, reply, next.back, next.answer);
    case 'page':
      return leave(reply, ACCOUNT_PAGES[next.page].path);
    case 'step':
      return leave(reply, signInPath(open.sign_in.goal, open.id));
  }
}

/** Where unsent mails are printed; null if mails are sent. */
function keptMail({ settings, development }: Services): { inbox_url: string | null } | null {
  return settings.smtp_url === null ? { inbox_url: development()?.inbox_url ?? null } : null;
}

/** The page of the present step. */
function pageOf(context: SignInContext, problem: string | null): HtmlPage {
  const { services, id, sign_in, request } = context;
  const texts = requestTexts(request);
  const { step, goal } = sign_in;
  const leads_to = goal.to === 'client' ? goal.client_name : texts.say(ACCOUNT_PAGES[goal.page].leads_to);
  const flow: Flow = {
    action: signInPath(goal, id),
    form_token: signInFormToken(services, context),
    leads_to,
  };
  switch (step.at) {
    case 'email':
      return {
        page: 'email',
        flow,
        email: null,
        problem,
        captcha: captchaWidget(services.settings),
        sends_mail: services.settings.smtp_url !== null,
      };
    case 'accounts':
      return { page: 'accounts', flow, email: step.email };
    case 'code': {
      const notice = problem === null ? NOTICES[step.last_send] : null;
      return {
        page: 'code',
        flow,
        email: step.email,
        sent: step.codes.length > 0,
        problem,
        notice: notice === null ? null : texts.say(notice),
        kept: keptMail(services),
      };
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
          ? texts.say('This sign-in has ended. Go back to the app and start again.')
          : texts.say('This sign-in has ended.');
      return { page: 'ended', flow, heading: texts.say('Too many wrong codes'), text };
    }
    case 'done':
      return {
        page: 'ended',
        flow: goal.to === 'client' ? null : flow,
        heading: texts.say('This sign-in is finished'),
        text: texts.say('Go back to {app}. To sign in once more, start again there.', { app: leads_to }),
      };
  }
}
