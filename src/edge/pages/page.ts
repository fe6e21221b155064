import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { FastifyReply } from 'fastify';
import type { AccountPage } from '../../../actors/oauth/browser_sign_in.js';
import { type PlainText, type Texts, textsIn } from '../../domain/language/texts.js';
import { ACCOUNT_PAGES } from './account_pages.js';
import { ASSETS } from './assets.js';
import { requestTexts } from './request_language.js';
import { abilitiesOf } from './scope_texts.js';
import { escapeText, templateWords } from './template_words.js';

/** The values that every step of a sign-in in the browser shows and sends back. */
export type Flow = {
  /** Address that the page's form posts to. */
  action: string;
  /** Goes back as `form_token`: proves that the form came from this page of this sign-in. */
  form_token: string;
  /** The app that the person is signing in to, by the name it chose, or one of our own pages in words. */
  leads_to: string;
};

/** The values that every page for a signed-in account holder shows and sends back, as above. */
export type Holder = { action: string; form_token: string; email: string };

/** The state of the account on the restore page. Dates are in words. */
export type RestoreView =
  | { is: 'deleted'; deleted_on: string; erased_on: string; left: string }
  | { is: 'erasing' | 'erased' | 'active' }
  /** The outcome of the button. */
  | { is: 'restored' | 'begun' };

export type InvitationRow = {
  id: string;
  workspace: { id: string; name: string };
  role: 'admin' | 'member';
  /** Null when that account is gone. */
  invited_by: { email: string; name: string | null } | null;
  invited_on: string;
};

/** The outcome of the last button on the invitations page. */
export type InvitationOutcome = { is: 'joined'; workspace: string } | { is: 'declined' } | { is: 'gone' };

/** The CAPTCHA that the email page carries where one is configured. */
export type CaptchaWidget = { script_url: string; css_class: string; site_key: string };

/**
 * Every page there is. Forms post `form_token` and `action`, which is named at each page; other fields stand behind it.
 */
export type HtmlPage =
  /** `email` (field `email`, and the CAPTCHA's own). `sends_mail`: the code comes by mail. */
  | {
      page: 'email';
      flow: Flow;
      email: string | null;
      problem: string | null;
      captcha: CaptchaWidget | null;
      sends_mail: boolean;
    }
  /**
   * `code` (field `code`: six digits, perhaps with spaces between and around them, as they were pasted), `resend`,
   * `other_email`. `sent`: a code went to the address. `notice` says for example that a new one is on its way. `kept`: the
   * server sends no mail, and its inbox is at this address, where that is known.
   */
  | {
      page: 'code';
      flow: Flow;
      email: string;
      sent: boolean;
      problem: string | null;
      notice: string | null;
      kept: { inbox_url: string | null } | null;
    }
  /** `continue`, `other_email`. */
  | { page: 'accounts'; flow: Flow; email: string }
  /**
   * `approve`, `deny`, `other_email`. `redirect_host` is what the person is sent to afterwards, in words that can't
   * mislead: the host (and port) as it is looked up, or the scheme of an `app`.
   */
  | {
      page: 'consent';
      flow: Flow;
      email: string;
      redirect_host: string;
      /** A program on this device, or one behind an app's own scheme: then no host vouches for it. */
      redirect_kind: 'web' | 'loopback' | 'app';
      scopes: readonly string[];
      /** Whether the whole API or the MCP server alone may be used. */
      audience: 'api' | 'mcp';
    }
  /** `leave`: back to the app, which learns that nobody signed in. Without a flow nothing can lead back. */
  | { page: 'ended'; flow: Flow | null; heading: string; text: string }
  /** `other_email`. */
  | { page: 'no_account'; flow: Flow; email: string }
  /** `restore` (deleted), `begin` (erased), `sign_out`. */
  | { page: 'restore'; holder: Holder; account: RestoreView }
  /** `accept`, `decline` (fields `invitation_id`, `workspace_id`), `sign_out`. */
  | {
      page: 'invitations';
      holder: Holder;
      outcome: InvitationOutcome | null;
      /** Off: the account can accept none. */
      sharing: boolean;
      rows: readonly InvitationRow[];
      /** Address of those that came before the rows. */
      older: string | null;
      /** Address of the newest, where the rows are not. */
      newest: string | null;
    }
  /** `sign_out`. The account is deleted, so that its invitations wait. */
  | { page: 'invitations_wait'; holder: Holder; restore_url: string }
  /**
   * A recording as a link shows it. `path`: of the page. `audio`: where its audio lies; null without any. `part`: of
   * `parts`, from 1 on.
   */
  | {
      page: 'shared';
      head: { title: string; day: string; time: string; length: string | null };
      summary: readonly string[];
      turns: readonly { at: string; name: string | null; text: string }[];
      audio: string | null;
      path: string;
      part: number;
      parts: number;
      ends_on: string;
    }
  /** The page's form posts to `path`. */
  | { page: 'unsubscribe'; path: string; is_on: boolean }
  | { page: 'signed_out'; again: string }
  | { page: 'wait'; seconds: number }
  /** `at`: which of our own pages it was to be. */
  | { page: 'error'; code: string; text: string; request_id: string; at: AccountPage | null };

/** Names of the pages in the browser's window and history; the app's name stays out of them, nothing isolates it there. */
const TITLES: Record<Exclude<HtmlPage['page'], 'ended' | 'error' | 'restore' | 'shared'>, PlainText> = {
  email: 'Sign in',
  code: 'Enter your code',
  accounts: 'Choose an account',
  consent: 'Let an app use your account?',
  no_account: 'There is no account for this email',
  invitations: 'Your invitations',
  invitations_wait: 'Your account is deleted',
  signed_out: 'You’re signed out',
  unsubscribe: 'Mails of what is due',
  wait: 'Please wait a minute',
};

const RESTORE_HEADINGS: Record<RestoreView['is'], PlainText> = {
  deleted: 'Your account is deleted',
  erasing: 'Your data is being erased',
  erased: 'Your data has been erased',
  active: 'There is nothing to restore',
  restored: 'Your account is back',
  begun: 'Your new account is ready',
};

type ErrorWords = { heading: PlainText; advice: readonly PlainText[] };

const AGAIN = 'Go back to the app and start again.';
const LATER = 'Try again in a moment.';
const BY_THE_APP = 'Only the makers of the app can fix this.';
const IF_NOT = 'If that doesn’t help, only the makers of the app can fix it.';

/** The words about an error on its page, beside its own text; the codes are those of REST and of OAuth. */
const ERROR_WORDS: Record<string, ErrorWords> = {
  BAD_REQUEST: { heading: 'This sign-in can’t continue', advice: [AGAIN] },
  FORBIDDEN: { heading: 'This sign-in can’t continue', advice: [AGAIN] },
  CONFLICT: { heading: 'This sign-in can’t continue', advice: [AGAIN] },
  NOT_FOUND: { heading: 'Page not found', advice: [AGAIN] },
  METHOD_NOT_ALLOWED: { heading: 'This page can’t be opened by its address', advice: [AGAIN] },
  INTERNAL: { heading: 'Something went wrong', advice: [LATER] },
  UNAVAILABLE: { heading: 'Spool is unavailable for a moment', advice: [LATER] },
  REQUEST_TIMEOUT: { heading: 'That took too long', advice: [LATER] },
  invalid_request: { heading: 'This sign-in can’t continue', advice: [AGAIN, IF_NOT] },
  invalid_client: { heading: 'This app is not known here', advice: [BY_THE_APP] },
  unauthorized_client: { heading: 'This app can’t sign in here', advice: [BY_THE_APP] },
  invalid_redirect_uri: { heading: 'There is no safe way back to this app', advice: [BY_THE_APP] },
  access_denied: { heading: 'This app was denied access', advice: [AGAIN] },
  server_error: { heading: 'Something went wrong', advice: [LATER] },
  temporarily_unavailable: { heading: 'Spool is unavailable for a moment', advice: [LATER] },
};
const OTHER_ERROR: ErrorWords = { heading: 'This can’t continue', advice: [AGAIN] };

const templates = new Eta({
  views: fileURLToPath(new URL('./templates', import.meta.url)),
  cache: true,
  autoEscape: true,
  escapeFunction: escapeText,
});

/** Sends a page in the language of its request, with everything that keeps it to itself: CSP, no framing, no caching, no referrer. */
export function sendPage(reply: FastifyReply, page: HtmlPage): FastifyReply {
  return reply
    .header('Cache-Control', 'no-store')
    .header('Content-Security-Policy', contentPolicyOf(page))
    .header('Referrer-Policy', 'no-referrer')
    .header('X-Frame-Options', 'DENY')
    .type('text/html; charset=utf-8')
    .send(renderPage(page, requestTexts(reply.request)));
}

/** A template in English, by its name. What it prints is escaped. */
export function renderTemplate(name: string, data: object): string {
  return templates.render(`./${name}`, { ...templateWords(textsIn('en')), ...data });
}

function renderPage(page: HtmlPage, texts: Texts): string {
  return templates.render(`./${page.page}`, {
    ...templateWords(texts),
    page,
    title: titleOf(page, texts),
    stylesheets: [ASSETS.basics.path, ASSETS.stylesheet.path],
    is_wide: page.page === 'shared',
    ...(page.page === 'shared' ? { day: texts.dayText(Date.parse(page.head.day)) } : {}),
    icon: ASSETS.icon.path,
    ...(page.page === 'error' ? { ...errorWords(page), known: texts.sayKnown(page.text) } : {}),
    ...(page.page === 'restore'
      ? { heading: RESTORE_HEADINGS[page.account.is], invitations: ACCOUNT_PAGES.invitations.path }
      : {}),
    ...(page.page === 'consent'
      ? { abilities: abilitiesOf(page.scopes), known: (words: string) => texts.sayKnown(words).text }
      : {}),
  });
}

/** A problem is the first thing that a screen reader says of the page. */
function titleOf(page: HtmlPage, texts: Texts): string {
  if (page.page === 'ended') return `${page.heading} · Spool`;
  if (page.page === 'shared') return `${page.head.title} · Spool`;
  if (page.page === 'restore') return `${texts.say(RESTORE_HEADINGS[page.account.is])} · Spool`;
  if (page.page === 'error')
    return `${texts.say('Error: {title}', { title: texts.say(errorWords(page).heading) })} · Spool`;
  const title = texts.say(TITLES[page.page]);
  const has_problem = 'problem' in page && page.problem !== null;
  return `${has_problem ? texts.say('Error: {title}', { title }) : title} · Spool`;
}

/** At a page of our own there is no app to go back to: the page is opened again. */
function errorWords({
  code,
  at,
}: {
  code: string;
  at: AccountPage | null;
}): ErrorWords & { open_again: string | null } {
  const words = errorWordsOf(code);
  if (at === null || words.advice[0] !== AGAIN) return { ...words, open_again: null };
  return { ...OTHER_ERROR, open_again: ACCOUNT_PAGES[at].path };
}

function errorWordsOf(code: string): ErrorWords {
  return Object.hasOwn(ERROR_WORDS, code) ? (ERROR_WORDS[code] ?? OTHER_ERROR) : OTHER_ERROR;
}

/**
 * Nothing but the page's own stylesheet and images. In a sign-in's forms `form-action` is left out: browsers hold the
 * redirect that answers them to that rule as well, and it may lead to any app, behind a scheme of its own or on to another
 * host. The token in the form is what keeps foreign forms out.
 */
function contentPolicyOf(page: HtmlPage): string {
  const rules = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  const has_form = 'flow' in page && page.flow !== null;
  if (!has_form) rules.push(`form-action ${'holder' in page || page.page === 'unsubscribe' ? "'self'" : "'none'"}`);
  if (page.page === 'shared' && page.audio !== null) rules.push("media-src 'self'");
  if (page.page === 'email' && page.captcha !== null) {
    const { origin } = new URL(page.captcha.script_url);
    rules.push(`script-src ${origin}`, `frame-src ${origin}`, `connect-src ${origin}`);
  }
  return rules.join('; ');
}
