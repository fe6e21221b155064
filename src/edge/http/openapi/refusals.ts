import { OAUTH_ERRORS, type OauthErrorCode } from '../../../domain/oauth_errors.js';
import { REFUSALS, type RefusalCode } from '../../../domain/refusals.js';
import { givesBytes, type Route } from '../route.js';

/** Which listener serves a route. */
export type ListenerName = 'public' | 'device' | 'operator';

export type DocumentedRefusal = { status: number; code: RefusalCode | OauthErrorCode };

/** Everything that a route may be refused with: what its row names, and what follows from the rest of the row. */
export function refusalsOf(route: Route): DocumentedRefusal[] {
  const found = route.dialect === 'oauth' ? oauthRefusals(route) : restRefusals(route);
  const distinct = new Map(found.map((refusal) => [`${refusal.status} ${refusal.code}`, refusal]));
  return [...distinct.values()].sort((a, b) => a.status - b.status);
}

function restRefusals(route: Route): DocumentedRefusal[] {
  const { credential, method } = route;
  const of_account = credential === 'account' || credential === 'app' || credential === 'session';
  const is_narrow = credential === 'app' || credential === 'session' || narrowing(route);
  const takes_body = method !== 'GET' && route.raw !== true;
  const table: [boolean, ...RefusalCode[]][] = [
    [true, 'INTERNAL', 'UNAVAILABLE', 'BAD_REQUEST'], // the last for X-API-Version, or two Host headers
    [route.rate !== undefined, 'TOO_MANY_REQUESTS'],
    [of_account || credential === 'operator', 'UNAUTHORIZED'],
    [of_account && !route.deleted_too, 'ACCOUNT_DELETED'],
    [of_account && Boolean(is_narrow), 'FORBIDDEN'],
    [route.sharing === true, 'WORKSPACE_SHARING_REQUIRED'],
    [credential === 'operator', 'TOO_MANY_REQUESTS'], // after wrong tokens
    [credential === 'operator', 'FORBIDDEN'], // with the worker token, or with the cookie from another origin's page
    [credential === 'device', 'UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_REQUESTS', 'NOT_ACCEPTABLE'],
    // A body that nobody asked for is read and judged all the same.
    [takes_body, 'PAYLOAD_TOO_LARGE', 'REQUEST_TIMEOUT', 'UNSUPPORTED_MEDIA_TYPE'],
    [/:[a-z_]*id(\/|$)/.test(route.path), 'NOT_FOUND'],
    [givesBytes(route), 'PRECONDITION_FAILED', 'RANGE_NOT_SATISFIABLE'],
    [true, ...((route.refusals ?? []) as RefusalCode[])],
  ];
  return table.flatMap(([applies, ...codes]) =>
    applies ? codes.map((code) => ({ code, status: REFUSALS[code] })) : [],
  );
}

/** Whether not every account may call it, or not every credential. */
function narrowing({ permission, all_of, recall, transcribes, developer, own_apps }: Route): boolean {
  return Boolean(permission ?? all_of ?? recall ?? transcribes ?? developer ?? own_apps);
}

function oauthRefusals(route: Route): DocumentedRefusal[] {
  const found: DocumentedRefusal[] = [
    { status: 400, code: 'invalid_request' }, // two Host headers, where nothing else
    { status: 500, code: 'server_error' },
    { status: 503, code: 'temporarily_unavailable' },
  ];
  if (route.rate !== undefined) found.push({ status: 429, code: 'temporarily_unavailable' });
  if (route.method !== 'GET') {
    found.push({ status: 408, code: 'temporarily_unavailable' }, { status: 413, code: 'invalid_request' });
  }
  const named = (route.refusals ?? []) as OauthErrorCode[];
  return [...found, ...named.map((code) => ({ status: OAUTH_ERRORS[code], code }))];
}
