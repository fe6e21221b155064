import fc from 'fast-check';
import t from 'tap';
import type { Effect } from '../../../actors/actor.js';
import { CLIENT_INDEX, type ClientMessage, type ClientState, client } from '../../../actors/oauth/client.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { anyPlay, checkPlays, decideRows, Played, START_MS } from '../../fixtures/decisions.js';

const kind = { kind: client, self: 'a-client' };
const OVERLAP_MS = LIMITS.client_secret_overlap_ms;
const UNUSED_MS = LIMITS.client_unused_life_ms;
const TOUCH_MS = LIMITS.client_touch_every_ms;
const UNKNOWN = { refused: 'NOT_FOUND' } as const;

const made: ClientState = {
  origin: 'staff',
  secrets: [{ hash: 'first', until_ms: null }],
  registered_at_ms: START_MS,
  disabled_at_ms: null,
  last_used_at_ms: null,
};
const registered: ClientState = { ...made, origin: 'registered' };
const of_file: ClientState = { ...made, origin: 'file', secrets: [] };
const disabled: ClientState = { ...made, disabled_at_ms: START_MS - 1 };

const becomes = (next: ClientState) => ({ reply: { state: next }, next });
const ENLIST: Effect = { effect: 'add_to_index', ...CLIENT_INDEX, member: 'a-client', order: START_MS };
const DELIST: Effect = { effect: 'remove_from_index', ...CLIENT_INDEX, member: 'a-client' };
const unusedAt = (at_ms: number): Effect => ({
  effect: 'schedule_reminder',
  name: 'unused',
  at_ms,
  message: { type: 'unused' },
});
const rotate = (more: Partial<Extract<ClientMessage, { type: 'rotate_secret' }>> = {}): ClientMessage => ({
  type: 'rotate_secret',
  hash: 'next',
  at_once: false,
  file_hashes: null,
  ...more,
});

t.test('C-007 C-014 a client begins with its registration', async (t) => {
  decideRows(t, kind, [
    {
      says: 'by itself, with a secret',
      state: null,
      message: { type: 'register', origin: 'registered', secret_hash: 'first' },
      ...becomes(registered),
      effects: [ENLIST, unusedAt(START_MS + UNUSED_MS)],
    },
    {
      says: 'by staff, public',
      state: null,
      message: { type: 'register', origin: 'staff', secret_hash: null },
      ...becomes({ ...made, secrets: [] }),
      effects: [ENLIST],
    },
    { says: 'seen', state: made, message: { type: 'view' }, reply: { state: made } },
    { says: 'not there', state: null, message: { type: 'view' }, reply: { state: null } },
  ]);
  const played = new Played(client, 'a-client');
  played.state = made;
  t.throws(() => played.decide({ type: 'register', origin: 'staff', secret_hash: null }), 'registered once');
});

t.test('C-016 a secret gives way to another', async (t) => {
  const end_ms = START_MS + OVERLAP_MS;
  const next = { hash: 'next', until_ms: null };
  const many = Array.from({ length: LIMITS.client_secrets_max }, (_, index) => ({
    hash: `h${index}`,
    until_ms: end_ms,
  }));
  decideRows(t, kind, [
    {
      says: 'the one before works a while longer',
      state: made,
      message: rotate(),
      ...becomes({ ...made, secrets: [next, { hash: 'first', until_ms: end_ms }] }),
    },
    {
      says: 'or ends at once',
      state: made,
      message: rotate({ at_once: true }),
      ...becomes({ ...made, secrets: [next] }),
    },
    {
      says: 'no rotation makes an older one live longer; what has ended goes',
      state: {
        ...made,
        secrets: [
          { hash: 'first', until_ms: null },
          { hash: 'older', until_ms: START_MS + 1 },
          { hash: 'ended', until_ms: START_MS },
        ],
      },
      message: rotate(),
      ...becomes({
        ...made,
        secrets: [next, { hash: 'first', until_ms: end_ms }, { hash: 'older', until_ms: START_MS + 1 }],
      }),
    },
    {
      says: 'of many good ones the oldest gives way',
      state: { ...made, secrets: many },
      message: rotate(),
      ...becomes({ ...made, secrets: [next, ...many.slice(0, -1)] }),
    },
    {
      says: "those of the file end like any other's",
      state: null,
      message: rotate({ file_hashes: ['in the file', 'too'] }),
      ...becomes({
        ...of_file,
        secrets: [next, { hash: 'in the file', until_ms: end_ms }, { hash: 'too', until_ms: end_ms }],
      }),
    },
    {
      says: 'also when it was used before',
      state: of_file,
      message: rotate({ file_hashes: ['in the file'], at_once: true }),
      ...becomes({ ...of_file, secrets: [next] }),
    },
    {
      says: 'once rotated, the file has no more say',
      state: { ...of_file, secrets: [{ hash: 'first', until_ms: null }] },
      message: rotate({ file_hashes: ['in the file'] }),
      ...becomes({ ...of_file, secrets: [next, { hash: 'first', until_ms: end_ms }] }),
    },
    { says: 'not of one that is not there', state: null, message: rotate(), reply: UNKNOWN },
  ]);
});

t.test('disabled, enabled, used', async (t) => {
  const used_at = (at_ms: number) => ({ ...made, last_used_at_ms: at_ms });
  decideRows(t, kind, [
    {
      says: 'disabled',
      state: made,
      message: { type: 'disable', in_file: false },
      ...becomes({ ...made, disabled_at_ms: START_MS }),
    },
    { says: 'again', state: disabled, message: { type: 'disable', in_file: false }, reply: { state: disabled } },
    {
      says: 'one of the file',
      state: null,
      message: { type: 'disable', in_file: true },
      ...becomes({ ...of_file, disabled_at_ms: START_MS }),
    },
    { says: 'unknown', state: null, message: { type: 'disable', in_file: false }, reply: UNKNOWN },
    { says: 'enabled', state: disabled, message: { type: 'enable', in_file: false }, ...becomes(made) },
    { says: 'enabled again', state: made, message: { type: 'enable', in_file: false }, reply: { state: made } },
    { says: 'one of the file is', state: null, message: { type: 'enable', in_file: true }, reply: { state: null } },
    { says: 'unknown to enable', state: null, message: { type: 'enable', in_file: false }, reply: UNKNOWN },
    { says: 'used', state: made, message: { type: 'used', in_file: false }, ...becomes(used_at(START_MS)) },
    {
      says: 'used again on that day',
      state: used_at(START_MS - TOUCH_MS + 1),
      message: { type: 'used', in_file: false },
      reply: { state: used_at(START_MS - TOUCH_MS + 1) },
    },
    {
      says: 'used a day later',
      state: used_at(START_MS - TOUCH_MS),
      message: { type: 'used', in_file: false },
      ...becomes(used_at(START_MS)),
    },
    {
      says: 'one of the file used',
      state: null,
      message: { type: 'used', in_file: true },
      ...becomes({ ...of_file, last_used_at_ms: START_MS }),
    },
    { says: 'unknown used', state: null, message: { type: 'used', in_file: false }, reply: UNKNOWN },
  ]);
});

t.test('a client that registered itself ends when nobody uses it', async (t) => {
  decideRows(t, kind, [
    {
      says: 'never used',
      state: registered,
      now_ms: START_MS + UNUSED_MS,
      message: { type: 'unused' },
      reply: { state: null },
      next: null,
      effects: [DELIST],
    },
    {
      says: 'used meanwhile',
      state: { ...registered, last_used_at_ms: START_MS + 5 },
      now_ms: START_MS + UNUSED_MS,
      message: { type: 'unused' },
      reply: { state: { ...registered, last_used_at_ms: START_MS + 5 } },
      effects: [unusedAt(START_MS + 5 + UNUSED_MS)],
    },
    { says: 'ended before', state: null, message: { type: 'unused' }, reply: { state: null } },
  ]);
});

t.test('C-016 in any play, one secret is good without an end, and none that ended comes back', async (t) => {
  const message = fc.oneof(
    fc.record({
      type: fc.constant('rotate_secret' as const),
      hash: fc.uuid(),
      at_once: fc.boolean(),
      file_hashes: fc.constant(null),
    }),
    fc.constantFrom<ClientMessage>(
      { type: 'view' },
      { type: 'disable', in_file: false },
      { type: 'enable', in_file: false },
      { type: 'used', in_file: false },
    ),
  );
  const passes_ms = [1, OVERLAP_MS / 2, OVERLAP_MS, TOUCH_MS, UNUSED_MS / 2, UNUSED_MS];
  checkPlays(t, { plays: anyPlay(message, passes_ms), runs: 300 }, (steps) => {
    const played = new Played(client, 'a-client');
    played.send({ type: 'register', origin: 'registered', secret_hash: 'first' });
    const ended = new Set<string>();
    const seen = new Set<string>();
    for (const step of steps) {
      const used_at_ms = played.state?.last_used_at_ms ?? played.state?.registered_at_ms ?? 0;
      const lived = played.state !== null;
      if ('pass' in step) played.pass(step.pass);
      else played.send(step.send);
      const { state, now_ms } = played;
      if (state === null) {
        if (lived && now_ms < used_at_ms + UNUSED_MS) throw new Error('it ended before its time');
        continue;
      }
      if (!lived) throw new Error('it came back');
      const good = state.secrets.filter(({ until_ms }) => until_ms === null || now_ms < until_ms);
      const lasting = good.filter(({ until_ms }) => until_ms === null);
      if (lasting.length !== 1) throw new Error(`${lasting.length} secrets without an end`);
      if (state.secrets.length > LIMITS.client_secrets_max) throw new Error('too many secrets');
      for (const { hash } of good) if (ended.has(hash)) throw new Error('a secret came back');
      for (const { hash } of good) seen.add(hash);
      for (const hash of seen) if (!good.some((secret) => secret.hash === hash)) ended.add(hash);
    }
  });
});
