import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import {
  type SigningKey,
  type SigningKeysMessage,
  type SigningKeysState,
  signingKeyAt,
  signingKeys,
} from '../../../actors/oauth/signing_keys.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { encodeStored } from '../../../src/engine/store/codec.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: signingKeys, self: 'oauth' };
const AHEAD_MS = LIMITS.signing_key_published_ahead_ms;
const KEPT_MS = LIMITS.oauth_access_life_ms + 5 * 60_000;

const made = (kid: string): Pick<SigningKey, 'kid' | 'public_jwk' | 'sealed_private'> => ({
  kid,
  public_jwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' },
  sealed_private: Buffer.from(kid),
});
const keyOf = (kid: string, signs_from_ms: number, made_at_ms = signs_from_ms): SigningKey => ({
  ...made(kid),
  made_at_ms,
  signs_from_ms,
});
const stateOf = (...keys: SigningKey[]): SigningKeysState => ({ keys });
const add = (
  kid: string,
  expected_newest_kid: string | null,
  signs_from: 'now' | 'later' = 'now',
): SigningKeysMessage => ({ type: 'add', key: made(kid), signs_from, expected_newest_kid });
const dropAt = (at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'drop_dead',
  at_ms,
  message: { type: 'drop_dead' },
});

const a = keyOf('a', START_MS);
const replaced_at_ms = START_MS + 1_000;
const a_b = stateOf(a, keyOf('b', replaced_at_ms));

t.test('signing keys, message by message', (t) => {
  const pending = keyOf('b', START_MS + AHEAD_MS, START_MS);
  decideRows(t, kind, [
    { says: 'nothing yet', state: null, message: { type: 'view' }, reply: stateOf() },
    {
      says: 'the first key signs at once, whatever was meant',
      state: null,
      message: add('a', null, 'later'),
      reply: stateOf(a),
      next: stateOf(a),
    },
    {
      says: 'another process was first with the first key',
      state: stateOf(a),
      message: add('b', null),
      reply: stateOf(a),
    },
    { says: 'the same again', state: a_b, message: add('b', 'a'), reply: a_b },
    {
      says: 'by age: published before it signs',
      state: stateOf(a),
      message: add('b', 'a', 'later'),
      reply: stateOf(a, pending),
      next: stateOf(a, pending),
      effects: [dropAt(START_MS + AHEAD_MS + KEPT_MS)],
    },
    {
      says: 'by command, while one by age waits: the older are replaced from now on',
      state: stateOf(a, pending),
      message: add('c', 'b'),
      reply: stateOf(a, pending, keyOf('c', START_MS)),
      next: stateOf(a, pending, keyOf('c', START_MS)),
      effects: [dropAt(START_MS + KEPT_MS)],
    },
    {
      says: 'kept while a token of it may live',
      state: a_b,
      message: { type: 'view' },
      now_ms: replaced_at_ms + KEPT_MS - 1,
      reply: a_b,
    },
    {
      says: 'not shown once none can',
      state: a_b,
      message: { type: 'view' },
      now_ms: replaced_at_ms + KEPT_MS,
      reply: stateOf(...a_b.keys.slice(1)),
    },
    {
      says: 'reminded too early',
      state: a_b,
      message: { type: 'drop_dead' },
      now_ms: replaced_at_ms + KEPT_MS - 1,
      reply: a_b,
    },
    {
      says: 'dropped, with its sealed private key',
      state: a_b,
      message: { type: 'drop_dead' },
      now_ms: replaced_at_ms + KEPT_MS,
      reply: stateOf(...a_b.keys.slice(1)),
      next: stateOf(...a_b.keys.slice(1)),
    },
    {
      says: 'too many are alive',
      state: stateOf(...Array.from({ length: 16 }, (_, n) => keyOf(`k${n}`, START_MS))),
      message: add('a', 'k15'),
      reply: { refused: 'CONFLICT' },
    },
  ]);
  t.end();
});

t.test('at any time exactly one key signs, and every key outlives what it signed', (t) => {
  const message = fc.oneof(
    fc.record({ later: fc.boolean(), stale: fc.boolean() }),
    fc.constant<SigningKeysMessage>({ type: 'drop_dead' }),
  );
  const passes_ms = [1, 60_000, LIMITS.oauth_access_life_ms, KEPT_MS, AHEAD_MS, LIMITS.signing_key_life_ms];
  checkPlays(t, { plays: anyPlay(message, passes_ms), runs: 300 }, (steps) => {
    const played = new Played(signingKeys, 'oauth');
    const tokens: { kid: string; expires_at_ms: number }[] = [];
    let count = 0;
    for (const step of steps) {
      if ('pass' in step) played.pass(step.pass);
      else if ('type' in step.send) played.send(step.send);
      else {
        const newest = played.ask({ type: 'view' }).keys.at(-1)?.kid ?? null;
        const { reply, next } = played.send(
          add(`k${++count}`, step.send.stale ? 'nobody' : newest, step.send.later ? 'later' : 'now'),
        );
        if (step.send.stale && next !== undefined) throw new Error('added over another process');
        if (!isRefusal(reply) && !step.send.stale && reply.keys.at(-1)?.kid !== `k${count}`)
          throw new Error('it was not added');
      }
      const { keys } = played.ask({ type: 'view' });
      for (const { kid, expires_at_ms } of tokens)
        if (played.now_ms < expires_at_ms && !keys.some((key) => key.kid === kid))
          throw new Error('a token outlives its key');
      if (keys.length === 0) continue;
      const signing = signingKeyAt(keys, played.now_ms);
      if (signing === null) throw new Error('nothing signs');
      tokens.push({ kid: signing.kid, expires_at_ms: played.now_ms + LIMITS.oauth_access_life_ms });
      if (keys.length > 16 || encodeStored(played.state).length > 4_000) throw new Error('it grows');
    }
  });
  t.end();
});
