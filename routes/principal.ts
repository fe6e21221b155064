import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { AccountMessage, AccountView } from '../actors/account.js';
import type { AppSession, AppSessionMessage } from '../actors/app_session.js';
import { isGenuine, parseToken } from '../src/secrets/tokens.js';
import type { Services } from '../src/services.js';
import type { Guard } from '../src/store/store.js';
import type { Permission } from '../src/vocabulary/permissions.js';
import { isRefusal, type Refusal, refuse } from '../src/vocabulary/refusals.js';

/** Who calls an account route, as of this request. */
export type Principal = {
  kind: 'app_session' | 'oauth';
  credential_id: string;
  account_id: string;
  account: AccountView;
  permissions: readonly Permission[];
  /** When the emailed code behind the credential was entered. */
  verified_at_ms: number;
  /** Hold every commit made for this credential to the lives it was authorised under. */
  guards: Guard[];
};

const REMEMBERED_MAX = 50_000;
const NO_TOKEN = refuse('UNAUTHORIZED', 'This route needs an Authorization header with a bearer token.');
const BAD_TOKEN = refuse('UNAUTHORIZED', 'The token is unknown, expired or revoked.');

/** Tokens found genuine, by hash: only that they are ours. That they still hold is asked with every request. */
const genuine = new LRUCache<string, { session_id: string; serial: number }>({ max: REMEMBERED_MAX });

/** The caller behind the Authorization header, or why there is none. */
export async function principalOf(services: Services, request: FastifyRequest): Promise<Principal | Refusal> {
  const header = request.headers.authorization;
  if (header === undefined) return NO_TOKEN;
  const token = /^Bearer +([\x21-\x7e]{1,4096})$/i.exec(header)?.[1];
  if (token === undefined) return NO_TOKEN;
  return token.startsWith('sps_') ? appSessionPrincipal(services, token) : BAD_TOKEN;
}

async function appSessionPrincipal({ keys, runtime }: Services, token: string): Promise<Principal | Refusal> {
  const key = hash('sha256', token, 'base64');
  let known = genuine.get(key);
  if (known === undefined) {
    const parsed = parseToken('app_access', token);
    if (parsed === null) return BAD_TOKEN;
    const message: AppSessionMessage = { type: 'secret' };
    const session = await runtime.ask<AppSession>({ kind: 'app_session', id: parsed.id }, message);
    if (isRefusal(session)) return session;
    if (!isGenuine(keys, 'app_access', parsed, session)) return BAD_TOKEN;
    known = { session_id: parsed.id, serial: parsed.counter };
    genuine.set(key, known);
  }
  const use: AppSessionMessage = { type: 'use', serial: known.serial };
  const session = await runtime.ask<AppSession>({ kind: 'app_session', id: known.session_id }, use);
  if (isRefusal(session)) return session;
  const view: AccountMessage = { type: 'view' };
  const account = await runtime.ask<AccountView>({ kind: 'account', id: session.account_id }, view);
  if (isRefusal(account)) return account;
  if (session.born.app_sessions !== account.lives.app_sessions) return BAD_TOKEN;
  const { account_id } = session;
  return {
    kind: 'app_session',
    credential_id: known.session_id,
    account_id,
    account,
    permissions: account.permissions,
    verified_at_ms: session.verified_at_ms,
    guards: [
      { guard: 'life', account_id, life: 'account', value: account.lives.account },
      { guard: 'life', account_id, life: 'app_sessions', value: session.born.app_sessions },
    ],
  };
}
