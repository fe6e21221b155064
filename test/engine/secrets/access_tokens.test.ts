import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { type CryptoKey, decodeJwt, decodeProtectedHeader, importJWK, jwtVerify } from 'jose';
import t from 'tap';
import type { Issuer } from '../../../src/domain/audiences.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { type AccessClaims, AccessTokens } from '../../../src/engine/secrets/access_tokens.js';
import { StoreUnavailable } from '../../../src/engine/store/store.js';
import { START_MS } from '../../fixtures/decisions.js';

const URLS: Record<Issuer, string> = { base: 'https://spool.test', legacy: 'https://old.test' };
const KID = 'k'.repeat(43);
const ID = '019470a0-1111-7222-8333-444400000007';
const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const public_jwk = createPublicKey(key).export({ format: 'jwk' });

const claims: AccessClaims = {
  grant_id: ID.replace('1111', '2222'),
  generation: 3,
  account_id: ID,
  client_id: 'svc-web',
  scopes: ['events:read', 'audio:read'],
  audience: 'api',
  issuer: 'base',
  verified_at_ms: START_MS - 60_000,
  issued_at_ms: START_MS,
  expires_at_ms: START_MS + LIMITS.oauth_access_life_ms,
};

function world() {
  const state = { now_ms: START_MS, looks: 0, is_away: false };
  const tokens = new AccessTokens({
    signing_keys: {
      signer: async () => ({ kid: KID, key }),
      async verifier(kid) {
        state.looks += 1;
        if (state.is_away) throw new StoreUnavailable('away');
        return kid === KID ? ((await importJWK(public_jwk, 'ES256')) as CryptoKey) : null;
      },
    },
    now: () => state.now_ms,
    issuerUrl: (issuer) => URLS[issuer],
  });
  return { state, tokens };
}

/** A token as somebody else might make it. */
function forge(changes: { header?: object; payload?: object; key?: KeyObject; signature?: string }, genuine: string) {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = encode({ ...decodeProtectedHeader(genuine), ...changes.header });
  const text = `${header}.${encode({ ...decodeJwt(genuine), ...changes.payload })}`;
  const own = sign('sha256', Buffer.from(text), { key: changes.key ?? key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${changes.signature ?? own.toString('base64url')}`;
}

t.test('a token says what RFC 9068 asks for, and what was put in comes out', async (t) => {
  const { tokens } = world();
  for (const [audience, issuer, aud] of [
    ['api', 'base', 'https://spool.test'],
    ['mcp', 'base', 'https://spool.test/mcp'],
    ['api', 'legacy', 'https://old.test'],
    ['mcp', 'legacy', 'https://old.test/mcp'],
  ] as const) {
    const token = await tokens.issue({ ...claims, audience, issuer });
    const { payload, protectedHeader } = await jwtVerify(token, await importJWK(public_jwk, 'ES256'), {
      currentDate: new Date(START_MS),
    });
    t.same(protectedHeader, { alg: 'ES256', typ: 'at+jwt', kid: KID });
    t.match(payload, {
      iss: URLS[issuer],
      aud,
      sub: ID,
      client_id: 'svc-web',
      scope: 'events:read audio:read',
      iat: START_MS / 1_000,
      exp: START_MS / 1_000 + 3_600,
      auth_time: START_MS / 1_000 - 60,
      jti: /^[\w-]{22}$/,
    });
    for (const time of ['first', 'again'])
      t.same(await tokens.verify(token, issuer), { ...claims, audience, issuer }, time);
    t.equal(await tokens.verify(token, issuer === 'base' ? 'legacy' : 'base'), null, 'the other address');
  }
  t.same(await tokens.verify(await tokens.issue({ ...claims, scopes: [] }), 'base'), { ...claims, scopes: [] });
  t.not(await tokens.issue(claims), await tokens.issue(claims), 'no two are alike');
});

t.test('a token ends with its hour, remembered or not', async (t) => {
  const { state, tokens } = world();
  const [known, fresh] = [await tokens.issue(claims), await tokens.issue(claims)];
  t.ok(await tokens.verify(known, 'base'));
  t.ok(await tokens.verify(known, 'base'));
  t.equal(state.looks, 1, 'a signature is checked once');
  state.now_ms = claims.expires_at_ms - 1;
  t.ok(await tokens.verify(known, 'base'));
  state.now_ms = claims.expires_at_ms;
  t.equal(await tokens.verify(known, 'base'), null);
  t.equal(await tokens.verify(known, 'base'), null);
  t.equal(await tokens.verify(fresh, 'base'), null);
});

t.test('what we did not make is nothing, whatever it looks like', async (t) => {
  const { tokens } = world();
  const genuine = await tokens.issue(claims);
  const [head = '', body = '', tail = ''] = genuine.split('.');
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const pem = createPublicKey(key).export({ format: 'pem', type: 'spki' });
  const hs256 = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'at+jwt', kid: KID })).toString('base64url');
  t.ok(await tokens.verify(forge({}, genuine), 'base'), 'the forger can make a good one');
  for (const [says, token] of Object.entries({
    empty: '',
    garbage: 'garbage',
    dots: '..',
    'unsigned part missing': `${head}.${body}`,
    'no signature': `${head}.${body}.`,
    'another signature': forge({ key: other }, genuine),
    'a DER signature': forge(
      { signature: sign('sha256', Buffer.from(`${head}.${body}`), key).toString('base64url') },
      genuine,
    ),
    'changed content': `${head}.${Buffer.from(JSON.stringify({ ...decodeJwt(genuine), sub: ID.replace('7222', '7333') })).toString('base64url')}.${tail}`,
    'alg none': forge({ header: { alg: 'none' }, signature: '' }, genuine),
    'alg none in capitals': forge({ header: { alg: 'NONE' }, signature: '' }, genuine),
    'HS256 with the public key': `${hs256}.${body}.${createHmac('sha256', pem).update(`${hs256}.${body}`).digest('base64url')}`,
    ES384: forge({ header: { alg: 'ES384' } }, genuine),
    'an ordinary JWT': forge({ header: { typ: 'JWT' } }, genuine),
    'no type': forge({ header: { typ: undefined } }, genuine),
    'unknown key': forge({ header: { kid: 'u'.repeat(43) } }, genuine),
    'no key': forge({ header: { kid: undefined } }, genuine),
    'its own key': forge({ header: { kid: undefined, jwk: public_jwk } }, genuine),
    'a demand we do not know': forge({ header: { crit: ['x'], x: 1 } }, genuine),
    'other issuer': forge({ payload: { iss: 'https://spool.test/' } }, genuine),
    'other audience': forge({ payload: { aud: 'https://spool.test/mcp-other' } }, genuine),
    'several audiences': forge({ payload: { aud: ['https://spool.test', 'https://x.test'] } }, genuine),
    'no end': forge({ payload: { exp: undefined } }, genuine),
    'no grant': forge({ payload: { grant: undefined } }, genuine),
    'account of another form': forge({ payload: { sub: 'me' } }, genuine),
    'generation of another form': forge({ payload: { generation: '3' } }, genuine),
    oversize: forge({ payload: { more: 'x'.repeat(4_096) } }, genuine),
  }))
    t.equal(await tokens.verify(token, 'base'), null, says);
});

t.test('storage away: remembered tokens stay good, others are neither good nor bad', async (t) => {
  const { state, tokens } = world();
  const [known, fresh] = [await tokens.issue(claims), await tokens.issue(claims)];
  await tokens.verify(known, 'base');
  state.is_away = true;
  t.ok(await tokens.verify(known, 'base'));
  await t.rejects(tokens.verify(fresh, 'base'), StoreUnavailable);
  t.equal(await tokens.verify('garbage', 'base'), null, 'to tell garbage takes no storage');
});
