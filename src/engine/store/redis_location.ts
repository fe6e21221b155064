/** The location of Redis: a Unix socket of our own child, the address of one server, or some nodes of a cluster. */
export type RedisLocation = { socket_path: string } | { url: string } | ClusterLocation;

/** Any of a cluster's nodes leads to the others. */
export type ClusterLocation = {
  nodes: { host: string; port: number }[];
  tls: boolean;
  username?: string;
  password?: string;
};

export const REDIS_URL_RULE =
  'must be a redis:// or rediss:// address, or redis-cluster://host:port,host:port (rediss-cluster:// over TLS)';

const DEFAULT_PORT = 6_379;
const CLUSTER = /^(rediss?)-cluster:\/\/(?:(.*)@)?([^@/?#]+)\/?$/i;
const NODE = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i;

/** Parses a REDIS_URL; null if it is invalid. */
export function readRedisLocation(text: string): RedisLocation | null {
  const cluster = CLUSTER.exec(text);
  if (cluster !== null) return clusterPlace(cluster);
  if (!URL.canParse(text) || !['redis:', 'rediss:'].includes(new URL(text).protocol)) return null;
  return { url: text };
}

/** The same Redis, with `password`. */
export function withPassword(place: RedisLocation, password: string): RedisLocation {
  if ('nodes' in place) return { ...place, password };
  if (!('url' in place)) return place;
  const url = new URL(place.url);
  url.password = encodeURIComponent(password);
  return { url: url.href };
}

function clusterPlace([, scheme = '', user, list = '']: RegExpExecArray): ClusterLocation | null {
  const nodes = list.split(',').map((entry) => {
    const [, ipv6, name, port] = NODE.exec(entry.trim()) ?? [];
    return { host: ipv6 ?? name ?? '', port: port === undefined ? DEFAULT_PORT : Number(port) };
  });
  if (nodes.some(({ host, port }) => host === '' || port < 1 || port > 65_535)) return null;
  const place: ClusterLocation = { nodes, tls: scheme.toLowerCase() === 'rediss' };
  if (user === undefined) return place;
  const at = user.indexOf(':');
  const [username, password] = at < 0 ? [user, ''] : [user.slice(0, at), user.slice(at + 1)];
  try {
    if (username !== '') place.username = decodeURIComponent(username);
    if (password !== '') place.password = decodeURIComponent(password);
  } catch {
    return null; // a % that begins no escape
  }
  return place;
}
