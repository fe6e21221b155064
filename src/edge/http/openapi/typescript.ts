import type { ApiDocuments } from './documents.js';
import type { ApiDocument, Operation, Parameter, Schema } from './openapi.js';
import type { ListenerName } from './refusals.js';

/** The documents as types, for our own clients: what an operation takes and answers, by its method and path. */

const LISTENERS = ['public', 'device', 'operator'] as const;
const NAMES: Record<ListenerName, string> = { public: 'PublicApi', device: 'DeviceApi', operator: 'OperatorApi' };

const LINE_CHARS = 90;

const HEAD = `/* Made from the tables of routes by \`npm run spool -- client\`; a test says when it is stale. */
`;

export function clientTypes(documents: ApiDocuments): string {
  const apis = LISTENERS.map((listener) => apiType(listener, documents[listener]));
  const shapes = new Map<string, string>();
  for (const listener of LISTENERS) {
    for (const [name, schema] of Object.entries(documents[listener].components.schemas)) {
      const text = `export type ${name} = ${typeText(schema, '')};\n`;
      if ((shapes.get(name) ?? text) !== text) throw new Error(`two shapes are called ${name}`);
      shapes.set(name, text);
    }
  }
  const sorted = [...shapes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  return [HEAD, ...sorted, ...apis].join('\n');
}

function apiType(listener: ListenerName, document: ApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      operationText(listener, `${method.toUpperCase()} ${path}`, operation),
    ),
  );
  return `export type ${NAMES[listener]} = {\n${operations.join('')}};\n`;
}

/** Nothing for what is not JSON both ways, or not answered in the listener's own way: OAuth, MCP, audio, documents. */
function operationText(listener: ListenerName, name: string, operation: Operation): string[] {
  if (operation.tags.includes('API documents')) return [];
  const answer = answerText(operation, { is_enveloped: listener !== 'operator' });
  if (answer === null) return [];
  const parameters = (operation.parameters ?? []).flatMap((one) => ('name' in one ? [one] : []));
  const lines = [
    ...group('path', parameters),
    ...group('query', parameters),
    ...bodyText(operation),
    `    answer: ${answer};\n`,
  ];
  return [`  /** ${operation.summary} */\n  '${name}': {\n${lines.join('')}  };\n`];
}

function group(place: 'path' | 'query', parameters: readonly Parameter[]): string[] {
  const found = parameters.filter((one) => one.in === place);
  if (found.length === 0) return [];
  const optional = found.some(({ required }) => required) ? '' : '?';
  const fields = found.map(({ name, required, schema }) =>
    required ? `${name}: ${typeText(schema, '')}` : `${name}?: ${typeText(schema, '')} | undefined`,
  );
  return [`    ${place}${optional}: { ${fields.join('; ')} };\n`];
}

function bodyText({ requestBody }: Operation): string[] {
  const schema = requestBody?.content['application/json']?.schema;
  if (requestBody === undefined || schema === undefined) return [];
  return [`    body${requestBody.required ? '' : '?'}: ${typeText(schema, '    ')};\n`];
}

/** Whether the types of our clients have an operation. */
export function isTypedCall(listener: ListenerName, operation: Operation): boolean {
  return operationText(listener, '', operation).length > 0;
}

function answerText({ responses, requestBody }: Operation, { is_enveloped }: { is_enveloped: boolean }): string | null {
  if (requestBody !== undefined && requestBody.content['application/json'] === undefined) return null;
  const [status = '', { content = {} } = {}] = Object.entries(responses).find(([of]) => Number(of) < 400) ?? [];
  if (status === '204') return 'undefined';
  const schema = content['application/json']?.schema;
  if (schema === undefined) return null;
  if (!is_enveloped) return typeText(schema, '    ');
  const { success, data } = schema.properties ?? {};
  return success === undefined || data === undefined ? null : typeText(data, '    ');
}

function typeText(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return unionText(schema.enum.map(literal), indent);
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => typeText(one, indent)).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeText({ ...schema, type }, indent)).join(' | ');
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return listText(schema, indent);
    case 'object':
      return objectText(schema, indent);
    default:
      return 'unknown';
  }
}

/** On lines of their own where they are many. */
function unionText(words: readonly string[], indent: string): string {
  const line = words.join(' | ');
  return line.length <= LINE_CHARS ? line : words.map((word) => `\n${indent}  | ${word}`).join('');
}

function listText({ prefixItems, items }: Schema, indent: string): string {
  if (prefixItems !== undefined) return `[${prefixItems.map((one) => typeText(one, indent)).join(', ')}]`;
  const item = typeText(items ?? {}, indent);
  const is_union = items?.anyOf !== undefined || (items?.enum?.length ?? 0) > 1 || Array.isArray(items?.type);
  return is_union ? `(${item})[]` : `${item}[]`;
}

function objectText(
  { properties, required = [], additionalProperties, propertyNames }: Schema,
  indent: string,
): string {
  if (properties === undefined || Object.keys(properties).length === 0) {
    const of = typeof additionalProperties === 'object' ? typeText(additionalProperties, indent) : null;
    if (of === null) return '{ [name: string]: unknown }';
    const keys = propertyNames?.enum === undefined ? 'string' : propertyNames.enum.map(literal).join(' | ');
    const record = `Record<${keys}, ${of}>`;
    return propertyNames?.enum === undefined || required.length > 0 ? record : `Partial<${record}>`;
  }
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = /^[a-z_]\w*$/i.test(name) ? name : `'${name}'`;
    const words = schema.description === undefined ? '' : `${inner}/** ${schema.description} */\n`;
    return `${words}${inner}${key}${required.includes(name) ? '' : '?'}: ${typeText(schema, inner)};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}
