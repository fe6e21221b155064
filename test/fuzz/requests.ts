import { ROUTES } from '../../routes/index.js';
import type { Route } from '../../src/edge/http/route.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { encodeCbor } from '../../src/engine/wire/cbor.js';
import { drawValid, hurt, ODD_VALUES, oddJson, spoil } from './drawn_values.js';
import { rawBodyOf } from './raw_bodies.js';
import type { World } from './world.js';

/** Requests that are half right: each begins as a good one for a route of the table, and most are then spoilt somewhere. */

export type ListenerName = keyof typeof ROUTES;
/** Whose certificate is shown, where that is asked for. */
export type Shown = 'device' | 'shared' | 'none';
export type FuzzRequest = {
  listener: ListenerName;
  route: string;
  method: string;
  path: string;
  headers: [name: string, value: string][];
  body: Buffer | null;
  shown: Shown;
  /** How it is sent: as it is; with the next right behind it; cut off in its midst; a byte now and then. */
  way: 'whole' | 'pipelined' | 'cut' | 'dripped';
};

/** Clears what others of the run work with: too often, and nothing half right is left. */
const RARELY: ReadonlySet<string> = new Set([
  'DELETE /me',
  'DELETE /audio/streams/:id',
  'POST /me/sign-out',
  'POST /auth/logout',
  'POST /ops/keys/rotate',
]);
const RARE = 0.02;

type Row = { listener: ListenerName; route: Route };
const ROWS: Row[] = (Object.keys(ROUTES) as ListenerName[]).flatMap((listener) =>
  ROUTES[listener].map((route) => ({ listener, route })),
);
export const ROUTE_COUNT = ROWS.length;

const ODD_SEGMENTS = [
  '%00',
  '%ff',
  '..',
  '%2e%2e%2f',
  'x'.repeat(210),
  '\u00e9',
  '%F0%9F%91%A9',
  '-',
  '0',
  '%',
  "'",
  'null',
];
const MEDIA_TYPES = [
  'application/json',
  'application/cbor',
  'text/plain',
  'application/json; charset=utf-7',
  'multipart/form-data; boundary=x',
  '',
  'application/x-www-form-urlencoded',
  '*/*',
  'a'.repeat(500),
];
/** Headers that somebody may send, with values of every kind. */
const ODD_HEADERS: [name: string, values: string[]][] = [
  ['X-Request-ID', ['x'.repeat(5_000), 'a b', '', 'ok-id']],
  ['X-API-Version', ['2', '1.0', '01', '', '1', 'x'.repeat(100)]],
  ['Accept', ['application/cbor', 'text/html', '*/*;q=0', 'application/json;q=2', ',,,', 'x'.repeat(3_000)]],
  [
    'Range',
    ['bytes=0-', 'bytes=-1', 'bytes=5-2', 'bytes=0-0,2-3', 'bytes=99999999999999999999-', 'pages=1', 'bytes=a-b'],
  ],
  ['If-None-Match', ['*', '"x"', 'W/"', ',']],
  ['If-Range', ['"x"', 'Thu, 01 Jan 1970 00:00:00 GMT']],
  ['Expect', ['100-continue', '200-maybe']],
  ['Cookie', ['spool_session=x', 'spool_browser=%', '=;=;', `${'a=b; '.repeat(300)}`]],
  ['Content-Encoding', ['gzip', 'identity', 'br, gzip']],
  ['Host', ['evil.example', '', '[::1]', 'localhost:99999']],
  ['Origin', ['https://evil.example', 'null', 'http://localhost']],
  ['X-Forwarded-For', ['1.2.3.4', ','.repeat(500), '::ffff:999.1.1.1']],
  ['X-Forwarded-Proto', ['https', 'javascript']],
  ['Client-Cert', [':AAAA:', ':not base64:', ':', 'x'.repeat(8_000)]],
  ['Mcp-Protocol-Version', ['2026-07-28', '1999-01-01', 'x']],
  ['Mcp-Method', ['tools/list', '']],
  ['Accept-Language', ['x'.repeat(2_000)]],
  ['Transfer-Encoding', ['identity', 'gzip, chunked']],
  ['Connection', ['close', 'upgrade']],
  ['Upgrade', ['websocket', 'h2c']],
  ['Content-Length', ['-1', '1e3', '0', '99999999999', '5, 5']],
  ['X', ['y'.repeat(20_000)]],
];

export function drawRequest(random: SeededRandom, world: World): FuzzRequest {
  let row = random.pick(ROWS);
  while (RARELY.has(nameOf(row)) && !random.chance(RARE)) row = random.pick(ROWS);
  const { listener, route } = row;
  const way = random.chance(0.94) ? 'whole' : random.pick(['pipelined', 'cut', 'dripped'] as const);
  const method = random.chance(0.97)
    ? route.method
    : random.pick(['PUT', 'HEAD', 'OPTIONS', 'TRACE', 'DELETE', 'PROPFIND', 'get']);
  const headers: [string, string][] = credentials(random, route, world);
  const body = bodyOf(random, row, world);
  if (body !== null && body.type !== null) headers.push(['Content-Type', body.type]);
  if (listener === 'device' && random.chance(0.4)) headers.push(['Accept', 'application/cbor']);
  while (random.chance(0.12)) {
    const [name, values] = random.pick(ODD_HEADERS);
    headers.push([name, random.pick(values)]);
  }
  const shown =
    listener !== 'device' ? 'none' : random.chance(0.9) ? 'device' : random.pick(['shared', 'none'] as const);
  return {
    listener,
    route: nameOf(row),
    method,
    path: pathOf(random, route, world),
    headers,
    body: body?.bytes ?? null,
    shown,
    way,
  };
}

function nameOf({ route }: Row): string {
  return `${route.method} ${route.path}`;
}

function credentials(random: SeededRandom, route: Route, { bearers, ops_token }: World): [string, string][] {
  const bearer = (value: string): [string, string][] => [['Authorization', `Bearer ${value}`]];
  if (random.chance(0.06))
    return random.pick<[string, string][]>([
      [],
      bearer(''),
      bearer('x.y.z'),
      [['Authorization', 'Basic Og==']],
      bearer('\t'),
    ]);
  if (route.credential === 'operator') return bearer(ops_token);
  if (route.credential === 'none' || route.credential === 'device') return [];
  return bearer(random.chance(0.8) ? (bearers[0] as string) : random.pick(bearers));
}

function pathOf(random: SeededRandom, { path, query }: Route, world: World): string {
  const known = (name: string) => world.known[name] ?? (name.endsWith('id') ? (world.known.id ?? []) : []);
  let made = path.replace(/:([a-z_]+)/g, (_, name: string, at: number) => {
    if (random.chance(0.12)) return random.pick(ODD_SEGMENTS);
    // Half of the ids are of what the route is about, such as `turns/:id`.
    const own = world.known[`${(/([a-z-]+)\/$/.exec(path.slice(0, at)) ?? [])[1]}/:${name}`] ?? [];
    const values = own.length > 0 && random.chance(0.5) ? own : known(name);
    return encodeURIComponent(String(values.length > 0 ? random.pick(values) : 'x'));
  });
  if (query === undefined && !random.chance(0.05)) return made;
  const parameters: [string, unknown][] = Object.entries(
    (query === undefined ? {} : (drawValid(random, query, known) as object)) ?? {},
  );
  if (random.chance(0.4))
    parameters.push([random.pick(['limit', 'cursor', 'after', 'type', 'x', '__proto__']), random.pick(ODD_VALUES)]);
  const text = parameters
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(textOf(value).slice(0, 4_000))}`)
    .join('&');
  if (text !== '') made += `?${text}`;
  if (random.chance(0.01)) made += random.pick(['?', '?&&==', '#x', '?%', '?a=%FF']);
  return made;
}

/** A lone surrogate is nothing that an address could hold. */
function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.toWellFormed();
}

function bodyOf(
  random: SeededRandom,
  { listener, route }: Row,
  world: World,
): { bytes: Buffer; type: string | null } | null {
  if (route.method === 'GET' && !random.chance(0.03)) return null;
  const known = (name: string) => world.known[name] ?? [];
  if (route.raw === true) return rawBodyOf(random, route);
  const is_open = route.body === undefined || route.takes === 'json_pieces';
  let value = is_open
    ? signalsOrMessage(random, route)
    : drawValid(random, (route.reads?.body ?? route.body) as never, known);
  if (random.chance(0.6)) value = spoil(random, value);
  if (random.chance(0.04))
    return { bytes: Buffer.from(random.bytes(random.pick([0, 1, 50, 70_000]))), type: random.pick(MEDIA_TYPES) };
  if (route.takes === 'form') {
    const fields = Object.entries((value ?? {}) as object).map(([name, field]): [string, string] => [
      name,
      textOf(field),
    ]);
    let bytes: Buffer = Buffer.from(new URLSearchParams(fields).toString());
    if (random.chance(0.15)) bytes = hurt(random, bytes);
    return { bytes, type: random.chance(0.95) ? 'application/x-www-form-urlencoded' : random.pick(MEDIA_TYPES) };
  }
  const is_cbor = listener === 'device' ? random.chance(0.5) : random.chance(0.02);
  let bytes: Buffer = is_cbor
    ? cborOf(value)
    : Buffer.from(random.chance(0.85) ? jsonOf(value) : oddJson(random, jsonOf(value)));
  if (random.chance(0.15)) bytes = hurt(random, bytes);
  const type = is_cbor ? 'application/cbor' : 'application/json';
  return { bytes, type: random.chance(0.95) ? type : random.pick([...MEDIA_TYPES, null]) };
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

function cborOf(value: unknown): Buffer {
  return Buffer.from(encodeCbor(value));
}

/** Where no schema says what a body is: signals, or a message of MCP. */
function signalsOrMessage(random: SeededRandom, route: Route): unknown {
  if (route.takes === 'json_pieces') {
    const count = random.pick([1, 3, 60]);
    const signal = (n: number) => ({
      ref: `r${random.below(50)}`,
      type: 'note.made',
      start_ms: n,
      end_ms: n + 1,
      payload: { text: 'x', n: [1.5, null] },
    });
    return { signals: Array.from({ length: count }, (_, n) => signal(n)) };
  }
  const name = random.pick(['list_sources', 'whoami', 'search']);
  const params = random.pick<unknown>([
    {},
    { name, arguments: {} },
    { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  ]);
  return {
    jsonrpc: '2.0',
    id: random.pick<unknown>([1, 'a', null]),
    method: random.pick(['tools/list', 'tools/call', 'initialize', 'ping', 'x']),
    params,
  };
}
