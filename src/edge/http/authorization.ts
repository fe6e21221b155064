import type { FastifyRequest } from 'fastify';
import { accessRefusal } from '../../access/access.js';
import { accountDeleted, type Principal, principalOf } from '../../access/principal.js';
import { isEnabled } from '../../domain/permissions.js';
import { isRefused, type Refusal, Refused, refuse } from '../../domain/refusals.js';
import { chooseAnswerFormat } from '../../engine/wire/media_types.js';
import { deviceIdentityOf } from '../admission/device_identity.js';
import { operatorCallerOf } from '../operations/operator_session.js';
import type { EdgeServices } from './edge_services.js';
import type { ListenerKind } from './request_state.js';
import type { Route } from './route.js';

const ONLY_APPS = refuse('FORBIDDEN', 'A personal access token can not do this; sign in with an app.');
const ONLY_OWN_APPS = refuse('FORBIDDEN', 'Only our own apps may do this.');
const NOT_FOR_MCP = refuse('FORBIDDEN', 'MCP takes OAuth access tokens and personal access tokens, not app sessions.');
const SHARING_OFF = refuse('WORKSPACE_SHARING_REQUIRED', 'Workspace sharing is not available to this account.');
const ONLY_SESSIONS = refuse('FORBIDDEN', 'This is for app sessions; apps of OAuth sign out or revoke their grant.');
const NO_SUCH_VERSION = refuse('BAD_REQUEST', 'X-API-Version must be 1.', {
  details: [{ path: 'X-API-Version', message: 'must be 1' }],
});
const NO_SUCH_FORMAT = refuse('NOT_ACCEPTABLE', 'Answers come as application/json or application/cbor.');

/**
 * The caller by the head of a request; null if no credential is needed. The order of checks is the interface's:
 * version, credential, permission.
 */
export async function authorize(
  services: EdgeServices,
  { kind, route, request }: { kind: ListenerKind; route: Route; request: FastifyRequest },
): Promise<unknown> {
  const version = request.headers['x-api-version'];
  const { dialect = 'rest' } = route;
  if (version !== undefined && version !== '1' && kind.listener !== 'operator' && dialect === 'rest')
    throw new Refused(NO_SUCH_VERSION);
  const who = await callerOf(services, route, request);
  if (kind.cbor && chooseAnswerFormat(request.headers.accept) === 'none') throw new Refused(NO_SUCH_FORMAT);
  return who;
}

async function callerOf(services: EdgeServices, route: Route, request: FastifyRequest): Promise<unknown> {
  switch (route.credential) {
    case 'none':
      return null;
    case 'operator':
      return operatorCallerOf(services, request, { worker_too: route.worker_too === true });
    case 'account':
    case 'app':
    case 'session': {
      const principal = await principalFor(services, route, request);
      const refusal = principalRefusal(principal, route);
      if (refusal !== null) throw new Refused(refusal);
      return principal;
    }
    case 'device':
      return deviceIdentityOf(services, { request, expired_too: route.expired_too === true });
  }
}

/** Who it is; one who is unknown is told what to ask for, where the row says that. */
async function principalFor(services: EdgeServices, route: Route, request: FastifyRequest): Promise<Principal> {
  try {
    return await principalOf(services, request, route.dialect === 'mcp' ? 'mcp' : 'rest');
  } catch (error) {
    if (!isRefused(error, 'UNAUTHORIZED') || route.asks_for === undefined) throw error;
    throw new Refused({ ...error.refusal, scope: route.asks_for });
  }
}

/** The reason for which an identified caller may not do this. */
function principalRefusal(principal: Principal, route: Route): Refusal | null {
  const { account, client, kind } = principal;
  const deleted = route.deleted_too ? null : accountDeleted(account);
  if (deleted !== null) return deleted;
  if (route.credential === 'session' && kind !== 'app_session') return ONLY_SESSIONS;
  if (route.credential === 'app' && kind === 'personal_access_token') return ONLY_APPS;
  if (route.dialect === 'mcp' && kind === 'app_session') return NOT_FOR_MCP;
  const missing = accessRefusal(principal, route);
  if (missing !== null) return missing;
  if (route.own_apps && client?.first_party === false) return ONLY_OWN_APPS;
  if (route.sharing && !isEnabled(account.entitlements, 'workspace.sharing')) return SHARING_OFF;
  return null;
}
