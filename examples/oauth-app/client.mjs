/* Who this app is to Spool: a client that staff made, or one that registers itself once. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { OauthClient } from 'spool-client';

const { SPOOL_CLIENT_ID: client_id, SPOOL_CLIENT_SECRET: client_secret } = process.env;
const FILE = 'client.json';

/** `{ client_id, client_secret }`. */
export async function clientFor(server, { redirect_uri, scope }) {
  if (client_id !== undefined) return { client_id, client_secret };
  const kept = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : null;
  if (kept?.server === server && kept.redirect_uri === redirect_uri) return kept.client;
  const client = await OauthClient.register(server, {
    client_name: 'My recordings',
    redirect_uris: [redirect_uri],
    scope,
    token_endpoint_auth_method: 'client_secret_basic',
  });
  const { client_id: own_id, client_secret: own_secret } = client;
  const kept_client = { client_id: own_id, client_secret: own_secret };
  // The secret is for nobody else on this machine.
  writeFileSync(FILE, JSON.stringify({ server, redirect_uri, client: kept_client }), { mode: 0o600 });
  return kept_client;
}
