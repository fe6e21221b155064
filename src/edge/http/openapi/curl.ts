import { exampleOf } from './examples.js';
import type { Method, Operation } from './openapi.js';

/** Who calls: it decides about the address and how a caller shows who it is. */
export type CurlCaller = 'app' | 'device';

const BASES: Record<CurlCaller, string> = { app: '$API', device: '$DEV' };

const CREDENTIALS: Record<string, string> = {
  appSession: `-H "Authorization: Bearer $ACCESS"`,
  oauth: `-H "Authorization: Bearer $ACCESS"`,
  personalAccessToken: `-H "Authorization: Bearer $ACCESS"`,
  clientSecret: `-u "$CLIENT_ID:$CLIENT_SECRET"`,
  deviceCertificate: '--cert device.pem --key device.key --cacert ca.pem',
};

/** The call as a line of a shell, with what must be sent. */
export function curlOf(
  { path, method, operation }: { path: string; method: Method; operation: Operation },
  caller: CurlCaller,
): string {
  const { requestBody, security, parameters = [] } = operation;
  const [scheme] = security.flatMap((one) => Object.keys(one));
  const query = parameters.flatMap((one) =>
    'name' in one && one.in === 'query' && one.required
      ? [`${one.name}=${encodeURIComponent(String(exampleOf(one.schema, one.name)))}`]
      : [],
  );
  const address = `"${BASES[caller]}${path.replace(/\{([a-z_]+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}${query.length === 0 ? '' : `?${query.join('&')}`}"`;
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const is_implied = method === 'get' || (method === 'post' && type !== undefined);
  const words = [
    'curl',
    ...(is_implied ? [] : [`-X ${method.toUpperCase()}`]),
    ...(scheme === undefined ? [] : [CREDENTIALS[scheme] ?? '']),
  ];
  const lines = [`${words.join(' ')} ${address}`];
  if (type === 'application/octet-stream') {
    lines.push(`-H 'Content-Type: ${type}'`, '--data-binary @chunk.bin');
  } else if (type === 'application/x-www-form-urlencoded') {
    const fields = Object.entries(content?.example as Record<string, unknown>);
    lines.push(...fields.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`));
  } else if (type !== undefined) {
    lines.push(`-H 'Content-Type: ${type}'`, `-d ${quoted(JSON.stringify(content?.example))}`);
  }
  return lines.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
