import { FORM, filledPath, type SampleCall, type SampleCaller, sendsBytes } from './sample_call.js';

/** The call in TypeScript: by our kit where it has the operation by its name, else by `fetch`. */
export function typescriptOf(call: SampleCall, caller: SampleCaller, { is_typed }: { is_typed: boolean }): string {
  const { method, path, path_values, query, body } = call;
  const client = caller === 'app' ? 'spool' : 'device';
  const name = `'${method.toUpperCase()} ${path}'`;
  if (is_typed) {
    const given = Object.entries({ path: path_values, query, body: body?.example ?? {} }).filter(([of, value]) =>
      of === 'body' ? body !== null : Object.keys(value as object).length > 0,
    );
    const behind = given.length === 0 ? '' : `, ${literal(Object.fromEntries(given), '')}`;
    return `const answer = await ${client}.call(${name}${behind});`;
  }
  if (caller === 'device' && sendsBytes(call))
    return `const answer = await device.upload('${filledPath(call)}', readFileSync('chunk.bin'));`;
  if (caller === 'device') return `const answer = await device.send('${method.toUpperCase()}', '${filledPath(call)}');`;
  return fetched(call);
}

const BEARER = `Authorization: \`Bearer \${TOKEN}\``;
const CREDENTIALS: Record<string, string> = {
  appSession: BEARER,
  oauth: BEARER,
  personalAccessToken: BEARER,
  clientSecret: `Authorization: \`Basic \${btoa(\`\${CLIENT_ID}:\${CLIENT_SECRET}\`)}\``,
};

function fetched(call: SampleCall): string {
  const { method, credential, body } = call;
  const headers = credential === undefined ? [] : [CREDENTIALS[credential] ?? ''];
  const options: string[] = method === 'get' ? [] : [`method: '${method.toUpperCase()}'`];
  if (body !== null && body.type !== FORM) headers.push(`'Content-Type': '${body.type}'`);
  if (headers.length > 0) options.push(`headers: { ${headers.join(', ')} }`);
  if (body !== null) options.push(`body: ${bodyText(call)}`);
  const behind = options.length === 0 ? '' : `, {\n${options.map((one) => `  ${one},\n`).join('')}}`;
  return `const answer = await fetch(\`\${API}${filledPath(call)}\`${behind});`;
}

function bodyText(call: SampleCall): string {
  if (sendsBytes(call)) return "readFileSync('chunk.bin')";
  const example = literal(call.body?.example, '  ');
  return call.body?.type === FORM ? `new URLSearchParams(${example})` : `JSON.stringify(${example})`;
}

const WIDTH = 80;

/** A value as it is written in TypeScript. */
function literal(value: unknown, indent: string): string {
  if (typeof value === 'string')
    return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const parts = Array.isArray(value)
    ? value.map((one) => literal(one, inner))
    : Object.entries(value).map(
        ([name, one]) => `${/^[a-z_]\w*$/i.test(name) ? name : `'${name}'`}: ${literal(one, inner)}`,
      );
  if (parts.length === 0) return open + close;
  const space = open === '{' ? ' ' : '';
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  if (line.length <= WIDTH && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
