import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type SigningKeysMessage, signingKeys } from '../../../actors/oauth/signing_keys.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { refuse } from '../../../src/domain/refusals.js';
import { actorsOf } from '../../../src/engine/runtime/actors.js';
import type { Runtime } from '../../../src/engine/runtime/runtime.js';
import { openServerKeys } from '../../../src/engine/secrets/server_keys.js';
import { SigningKeys } from '../../../src/engine/secrets/signing_keys.js';
import { Played } from '../../fixtures/decisions.js';
import { jsonOf, OauthApp, type Tokens } from '../../fixtures/oauth.js';
import { TestRedis } from '../../fixtures/redis.js';
import { TestSpool } from '../../fixtures/spool.js';

const MINUTE_MS = 60_000;
const FRESH_MS = 3_000;
const AHEAD_MS = LIMITS.signing_key_published_ahead_ms;

/** Processes that share one store, which can be away, and one clock. */
class World {
  readonly played = new Played(signingKeys, 'oauth');
  is_away = false;
  asks = 0;

  private constructor(readonly server_keys: Awaited<ReturnType<typeof openServerKeys>>) {}

  static async open(t: Test): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'spool-keys-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    return new World(await openServerKeys(folder));
  }

  process(): SigningKeys {
    const ask = async (_address: unknown, message: SigningKeysMessage) => {
      this.asks += 1;
      await Promise.resolve();
      return this.is_away ? refuse('UNAVAILABLE', 'away') : this.played.send(message).reply;
    };
    return new SigningKeys({
      actors: actorsOf({ ask, askDownstream: ask } as unknown as Runtime),
      keys: this.server_keys,
      now: () => this.played.now_ms,
    });
  }
}

const kidOf = async (keys: SigningKeys) => (await keys.signer()).kid;
const published = async (keys: SigningKeys) => (await keys.published()).map(({ kid }) => kid);
const rotate = async (keys: SigningKeys) => {
  return (await keys.rotate()).kid;
};

t.test('of two processes that begin at once one makes the first key', async (t) => {
  const world = await World.open(t);
  const [one, two] = [world.process(), world.process()];
  const [a, b] = await Promise.all([kidOf(one), kidOf(two)]);
  t.equal(a, b);
  t.same(await published(two), [a]);
  t.match(await one.published(), [{ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256', kid: /^[\w-]{43}$/ }]);
  t.notOk('d' in ((await one.published())[0] as object), 'no private part is published');
  const sealed = Buffer.from(world.played.state?.keys[0]?.sealed_private ?? []).toString('latin1');
  t.notMatch(sealed, /"d":/);
});

t.test('by command: signs at once, the other process knows it with the first token it sees', async (t) => {
  const world = await World.open(t);
  const [one, two] = [world.process(), world.process()];
  const first = await kidOf(one);
  await kidOf(two);
  const second = await rotate(one);
  t.not(second, first);
  t.equal(await kidOf(one), second);
  t.equal(await kidOf(two), first, 'has not looked yet');
  t.ok(await two.verifier(second), 'asked for it, it looks');
  t.equal(await kidOf(two), second);
  t.ok(await two.verifier(first), 'tokens of the one before go on');
  world.played.pass(LIMITS.oauth_access_life_ms + 5 * MINUTE_MS - 1);
  t.same(await published(two), [first, second]);
  world.played.pass(FRESH_MS);
  t.same(await published(two), [second]);
  t.equal(world.played.state?.keys.length, 1, 'the private key is gone from storage');
  t.equal(await two.verifier(first), null);
});

t.test('both rotate at once: each command ends with a key of its own that signed', async (t) => {
  const world = await World.open(t);
  const [one, two] = [world.process(), world.process()];
  await Promise.all([kidOf(one), kidOf(two)]);
  const made = await Promise.all([rotate(one), rotate(two)]);
  t.equal(new Set(made).size, 2);
  world.played.pass(FRESH_MS);
  t.equal(await kidOf(one), await kidOf(two));
  t.ok(made.includes(await kidOf(one)));
});

t.test('by age: a successor is published a day before it signs', async (t) => {
  const world = await World.open(t);
  const [one, two] = [world.process(), world.process()];
  const first = await kidOf(one);
  world.played.pass(LIMITS.signing_key_life_ms - AHEAD_MS - 1);
  t.same(await published(one), [first]);
  world.played.pass(FRESH_MS);
  await Promise.all([one.published(), two.published()]);
  const [, second] = await published(one);
  t.same(await published(two), [first, second]);
  t.same([await kidOf(one), await kidOf(two)], [first, first]);
  world.played.pass(AHEAD_MS);
  t.same([await kidOf(one), await kidOf(two)], [second, second]);
  t.same(await published(one), [first, second], 'no third one yet');
});

t.test('unknown names: one look for all of them, a second apart, and none for the impatient', async (t) => {
  const world = await World.open(t);
  const keys = world.process();
  await kidOf(keys);
  world.asks = 0;
  const strange = await Promise.all(Array.from({ length: 1_000 }, (_, n) => keys.verifier(`strange ${n}`)));
  t.ok(strange.every((key) => key === null));
  t.equal(world.asks, 1);
  const many = await Promise.allSettled(Array.from({ length: 1_001 }, (_, n) => keys.verifier(`strange ${n}`)));
  t.equal(many.filter(({ status }) => status === 'rejected').length, 1);
});

t.test('storage away: known keys sign for minutes and verify for ever, unknown ones are not denied', async (t) => {
  const world = await World.open(t);
  const keys = world.process();
  const kid = await kidOf(keys);
  world.is_away = true;
  world.played.pass(FRESH_MS);
  t.equal(await kidOf(keys), kid);
  t.same(await published(keys), [kid]);
  await t.rejects(keys.verifier('unknown'), { name: 'Refused', code: 'UNAVAILABLE' });
  await t.rejects(keys.rotate(), { name: 'Refused', code: 'UNAVAILABLE' });
  await t.rejects(
    kidOf(world.process()),
    { name: 'Refused', code: 'UNAVAILABLE' },
    'a process that never saw a key makes none up',
  );
  world.played.pass(5 * MINUTE_MS);
  await t.rejects(keys.signer(), { name: 'Refused', code: 'UNAVAILABLE' });
  t.ok(await keys.verifier(kid));
  world.is_away = false;
  t.equal(await kidOf(keys), kid);
});

t.test('a key under other server keys is a fault, not a reason for a new one', async (t) => {
  const [world, other] = [await World.open(t), await World.open(t)];
  await kidOf(world.process());
  const keys = new SigningKeys({
    actors: actorsOf({ ask: async () => world.played.send({ type: 'view' }).reply } as unknown as Runtime),
    keys: other.server_keys,
    now: () => world.played.now_ms,
  });
  await t.rejects(keys.signer(), /server keys/);
});

t.test("two servers on one Redis take each other's tokens through a rotation", async (t) => {
  const redis = await new TestRedis().start({ port: true });
  const keys_folder = mkdtempSync(join(tmpdir(), 'spool-keys-'));
  const env = { REDIS_URL: redis.url, KEYS_DIR: keys_folder, BASE_URL: 'http://spool.test', RATE_LIMITS: 'off' };
  const one = await TestSpool.start(env);
  const app = new OauthApp(one, { client_id: 'svc-ios' });
  // Before the other one is there: it might send the mails, and keep them in its own folder.
  const first = [await app.signInNatively('two@x.test'), await app.signInNatively('two@x.test')];
  const two = await TestSpool.start(env);
  t.teardown(async () => {
    await Promise.all([one.end(), two.end()]);
    await redis.stop();
    rmSync(keys_folder, { recursive: true, force: true });
  });
  const grants = new Map(
    [one, two].map((spool, index) => [
      spool,
      { app: new OauthApp(spool, { client_id: 'svc-ios' }), refresh_token: first[index]?.refresh_token ?? '' },
    ]),
  );
  /** Signed by this server: one grant of its own, refreshed. */
  const token = async (at: TestSpool) => {
    const grant = grants.get(at);
    if (grant === undefined) throw new Error('no grant');
    const tokens = jsonOf<Tokens>(await grant.app.refresh(grant.refresh_token));
    grant.refresh_token = tokens.refresh_token;
    return tokens.access_token;
  };
  const status = async (at: TestSpool, bearer: string) => {
    const client = at.client();
    client.access_token = bearer;
    return (await client.send('GET', '/me')).status;
  };
  const before = [await token(one), await token(two)];
  for (const bearer of before) t.same([await status(one, bearer), await status(two, bearer)], [200, 200]);
  for (const [here, there] of [
    [one, two],
    [two, one],
    [one, two],
  ] as const) {
    await here.operator.ask('POST', '/ops/keys/rotate');
    const tokens: string[] = [];
    while (tokens.length < 5) tokens.push(await token(here));
    t.same(await Promise.all(tokens.map((bearer) => status(there, bearer))), [200, 200, 200, 200, 200]);
    t.equal(await status(here, await token(there)), 200);
  }
  for (const bearer of before) t.same([await status(one, bearer), await status(two, bearer)], [200, 200]);
});
