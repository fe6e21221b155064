import { FORM, queryText, type SampleCall, type SampleCaller, sendsBytes } from './sample_call.js';

const BASES: Record<SampleCaller, string> = { app: '$API', device: '$DEV' };

const BEARER = `-H "Authorization: Bearer $ACCESS"`;
const CREDENTIALS: Record<string, string> = {
  appSession: BEARER,
  oauth: BEARER,
  personalAccessToken: BEARER,
  clientSecret: `-u "$CLIENT_ID:$CLIENT_SECRET"`,
  deviceCertificate: '--cert device.pem --key device.key --cacert ca.pem',
};

/** The call as a line of a shell, with what must be sent. */
export function curlOf(call: SampleCall, caller: SampleCaller): string {
  const { path, method, query, credential, body } = call;
  const asked = queryText(query);
  const filled = path.replace(/\{([a-z_]+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
  const is_implied = method === 'get' || (method === 'post' && body !== null);
  const words = [
    'curl',
    ...(is_implied ? [] : [`-X ${method.toUpperCase()}`]),
    ...(credential === undefined ? [] : [CREDENTIALS[credential] ?? '']),
  ];
  const lines = [`${words.join(' ')} "${BASES[caller]}${filled}${asked === '' ? '' : `?${asked}`}"`];
  if (body === null) return lines.join('');
  if (sendsBytes(call)) lines.push(`-H 'Content-Type: ${body.type}'`, '--data-binary @chunk.bin');
  else if (body.type === FORM) {
    const fields = Object.entries(body.example as Record<string, unknown>);
    lines.push(...fields.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`));
  } else lines.push(`-H 'Content-Type: ${body.type}'`, `-d ${quoted(JSON.stringify(body.example))}`);
  return lines.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
