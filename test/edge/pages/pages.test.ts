import Fastify, { type LightMyRequestResponse } from 'fastify';
import t from 'tap';
import {
  type Holder,
  type HtmlPage,
  type InvitationRow,
  type RestoreView,
  sendPage,
} from '../../../src/edge/pages/page.js';

const FLOW = { action: '/oauth/authorize/step', form_token: 'token-of-the-form', leads_to: 'Meeting Notes' };
const CODE_PAGE: HtmlPage = {
  page: 'code',
  flow: FLOW,
  email: 'ann@x.test',
  sent: true,
  problem: null,
  notice: null,
  kept: null,
};
const HOLDER = { action: FLOW.action, form_token: FLOW.form_token, email: 'ann@example.com' };
const CAPTCHA = { script_url: 'https://captcha.example/v1/api.js?x=1&y=2', css_class: 'cf-turnstile', site_key: 'key' };
const CONSENT = {
  page: 'consent',
  flow: FLOW,
  email: 'ann@example.com',
  redirect_host: 'notes.example',
  redirect_kind: 'web',
  scopes: ['turns:read', 'turns:write'],
  audience: 'mcp',
} as const;
const MARKUP = `"'><script>alert(1)</script><b onclick=x>&amp;`;

/** Every kind of page, with `text` wherever something comes from outside. */
function everyPage(text: string): HtmlPage[] {
  const flow = { ...FLOW, leads_to: text };
  return [
    { page: 'email', flow, email: null, problem: null, captcha: null, sends_mail: true },
    { page: 'email', flow, email: text, problem: text, captcha: null, sends_mail: false },
    { page: 'email', flow, email: text, problem: null, captcha: { ...CAPTCHA, site_key: text }, sends_mail: true },
    { page: 'code', flow, email: text, sent: true, problem: null, notice: text, kept: null },
    { page: 'code', flow, email: text, sent: false, problem: null, notice: text, kept: { inbox_url: null } },
    {
      page: 'code',
      flow,
      email: text,
      sent: true,
      problem: text,
      notice: null,
      kept: { inbox_url: 'http://localhost:9090/mails' },
    },
    { page: 'accounts', flow, email: text },
    { ...CONSENT, flow, email: text, redirect_host: text, scopes: ['turns:read', text] },
    { ...CONSENT, flow, email: text, redirect_host: text, redirect_kind: 'loopback', audience: 'api' },
    { ...CONSENT, flow, email: text, redirect_host: text, redirect_kind: 'app', scopes: [] },
    { page: 'ended', flow, heading: text, text },
    { page: 'ended', flow: null, heading: text, text },
    { page: 'no_account', flow, email: text },
    ...holderPages(text),
    { page: 'signed_out', again: '/restore' },
    { page: 'wait', seconds: 42 },
    { page: 'error', code: text, text, request_id: text, at: null },
    { page: 'error', code: text, text, request_id: text, at: 'restore' },
  ];
}

/** Those of who is signed in. */
function holderPages(text: string): (HtmlPage & { holder: Holder })[] {
  const holder = { ...HOLDER, email: text };
  const row: InvitationRow = {
    id: text,
    workspace: { id: text, name: text },
    role: 'admin',
    invited_by: { email: text, name: text },
    invited_on: '3 February 2026, 08:30 UTC',
  };
  const rows = [row, { ...row, invited_by: { email: text, name: null } }, { ...row, invited_by: null }];
  const deleted: RestoreView = { is: 'deleted', deleted_on: 'a day', erased_on: 'another', left: 'about 6 days' };
  const list = { page: 'invitations', holder, sharing: true, rows, older: '/x?cursor=a', newest: '/x' } as const;
  return [
    { page: 'restore', holder, account: deleted },
    ...(['erasing', 'erased', 'active', 'restored', 'begun'] as const).map(
      (is) => ({ page: 'restore', holder, account: { is } }) as const,
    ),
    { ...list, outcome: { is: 'joined', workspace: text } },
    { ...list, outcome: { is: 'declined' }, sharing: false },
    { ...list, outcome: { is: 'gone' }, rows: [], older: null, newest: null },
    { page: 'invitations_wait', holder, restore_url: 'https://x.example/restore' },
  ];
}

const hasForm = (page: HtmlPage) => 'holder' in page || ('flow' in page && page.flow !== null);
/** Nothing of it comes from outside. */
const isFixed = ({ page }: HtmlPage) => page === 'wait' || page === 'signed_out';

/** The page as it goes over HTTP, sent with a status that is no page's own. */
async function sent(page: HtmlPage): Promise<LightMyRequestResponse> {
  const app = Fastify();
  app.get('/', (_request, reply) => void sendPage(reply.code(418), page));
  const answer = await app.inject('/');
  await app.close();
  return answer;
}

const htmlOf = async (page: HtmlPage) => (await sent(page)).body.replaceAll(/\s+/g, ' ');

/** What a person reads: no tags, no title. */
const textOf = async (page: HtmlPage) =>
  (await htmlOf(page))
    .replace(/^.*<body>/, '')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ');

const policyOf = async (page: HtmlPage) =>
  new Map(
    String((await sent(page)).headers['content-security-policy'])
      .split('; ')
      .map((rule) => {
        const [name = '', ...sources] = rule.split(' ');
        return [name, sources.join(' ')] as const;
      }),
  );

t.test('every page keeps to itself, and leaves the status alone', async (t) => {
  for (const page of everyPage('plain')) {
    const { statusCode, headers } = await sent(page);
    t.equal(statusCode, 418, page.page);
    t.match(
      headers,
      {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      },
      page.page,
    );
    t.notOk('cross-origin-opener-policy' in headers, 'a popup can tell the window that opened it');
  }
});

t.test('the content policy lets nothing in but the stylesheet and images of this server', async (t) => {
  for (const page of everyPage('plain').filter((page) => page.page !== 'email' || page.captcha === null)) {
    const policy = await policyOf(page);
    const common = [
      ['default-src', "'none'"],
      ['style-src', "'self'"],
      ['img-src', "'self'"],
      ['base-uri', "'none'"],
      ['frame-ancestors', "'none'"],
    ];
    const forms = 'holder' in page ? [['form-action', "'self'"]] : hasForm(page) ? [] : [['form-action', "'none'"]];
    t.same([...policy], [...common, ...forms], page.page);
  }
});

t.test('a CAPTCHA widget may load from the origin of its script, on its page alone', async (t) => {
  const page: HtmlPage = { page: 'email', flow: FLOW, email: null, problem: null, captcha: CAPTCHA, sends_mail: true };
  const policy = await policyOf(page);
  for (const name of ['script-src', 'frame-src', 'connect-src']) {
    t.equal(policy.get(name), 'https://captcha.example', name);
  }
  t.notOk(policy.has('form-action'));
  const html = await htmlOf(page);
  t.match(html, '<div class="cf-turnstile" data-sitekey="key"></div>');
  t.match(html, '<script src="https://captcha.example/v1/api.js?x=1&amp;y=2" async defer></script>');
});

t.test('text from outside stays text', async (t) => {
  for (const page of everyPage(MARKUP)) {
    const html = await htmlOf(page);
    t.notMatch(html, /<script>|<b onclick/, page.page);
    if (!isFixed(page)) t.match(html, '&lt;script&gt;', page.page);
    // What stands in the tags is ours, apart from quoted values.
    const tags = (html.match(/<[^>]*>/g) ?? []).map((tag) => tag.replaceAll(/"[^"]*"/g, '""'));
    t.same(
      tags.filter((tag) => /\son\w+\s*=|\sstyle\s*=|javascript:|'/i.test(tag)),
      [],
      page.page,
    );
  }
});

t.test('no page has scripts or styles of its own', async (t) => {
  for (const page of everyPage('javascript:alert(1)')) {
    const html = await htmlOf(page);
    t.notMatch(html, /<style|\sstyle=|\son[a-z]+=|(href|src|action)="javascript:/i, page.page);
    const scripts = html.match(/<script[^>]*>.*?<\/script>/g) ?? [];
    t.equal(scripts.length, page.page === 'email' && page.captcha !== null ? 1 : 0, page.page);
    for (const script of scripts) t.match(script, /^<script src="[^"]+" async defer><\/script>$/);
  }
});

t.test('marks that turn text round are shown, and names keep their direction to themselves', async (t) => {
  for (const mark of ['\u202e', '\u2066', '\u200f', '\u0000', '\u009b']) {
    for (const page of everyPage(`left${mark}right`)) {
      const html = await htmlOf(page);
      t.notOk(html.includes(mark), page.page);
      if (!isFixed(page)) t.match(html, 'left\ufffdright', page.page);
    }
  }
  for (const page of everyPage('A Name').filter(hasForm)) {
    const bare = (await htmlOf(page)).replaceAll(/<bdi[^>]*>[^<]*<\/bdi>|"[^"]*"/g, '').replace(/^.*<main/, '');
    const ours = ['problem', 'notice', 'heading', 'text', 'scopes'].flatMap((name) =>
      name in page ? ((page as unknown as Record<string, string | null>)[name] ?? []) : [],
    );
    if (!ours.flat().includes('A Name')) t.notMatch(bare, 'A Name', page.page);
  }
});

t.test('every form carries its token, posts to its flow, and its first button is the main one', async (t) => {
  const first = {
    ...{ email: 'email', code: 'code', accounts: 'continue', consent: 'approve', ended: 'leave' },
    ...{ no_account: 'other_email', invitations_wait: 'sign_out' },
  };
  const own = { deleted: 'restore', erasing: 'sign_out', erased: 'begin', active: 'sign_out' };
  const firstOf = (page: HtmlPage) => {
    if (page.page === 'restore') return own[page.account.is as keyof typeof own] ?? 'sign_out';
    if (page.page === 'invitations') return page.rows.length === 0 ? 'sign_out' : page.sharing ? 'accept' : 'decline';
    return first[page.page as keyof typeof first];
  };
  for (const page of everyPage('plain')) {
    const forms = (await htmlOf(page)).match(/<form.*?<\/form>/g) ?? [];
    t.equal(forms.length > 0, hasForm(page), page.page);
    for (const form of forms) {
      t.match(form, /^<form( class="\w+")? method="post" action="\/oauth\/authorize\/step">/);
      t.match(form, '<input type="hidden" name="form_token" value="token-of-the-form">');
    }
    const main = forms.at(-1)?.match(/name="action" value="(\w+)"/)?.[1];
    if (hasForm(page)) t.equal(main, firstOf(page), page.page);
  }
});

t.test('every page offers what its step can do', async (t) => {
  const actions = {
    email: 'email',
    code: 'code resend other_email',
    accounts: 'continue other_email',
    consent: 'other_email approve deny',
    ended: 'leave',
    no_account: 'other_email',
  };
  for (const page of everyPage('plain').filter((page) => 'flow' in page && page.flow !== null)) {
    const found = [...(await htmlOf(page)).matchAll(/<button [^>]*name="action" value="(\w+)"/g)].map(
      ([, name]) => name,
    );
    t.equal(found.join(' '), actions[page.page as keyof typeof actions]);
  }
  const code = await htmlOf(CODE_PAGE);
  t.match(code, 'value="resend" formnovalidate>');
  t.match(code, 'value="other_email" formnovalidate>');
});

t.test('D-071 where the server sends no mail, the code page names the terminal and the inbox', async (t) => {
  const inbox_url = 'http://localhost:9090/mails';
  const here = await htmlOf({ ...CODE_PAGE, kept: { inbox_url } });
  t.match(here, `href="${inbox_url}"`);
  const elsewhere = await htmlOf({ ...CODE_PAGE, kept: { inbox_url: null } });
  t.match(elsewhere, '<code>/mails</code>');
  for (const html of [here, elsewhere]) {
    t.match(html, 'in the terminal');
    t.notMatch(html, /spam folder|We’ve sent/);
  }
  t.notMatch(await htmlOf(CODE_PAGE), /\/mails|terminal/);
  const asks = { page: 'email', flow: FLOW, email: null, problem: null, captcha: null } as const;
  t.match(await htmlOf({ ...asks, sends_mail: true }), 'We’ll email you');
  t.notMatch(await htmlOf({ ...asks, sends_mail: false }), 'email you');
});

t.test('a code may be pasted with spaces and dashes, in digits of any script', async (t) => {
  const html = await htmlOf(CODE_PAGE);
  const pattern = new RegExp(`^(?:${/ pattern="([^"]+)"/.exec(html)?.[1]})$`, 'v');
  for (const typed of ['123456', ' 123456', '123 456', '1 2 3 4 5 6 ', '123-456', '١٢٣٤٥٦', '\u200e１２３４５６'])
    t.match(typed, pattern);
  for (const typed of ['', '12345', '1234567', '12345a', '1234567٨']) t.notMatch(typed, pattern);
});

t.test('a problem is the first thing said, and belongs to its field', async (t) => {
  const email: HtmlPage = {
    page: 'email',
    flow: FLOW,
    email: 'ann',
    problem: 'Enter a whole address.',
    captcha: null,
    sends_mail: true,
  };
  const code: HtmlPage = {
    page: 'code',
    flow: FLOW,
    email: 'ann@x.test',
    sent: true,
    problem: 'That is not the code.',
    notice: null,
    kept: null,
  };
  for (const page of [email, code]) {
    const html = await htmlOf(page);
    t.match(html, /<title>Error: [^<]+<\/title>/);
    t.match(html, `<p class="problem" id="problem" role="alert">${page.problem}</p>`);
    t.match(
      html,
      /<input id="email"[^>]* aria-describedby="problem hint" aria-invalid="true">|<input class="digits"[^>]* aria-describedby="problem hint" aria-invalid="true">/,
    );
    const calm = await htmlOf({ ...page, problem: null });
    t.notMatch(calm, /Error:|aria-invalid|role="alert"/);
  }
  t.match(await htmlOf({ ...code, problem: null, notice: 'A new code is on its way.' }), /role="status">A new code is/);
});

t.test('every page has a language, a title, one heading, and labels', async (t) => {
  for (const page of everyPage('plain')) {
    const html = await htmlOf(page);
    t.match(html, /^<!doctype html> <html lang="en">/);
    t.match(html, /<title>[^<]+ · Spool<\/title>/);
    t.match(html, '<meta name="viewport" content="width=device-width, initial-scale=1">');
    t.equal(html.match(/<h1>/g)?.length, 1, page.page);
    t.equal(html.match(/<main /g)?.length, 1, page.page);
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    t.equal(new Set(ids).size, ids.length, 'ids are given once');
    for (const [, named = ''] of html.matchAll(/ (?:for|aria-describedby|aria-labelledby)="([^"]+)"/g)) {
      for (const id of named.split(' ')) t.ok(ids.includes(id), id);
    }
    for (const [input] of html.matchAll(/<input (?!type="hidden")[^>]*>/g)) {
      t.match(html, `<label for="${/ id="(\w+)"/.exec(input)?.[1]}">`);
    }
    t.notMatch(html, /\b(undefined|null|NaN|\[object)/, page.page);
  }
});

t.test('C-029 the consent page shows the redirect host, and says what kind of place it is', async (t) => {
  const host = `accounts.bank.example.${'a'.repeat(63)}.xn--80ak6aa92e.example:8443`;
  const web = await textOf({ ...CONSENT, redirect_host: host });
  t.match(web, `you’ll be sent to ${host}`);
  const loopback = await textOf({ ...CONSENT, redirect_kind: 'loopback', redirect_host: '127.0.0.1:5123' });
  t.match(loopback, 'a program on this device 127.0.0.1:5123');
  const app = await textOf({ ...CONSENT, redirect_kind: 'app', redirect_host: 'com.example.notes' });
  t.match(app, 'an app registered for the scheme com.example.notes');
});

t.test('the consent page says who asks, for whose account, for what, and where that holds', async (t) => {
  const mcp = await textOf(CONSENT);
  t.match(mcp, 'Let Meeting Notes use your account?');
  t.match(mcp, 'You’re signed in as ann@example.com');
  t.match(mcp, /not made by Spool, and we have not checked it/);
  t.match(mcp, /It will see Transcripts .* It will be able to Correct what was said and who said it.* Delete contacts/);
  t.match(mcp, 'through Spool’s MCP server only');
  const api = await textOf({ ...CONSENT, audience: 'api', scopes: ['audio:read'] });
  t.match(api, 'through the whole Spool API');
  t.match(api, 'Your recordings');
  t.notMatch(api, 'It will be able to');
});

t.test('the page of a network that tried too often asks to wait a minute', async (t) => {
  t.match(await textOf({ page: 'wait', seconds: 42 }), /Please wait a minute .* Wait 42 seconds, then/);
  t.match(await textOf({ page: 'wait', seconds: 1 }), 'Wait 1 second, then');
});

t.test('an error is headed by what it is, and names the request', async (t) => {
  const error = await htmlOf({
    page: 'error',
    code: 'NOT_FOUND',
    text: 'Nothing lies here.',
    request_id: 'r-1',
    at: null,
  });
  t.match(error, '<h1>Page not found</h1>');
  t.match(error, '<title>Error: Page not found · Spool</title>');
  t.match(error, 'Nothing lies here.');
  t.match(error, '<bdi>r-1</bdi>');
  t.match(error, 'Go back to the app and start again.');
  const own = { page: 'error', code: 'NOT_FOUND', text: 'It is over.', request_id: 'r-1', at: 'restore' } as const;
  t.match(await htmlOf(own), '<a href="/restore">Open the page again</a>');
  t.notMatch(await htmlOf(own), 'the app', 'no app sent anybody there');
  t.match(await htmlOf({ ...own, code: 'UNAVAILABLE' }), 'Try again in a moment.');
  const unknown = await htmlOf({ page: 'error', code: 'constructor', text: 'x', request_id: 'r-2', at: null });
  t.match(unknown, '<h1>This can’t continue</h1>');
});
