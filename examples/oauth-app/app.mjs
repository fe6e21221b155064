/* A web app that people sign in to with Spool. It shows their recordings and what was said in each. */
import { createServer } from 'node:http';
import { AppClient, CallRefused, memoryStore, NoAnswer, OauthClient, OauthRefused, SignedOut } from 'spool-client';
import { clientFor } from './client.mjs';
import { html, lengthOf, page } from './pages.mjs';
import { Sessions } from './sessions.mjs';

const { SPOOL_URL = 'http://localhost:8080', APP_URL = 'http://localhost:3001', PORT } = process.env;
const REDIRECT_URI = new URL('/callback', APP_URL).href;
const SCOPE = 'audio:read turns:read';
const TURNS_MAX = 2_000;
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  // Not no-referrer: with that a browser would not name the origin of a form.
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

const routes = [
  ['GET', /^\/$/, showRecordings],
  ['GET', /^\/sign-in$/, signIn],
  ['GET', /^\/callback$/, finishSignIn],
  ['GET', /^\/recordings\/([\w-]+)$/, showTranscript],
  ['POST', /^\/sign-out$/, signOut],
];

const oauth = await openClient();
const sessions = new Sessions({ is_https: APP_URL.startsWith('https:'), revoke: (token) => oauth.revoke(token) });

createServer(async (request, response) => {
  const session = sessions.of(request.headers.cookie);
  const { status = 200, headers, body = '' } = await answerTo(request, session).catch((error) => told(error, session));
  response.writeHead(status, { ...HEADERS, ...headers }).end(String(body));
}).listen(Number(PORT ?? (new URL(APP_URL).port || 3001)), '127.0.0.1', () => console.log(`open ${APP_URL}`));

async function openClient() {
  try {
    const client = await clientFor(SPOOL_URL, { redirect_uri: REDIRECT_URI, scope: SCOPE });
    return await OauthClient.of(SPOOL_URL, { ...client, redirect_uri: REDIRECT_URI, scope: SCOPE });
  } catch (error) {
    console.error(error instanceof NoAnswer ? `Spool does not answer at ${SPOOL_URL}` : error.message);
    process.exit(1);
  }
}

async function answerTo({ method, url: target, headers }, session) {
  const url = URL.canParse(target, APP_URL) ? new URL(target, APP_URL) : null;
  const [, path, show] = routes.find((route) => route[0] === method && route[1].test(url?.pathname)) ?? [];
  if (show === undefined) return { status: 404, body: page('There is no such page', '') };
  return show({ url, session, origin: headers.origin, id: path.exec(url.pathname)[1] });
}

async function signIn() {
  const begun = await oauth.begin();
  return redirect(begun.url, sessions.begin({ begun }));
}

async function finishSignIn({ url, session }) {
  if (session?.begun === undefined) throw new OauthRefused('invalid_state', 'This sign-in was not begun here.');
  // It works once, and whoever is signed in gets another cookie.
  await sessions.end(session.id);
  const credential = oauth.credential(memoryStore());
  // `finish` holds `state` and `iss` to what was begun, and sends the verifier of PKCE.
  await credential.begin(await oauth.finish(url, session.begun));
  return redirect('/', sessions.begin({ credential, app: new AppClient(SPOOL_URL, { credential }) }));
}

async function showRecordings({ url, session }) {
  if (session?.app === undefined) return { body: page('Recordings', html`<a href="/sign-in">Sign in with Spool</a>`) };
  const cursor = url.searchParams.get('cursor') ?? undefined;
  const { items, cursor: next } = await session.app.call('GET /audio/streams', { query: { limit: 50, cursor } });
  const rows = items.map(
    ({ id, title, captured_at, end_ms }) =>
      html`<li><a href="/recordings/${id}">${title ?? captured_at}</a> ${lengthOf(end_ms)}</li>`,
  );
  const list = rows.length === 0 ? html`<p>There are none.</p>` : html`<ul>${rows}</ul>`;
  const older = next === null ? '' : html`<a href="/?cursor=${encodeURIComponent(next)}">Older</a>`;
  const sign_out = html`<form method="post" action="/sign-out"><button>Sign out</button></form>`;
  return { body: page('Recordings', html`${list}${older}${sign_out}`) };
}

async function showTranscript({ session, id }) {
  if (session?.app === undefined) return redirect('/');
  const { title, captured_at } = await session.app.call('GET /audio/streams/{id}', { path: { id } });
  const said = [];
  for await (const turn of session.app.all('GET /turns', { query: { stream_id: id } })) {
    const speaker = turn.speaker_name ?? turn.speaker ?? 'Somebody';
    said.push(html`<p>${lengthOf(turn.start_ms)} <b>${speaker}</b>: ${turn.text}</p>`);
    if (said.length === TURNS_MAX) break;
  }
  if (said.length === 0) said.push(html`<p>There is no transcript.</p>`);
  return { body: page(title ?? captured_at, html`${said}<a href="/">All recordings</a>`) };
}

async function signOut({ session, origin }) {
  if (origin !== new URL(APP_URL).origin) return { status: 403, body: page('That did not come from this app', '') };
  return redirect('/', await sessions.end(session?.id));
}

async function told(error, session) {
  if (error instanceof SignedOut) return redirect('/', await sessions.end(session?.id));
  const back = html`<p>${error.message}</p><a href="/">Back</a>`;
  if (error instanceof OauthRefused) return { status: 400, body: page('Not signed in', back) };
  if (error instanceof CallRefused) return { status: error.status, body: page('Spool says no', back) };
  console.error(error instanceof NoAnswer ? error.message : error);
  return { status: 502, body: page('Spool does not answer', html`<a href="/">Again</a>`) };
}

function redirect(to, headers) {
  return { status: 303, headers: { ...headers, Location: to } };
}
