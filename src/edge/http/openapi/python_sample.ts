import { FORM, filledPath, type SampleCall, type SampleCaller, sendsBytes } from './sample_call.js';

const BASES: Record<SampleCaller, string> = { app: 'API', device: 'DEV' };

const BEARER = 'headers={"Authorization": f"Bearer {TOKEN}"}';
const CREDENTIALS: Record<string, string> = {
  appSession: BEARER,
  oauth: BEARER,
  personalAccessToken: BEARER,
  clientSecret: 'auth=(CLIENT_ID, CLIENT_SECRET)',
  deviceCertificate: 'cert=("device.pem", "device.key"), verify="ca.pem"',
};

/** The call in Python, by the library `requests`. */
export function pythonOf(call: SampleCall, caller: SampleCaller): string {
  const { method, credential, body } = call;
  const given = [`f"{${BASES[caller]}}${filledPath(call)}"`];
  if (credential !== undefined) given.push(CREDENTIALS[credential] ?? '');
  if (sendsBytes(call)) given.push('data=open("chunk.bin", "rb")');
  else if (body?.type === FORM) given.push(`data=${literal(body.example, '    ')}`);
  else if (body !== null) given.push(`json=${literal(body.example, '    ')}`);
  const line = `answer = requests.${method}(${given.join(', ')})`;
  if (line.length <= WIDTH && !line.includes('\n')) return line;
  return `answer = requests.${method}(\n${given.map((one) => `    ${one},\n`).join('')})`;
}

const WIDTH = 88;
const WORDS = new Map<unknown, string>([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
  [undefined, 'None'],
]);

/** A value as it is written in Python; texts are written as in JSON. */
function literal(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return WORDS.get(value) ?? JSON.stringify(value);
  const inner = `${indent}    `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const parts = Array.isArray(value)
    ? value.map((one) => literal(one, inner))
    : Object.entries(value).map(([name, one]) => `"${name}": ${literal(one, inner)}`);
  const line = `${open}${parts.join(', ')}${close}`;
  if (line.length <= WIDTH - inner.length && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
