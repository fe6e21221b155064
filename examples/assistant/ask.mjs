/*
 * Asks an account's recordings as an assistant does, over the Model Context Protocol: signs in, lists the tools, calls
 * `recall` and shows what comes back.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const { SPOOL_URL = 'http://localhost:8080', SPOOL_TOKEN } = process.env;
const MCP_URL = new URL('/mcp', SPOOL_URL);
const FILE = 'login.json';
/** What "yesterday" means. */
const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const SIGN_IN_MAX_MS = 5 * 60_000;

/** What a sign-in leaves to the app: where things are kept, and a browser to send somebody to. */
class Login {
  /** Tokens of one server are shown to no other. */
  #kept = { server: MCP_URL.href };
  #verifier;
  #state;

  constructor(redirect_uri) {
    this.redirectUrl = redirect_uri;
    const kept = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
    if (kept.server === MCP_URL.href) this.#kept = kept;
  }

  get clientMetadata() {
    return {
      client_name: 'Ask my recordings',
      redirect_uris: ['http://127.0.0.1/callback'], // with any port
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  clientInformation = () => this.#kept.client;
  saveClientInformation = (client) => this.#keep({ client });
  tokens = () => this.#kept.tokens;
  saveTokens = (tokens) => this.#keep({ tokens });
  discoveryState = () => this.#kept.discovery;
  saveDiscoveryState = (discovery) => this.#keep({ discovery });
  codeVerifier = () => this.#verifier;
  saveCodeVerifier = (verifier) => {
    this.#verifier = verifier;
  };
  state = () => {
    this.#state = randomBytes(32).toString('base64url');
    return this.#state;
  };
  redirectToAuthorization = (url) => console.log(`Open ${url}`);

  invalidateCredentials(scope) {
    if (scope === 'all' || scope === 'client') rmSync(FILE, { force: true });
    if (scope === 'all' || scope === 'client') this.#kept = { server: MCP_URL.href };
    if (scope === 'tokens') this.#keep({ tokens: undefined });
    if (scope === 'discovery') this.#keep({ discovery: undefined });
  }

  /** The library leaves this to the app. */
  isAnswer(parameters) {
    return this.#state !== undefined && parameters.get('state') === this.#state;
  }

  #keep(more) {
    this.#kept = { ...this.#kept, ...more };
    writeFileSync(FILE, JSON.stringify(this.#kept), { mode: 0o600 });
  }
}

/** Where the browser comes back to: a port of this machine that nobody else has (RFC 8252). */
async function openCallback() {
  const server = createServer();
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const redirect_uri = `http://127.0.0.1:${server.address().port}/callback`;
  const heard = (login) =>
    new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error('nobody signed in within five minutes')), SIGN_IN_MAX_MS).unref();
      server.on('request', (request, response) => {
        const url = URL.canParse(request.url, redirect_uri) ? new URL(request.url, redirect_uri) : null;
        const is_answer = url?.pathname === '/callback' && login.isAnswer(url.searchParams);
        response.writeHead(is_answer ? 200 : 404, { 'Content-Type': 'text/plain', Connection: 'close' });
        response.end(is_answer ? 'You can close this page.' : 'Not the answer to a sign-in that was begun here.');
        if (is_answer) resolve(url.searchParams);
      });
    });
  return { redirect_uri, heard, close: () => server.close() };
}

async function connectedWith(options) {
  const client = new Client({ name: 'ask', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(MCP_URL, options));
  return client;
}

async function signedIn() {
  if (SPOOL_TOKEN !== undefined)
    return connectedWith({ requestInit: { headers: { Authorization: `Bearer ${SPOOL_TOKEN}` } } });
  const callback = await openCallback();
  const login = new Login(callback.redirect_uri);
  try {
    return await connectedWith({ authProvider: login });
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    // It holds `iss` to the server that was asked, and exchanges the code with the verifier of PKCE.
    await new StreamableHTTPClientTransport(MCP_URL, { authProvider: login }).finishAuth(await callback.heard(login));
    return await connectedWith({ authProvider: login });
  } finally {
    callback.close();
  }
}

async function ask(query) {
  const client = await signedIn();
  const { tools } = await client.listTools();
  console.log(`tools: ${tools.map(({ name }) => name).join(', ')}`);
  const answer = await client.callTool({ name: 'recall', arguments: { query, limit: 5, time_zone: TIME_ZONE } });
  if (answer.isError) throw new Error(answer.content[0]?.text ?? 'The tool failed.');
  const { items } = answer.structuredContent;
  if (items.length === 0) console.log('Nothing was said about it.');
  for (const { kind, at, stream_id, text } of items)
    console.log(`\n${kind} · ${at}${stream_id === null ? '' : ` · recording ${stream_id}`}\n${text}`);
  await client.close();
}

const { positionals } = parseArgs({ allowPositionals: true });
const question = positionals.join(' ');
if (question === '') {
  console.error('Usage: node ask.mjs QUESTION');
  process.exit(2);
}
try {
  await ask(question);
} catch (error) {
  const why = error.cause?.code; // of a connection that could not be made
  console.error(why === undefined ? error.message : `No answer from ${MCP_URL} (${why})`);
  process.exitCode = 1;
}
