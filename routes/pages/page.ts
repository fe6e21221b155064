import type { FastifyReply } from 'fastify';

/** What every step of a sign-in in the browser shows and sends back. */
export type Flow = {
  /** Address that the page's form posts to. */
  action: string;
  /** Goes back as `form_token`: proves that the form came from this page of this sign-in. */
  form_token: string;
  /** The app that the person is signing in to. */
  client_name: string;
};

/** The CAPTCHA that the email page carries where one is configured. */
export type CaptchaWidget = { script_url: string; css_class: string; site_key: string };

/**
 * Every page there is. Forms post `form_token` and `action`, which is named at each page; other fields stand behind it.
 */
export type Page =
  /** `email` (field `email`, and the CAPTCHA's own). */
  | { page: 'email'; flow: Flow; email: string | null; problem: string | null; captcha: CaptchaWidget | null }
  /** `code` (field `code`), `resend`, `other_email`. `notice` says for example that a new code is on its way. */
  | { page: 'code'; flow: Flow; email: string; problem: string | null; notice: string | null }
  /** `continue`, `other_email`. */
  | { page: 'accounts'; flow: Flow; email: string }
  /** `approve`, `deny`, `other_email`. `redirect_host` is what the person is sent to afterwards, in words that can't mislead. */
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
  /** `leave`: back to the app, which is told that nobody signed in. Without a flow nothing can lead back. */
  | { page: 'ended'; flow: Flow | null; heading: string; text: string }
  | { page: 'wait'; seconds: number }
  | { page: 'error'; code: string; text: string; request_id: string };

/** Sends a page with everything that keeps it to itself: CSP, no framing, no caching, no referrer. */
export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page.page);
}
