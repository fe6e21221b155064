import type { Audience, Issuer } from '../../src/domain/audiences.js';
import { LIMITS } from '../../src/domain/limits.js';
import { invalidScope, type OauthError, oauthError } from '../../src/domain/oauth_errors.js';
import { refuse } from '../../src/domain/refusals.js';
import { areEqualScopes, isWithin } from '../../src/domain/scopes.js';
import { type Decision, defineActor, type Effect, type Facts, type MessageOf } from '../actor.js';
import { type Erase, erased } from '../erase.js';
import { CANCEL_EXPIRY, scheduleExpiry } from '../expiry.js';

/**
 * An account's grant to one installation of a client: first an authorization code, then, once that was
 * exchanged, refresh tokens one after the other. Code and tokens are derived from the server key, this grant, a counter
 * and `seed` (docs/areas.md, "Refresh tokens"): what is kept here is worth nothing without the key.
 */
export type Grant = NewGrant & { created_at_ms: number; stage: CodeStage | LiveStage };

export type NewGrant = {
  account_id: string;
  client_id: string;
  /** The installation's label, or else the client's name. */
  name: string;
  /** The scopes that the client requested. */
  scopes: string[];
  audience: Audience;
  issuer: Issuer;
  seed: Uint8Array;
  key_id: string;
  /** The credential epochs of the account and of its grants that it was issued under. */
  issued_under: { account: number; grants: number };
  /** When the emailed code behind it was entered; refreshing does not renew it. */
  verified_at_ms: number;
  /** The challenge and redirect URI that the exchange of the code must prove; null for native sign-in. */
  code: { challenge: string; redirect_uri: string | null };
};

type CodeStage = { status: 'code' };

export type LiveStage = {
  status: 'live';
  /** Null for a grant that was imported from an earlier system. */
  exchanged_at_ms: number | null;
  /** Counts refresh tokens; the present one is `generation`. */
  generation: number;
  turned_at_ms: number;
  /** Whether a token of the present generation was used. */
  successor_used: boolean;
  /** The narrower scopes that the present generation was asked for; a retry must ask for the same. */
  asked: Narrowing;
};

/** The scopes that a client asks for at most; null for all granted ones. */
export type Narrowing = { scopes: string[] | null; audience: Audience | null };

export type LiveGrant = Grant & { stage: LiveStage };

export type GrantMessage = MessageOf<typeof grant>;

/** The tokens to make: their scopes and audience, in the grant's present generation. */
export type IssuedGrant = { grant: LiveGrant; scopes: string[]; audience: Audience };

const ENDED = refuse('UNAUTHORIZED', 'The grant has ended.');
/** One text for every fault of a code, and one for every fault of a refresh token, so that guessing reveals nothing. */
export const NO_CODE = oauthError(
  'invalid_grant',
  'The authorization code is unknown, used, expired or not for this request.',
);
export const NO_TOKEN = oauthError(
  'invalid_grant',
  'The refresh token is unknown, used, expired or not for this request.',
);
const WIDER_AUDIENCE = oauthError('invalid_target', 'The resource is more than what was granted.');

export const grant = defineActor<Grant>()({
  kind: 'grant',
  home: 'id',
  schema: 1,
  messages: {
    open(state, { grant }: { grant: NewGrant }, { now_ms }) {
      if (state !== null) return { reply: state };
      const next: Grant = { ...grant, created_at_ms: now_ms, stage: { status: 'code' } };
      return { reply: next, next, effects: [scheduleExpiry(now_ms + LIMITS.oauth_code_life_ms)] };
    },

    /** Imported from an earlier system; the client has the first refresh token already. */
    bring_in(state, { grant, created_at_ms }: { grant: NewGrant; created_at_ms: number }, facts) {
      if (state !== null) return { reply: state };
      const { now_ms } = facts;
      const next: Grant = { ...grant, created_at_ms, stage: firstLive({ exchanged_at_ms: null, now_ms }) };
      const effects = [listed(next, facts), scheduleExpiry(now_ms + LIMITS.oauth_refresh_life_ms)];
      return { reply: next, next, effects };
    },

    view: {
      reads: true,
      decide: (state, _: unknown, { now_ms }) => ({
        reply: state === null || hasRunOut(state, now_ms) ? ENDED : state,
      }),
    },

    /** A caller presented an access token of this generation, which was verified. */
    use: {
      reads: true,
      decide(state, { generation }: { generation: number }, { now_ms }): Decision<Grant, Grant> {
        if (state === null || !isLive(state) || hasRunOut(state, now_ms)) return { reply: ENDED };
        const { stage } = state;
        if (stage.successor_used || generation !== stage.generation) return { reply: state };
        const next = { ...state, stage: { ...stage, successor_used: true } };
        return { reply: next, next };
      },
    },

    /** A client presented the code. */
    exchange(state, { client_id, challenge, redirect_uri, asked }: Exchange, facts): TokenDecision {
      const { now_ms } = facts;
      if (state === null || state.client_id !== client_id) return { reply: NO_CODE };
      const matches = challenge === state.code.challenge && redirect_uri === state.code.redirect_uri;
      if (isLive(state)) {
        const { exchanged_at_ms } = state.stage;
        if (exchanged_at_ms === null || !matches) return { reply: NO_CODE };
        const harmless = now_ms < exchanged_at_ms + LIMITS.oauth_code_replay_harmless_ms;
        // Two hold the code and the verifier: nobody knows which is the thief, so the grant ends.
        return harmless ? { reply: NO_CODE } : { reply: NO_CODE, ...ended(state, facts) };
      }
      if (hasRunOut(state, now_ms) || !matches) return { reply: NO_CODE };
      const wider = widerThan(state, asked);
      if (wider !== null) return { reply: wider };
      const next = { ...state, stage: firstLive({ exchanged_at_ms: now_ms, now_ms }) };
      const effects = [listed(next, facts), scheduleExpiry(now_ms + LIMITS.oauth_refresh_life_ms)];
      return { reply: issued(next, asked), next, effects };
    },

    /** A client presented the refresh token of this generation. */
    refresh(state, { client_id, generation, asked }: Refresh, facts): TokenDecision {
      const { now_ms } = facts;
      if (state === null || !isLive(state) || state.client_id !== client_id) return { reply: NO_TOKEN };
      const { stage } = state;
      if (hasRunOut(state, now_ms) || generation < 1 || generation > stage.generation) return { reply: NO_TOKEN };
      if (generation < stage.generation) {
        // An old refresh token in two hands: nobody knows which is the thief's, so the grant ends.
        if (!isRetry(stage, generation, now_ms)) return { reply: NO_TOKEN, ...ended(state, facts) };
        // A lost answer, or a client that refreshes in parallel, must not sign anybody out: the same successor again.
        return { reply: sameNarrowing(asked, stage.asked) ? issued(state, asked) : NO_TOKEN };
      }
      const wider = widerThan(state, asked);
      if (wider !== null) return { reply: wider };
      const turned = { generation: generation + 1, turned_at_ms: now_ms, successor_used: false, asked };
      const next = { ...state, stage: { ...stage, ...turned } };
      return { reply: issued(next, asked), next, effects: [scheduleExpiry(now_ms + LIMITS.oauth_refresh_life_ms)] };
    },

    revoke: (state, { by }: { by: Revoker }, facts): Decision<Grant, { revoked: boolean }> =>
      state === null || !mayRevoke(state, by)
        ? { reply: { revoked: false } }
        : { reply: { revoked: true }, ...ended(state, facts) },

    run_out: (state, _: unknown, facts): Decision<Grant, { revoked: boolean }> =>
      state === null ? { reply: { revoked: false } } : { reply: { revoked: true }, ...ended(state, facts) },

    erase: (_, input: Erase, { self }) => erased(input, { member: self, effects: [CANCEL_EXPIRY] }),
  },
});

type TokenDecision = Decision<Grant, IssuedGrant | OauthError>;
/** `challenge`: computed from the verifier. */
type Exchange = { client_id: string; challenge: string; redirect_uri: string | null; asked: Narrowing };
type Refresh = { client_id: string; generation: number; asked: Narrowing };
/** Its client, or its account under the present credential epoch of its grants. */
type Revoker = { client_id: string } | { account_id: string; grants_epoch: number };

function listed({ account_id, issued_under, created_at_ms }: Grant, { self }: Facts): Effect {
  const index = grantIndex(issued_under.grants);
  return { effect: 'add_to_index', owner: account_id, index, member: self, order: created_at_ms };
}

/** A grant is on no index before its code is exchanged. */
function ended(state: Grant, { self }: Facts): { next: null; effects: Effect[] } {
  const { account_id, issued_under } = state;
  const index = grantIndex(issued_under.grants);
  const unlisted: Effect = { effect: 'remove_from_index', owner: account_id, index, member: self };
  return { next: null, effects: [...(isLive(state) ? [unlisted] : []), CANCEL_EXPIRY] };
}

function isRetry({ generation: present, turned_at_ms, successor_used }: LiveStage, shown: number, now_ms: number) {
  const since_turn_ms = now_ms - turned_at_ms;
  const in_time =
    since_turn_ms < LIMITS.refresh_retry_ms || (!successor_used && since_turn_ms < LIMITS.refresh_retry_unused_ms);
  return shown === present - 1 && in_time;
}

/** The index of an account's grants under a credential epoch: what ends all grants leaves an empty index behind. */
export function grantIndex(grants_epoch: number): string {
  return `grants:${grants_epoch}`;
}

/** The first refresh token has no predecessor that could be reused. */
function firstLive({ exchanged_at_ms, now_ms }: { exchanged_at_ms: number | null; now_ms: number }): LiveStage {
  const asked: Narrowing = { scopes: null, audience: null };
  return { status: 'live', exchanged_at_ms, generation: 1, turned_at_ms: now_ms, successor_used: true, asked };
}

export function isLive(state: Grant): state is LiveGrant {
  return state.stage.status === 'live';
}

function hasRunOut({ stage, created_at_ms }: Grant, now_ms: number): boolean {
  if (stage.status === 'code') return now_ms >= created_at_ms + LIMITS.oauth_code_life_ms;
  return now_ms >= stage.turned_at_ms + LIMITS.oauth_refresh_life_ms;
}

function mayRevoke(state: Grant, by: Revoker): boolean {
  if ('client_id' in by) return state.client_id === by.client_id;
  return isLive(state) && state.account_id === by.account_id && state.issued_under.grants === by.grants_epoch;
}

/** Both may only narrow (RFC 6749, 6; RFC 8707, 2.2). */
function widerThan({ scopes, audience }: Grant, asked: Narrowing): OauthError | null {
  if (asked.audience === 'api' && audience === 'mcp') return WIDER_AUDIENCE;
  const wider = (asked.scopes ?? []).filter((scope) => !isWithin(scopes, scope));
  return wider.length === 0 ? null : invalidScope(wider, 'was not granted');
}

function issued(state: LiveGrant, asked: Narrowing): IssuedGrant {
  return { grant: state, scopes: asked.scopes ?? state.scopes, audience: asked.audience ?? state.audience };
}

function sameNarrowing(a: Narrowing, b: Narrowing): boolean {
  if (a.scopes === null || b.scopes === null) return a.audience === b.audience && a.scopes === b.scopes;
  return a.audience === b.audience && areEqualScopes(a.scopes, b.scopes);
}
