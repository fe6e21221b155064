/** Peer for OAuth: oidc-provider on the Redis that it is told of, with a door to mint codes past its pages. */
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { Redis } from '../../../node_modules/ioredis/built/index.js';
import { answer, settings } from './answering_server.mjs';

// It would rather have a later Node, and keys of the operator's.
console.warn = () => {};
const { Provider } = await import('oidc-provider');

const { socket_path, agent_secret, redirect_uri, format } = settings();
const AUDIENCE = 'https://api.spool.example';
const redis = new Redis(socket_path, { enableAutoPipelining: true });
const DAY_S = 86_400;

/**
 * As the library's contract for adapters has it: an entity is JSON under its key, being used up is a mark beside it, and
 * a list of each grant's keys serves revocation. A write goes in one transaction.
 */
class RedisAdapter {
  constructor(model) {
    this.model = model;
  }

  key(id) {
    return `peer:${this.model}:${id}`;
  }

  async upsert(id, payload, expires_in) {
    const key = this.key(id);
    const write = redis.multi().hset(key, 'payload', JSON.stringify(payload));
    if (expires_in) write.expire(key, expires_in);
    if (payload.grantId !== undefined && this.model !== 'Grant') {
      const list = `peer:of_grant:${payload.grantId}`;
      write.rpush(list, key).expire(list, 31 * DAY_S);
    }
    for (const [error] of await write.exec()) if (error !== null) throw error;
  }

  async find(id) {
    const { payload, consumed } = await redis.hgetall(this.key(id));
    if (payload === undefined) return undefined;
    return consumed === undefined ? JSON.parse(payload) : { ...JSON.parse(payload), consumed: Number(consumed) };
  }

  async consume(id) {
    await redis.hset(this.key(id), 'consumed', Math.floor(Date.now() / 1000));
  }

  async destroy(id) {
    await redis.del(this.key(id));
  }

  async revokeByGrantId(grant_id) {
    const list = `peer:of_grant:${grant_id}`;
    await redis.del(list, ...(await redis.lrange(list, 0, -1)));
  }
}

const SCOPE = 'account:manage turns:read';

/** Of the kind that Spool signs with. */
function signingKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' };
}

/** All tokens are for one resource, whose tokens are JWTs. */
function jwtsOfResources() {
  const jwt = { sign: { alg: 'ES256' } };
  return {
    enabled: true,
    defaultResource: () => AUDIENCE,
    getResourceServerInfo: () => ({ scope: SCOPE, audience: AUDIENCE, accessTokenFormat: 'jwt', jwt }),
    useGrantedResource: () => true,
  };
}

const server = createServer({ keepAliveTimeout: 72_000 });
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address();
const grants = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const provider = new Provider(`http://localhost:${port}`, {
  adapter: RedisAdapter,
  clients: [
    { client_id: 'public', token_endpoint_auth_method: 'none', redirect_uris: [redirect_uri], ...grants },
    {
      ...{ client_id: 'svc-agent', client_secret: agent_secret, token_endpoint_auth_method: 'client_secret_basic' },
      ...{ redirect_uris: [redirect_uri], ...grants },
    },
  ],
  cookies: { keys: [randomBytes(32).toString('base64url')] },
  features: {
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true },
    devInteractions: { enabled: false },
    ...(format === 'jwt' && { resourceIndicators: jwtsOfResources() }),
  },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: () => true,
  pkce: { required: () => true },
  rotateRefreshToken: true,
  scopes: ['account:manage', 'turns:read'],
  ...(format === 'jwt' && {
    jwks: { keys: [signingKey()] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
  }),
  ttl: {
    ...{ AccessToken: 3_600, AuthorizationCode: 600, RefreshToken: 30 * DAY_S, Grant: 30 * DAY_S },
    ...{ IdToken: 3_600, Session: 30 * DAY_S, Interaction: 3_600, ClientCredentials: 3_600 },
  },
});
server.on('request', provider.callback());

async function mintCode(challenge) {
  const accountId = `account-${Math.floor(Math.random() * 1_000)}`;
  const client = await provider.Client.find('public');
  const grant = new provider.Grant({ accountId, clientId: 'public' });
  if (format === 'jwt') grant.addResourceScope(AUDIENCE, SCOPE);
  else grant.addOIDCScope(SCOPE);
  const grantId = await grant.save();
  const code = new provider.AuthorizationCode({
    ...{ accountId, client, grantId, gty: 'authorization_code', scope: SCOPE, redirectUri: redirect_uri },
    ...{ codeChallenge: challenge, codeChallengeMethod: 'S256', expiresWithSession: false },
    ...(format === 'jwt' && { resource: AUDIENCE }),
  });
  return code.save();
}

answer(
  { port },
  {
    async mint_codes({ count, verifier }) {
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const codes = [];
      while (codes.length < count) {
        const step = Array.from({ length: Math.min(256, count - codes.length) }, () => mintCode(challenge));
        codes.push(...(await Promise.all(step)));
      }
      return codes;
    },
    async stop() {
      server.closeAllConnections();
      redis.disconnect();
    },
  },
);
