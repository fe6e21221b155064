import type { z } from 'zod';
import { RECALL } from '../../../domain/scopes.js';
import { givesBytes, type PathParameter, type Route } from '../route.js';
import { answerExample } from './answer_examples.js';
import { areaOf } from './areas.js';
import { exampleOf } from './examples.js';
import type { Content, Operation, Parameter, Response, Schema } from './openapi.js';
import { type ListenerName, refusalsOf } from './refusals.js';
import type { Schemas } from './schemas.js';

/** One row of a table of routes as an operation. */

const TEXT: Schema = { type: 'string' };

const CONTENT_HEADERS: Parameter[] = [
  {
    name: 'Range',
    in: 'header',
    required: false,
    description: 'One range of bytes, such as `bytes=0-1023`; anything else is answered with all of them.',
    schema: { type: 'string' },
  },
  {
    name: 'If-Range',
    in: 'header',
    required: false,
    description: 'An ETag: the range is given only while the content is still the same.',
    schema: { type: 'string' },
  },
  {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'ETags: the answer is 304 while the content has one of them.',
    schema: { type: 'string' },
  },
  {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'ETags: the answer is 412 unless the content has one of them.',
    schema: { type: 'string' },
  },
];

const LAST_EVENT_ID: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last event that arrived: only what is different since then follows.',
  schema: { type: 'string' },
};

export function openApiPath(path: string): string {
  return path.replace(/:([a-z_]+)/g, '{$1}');
}

/** `GET /me/connections` is `getMeConnections`, `GET /sources/{id}` is `getSourcesById`. */
function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path.split(/[/._-]/).flatMap((part) => {
    if (part === '') return [];
    return part.startsWith(':') ? ['By', ...part.slice(1).split('_')] : [part];
  });
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

export function operationOf(route: Route, listener: ListenerName, schemas: Schemas): Operation {
  const parameters = parametersOf(route, listener, schemas);
  const requestBody = requestBodyOf(route, listener, schemas);
  const description = descriptionOf(route);
  return {
    operationId: operationId(route),
    tags: [areaOf(route.path).name],
    summary: route.summary ?? '',
    ...(description === '' ? {} : { description }),
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === null ? {} : { requestBody }),
    responses: { ...successOf(route, listener, schemas), ...refusedOf(route, listener) },
  };
}

/** Its notes, and what else of the row a caller should know. */
function descriptionOf({ notes, own_apps, sharing, developer, layer, deleted_too, expired_too, rate }: Route): string {
  const sentences: [unknown, string][] = [
    [notes, notes ?? ''],
    [own_apps, 'Of OAuth clients, only our own may do this.'],
    [developer, 'The account needs developer access, the entitlement `developer.tools`.'],
    [layer, `The account needs the entitlement \`${layer}\`.`],
    [sharing, 'The account needs the entitlement `workspace.sharing`.'],
    [deleted_too, 'It works for a deleted account as well.'],
    [expired_too, 'It works with an expired certificate as well.'],
    [rate, 'How often a network may ask is limited.'],
  ];
  return sentences.flatMap(([applies, text]) => (applies ? [text] : [])).join(' ');
}

/** One of the permissions suffices, with any of the credentials; those that are all needed stand together. */
function securityOf({
  client,
  credential,
  permission,
  all_of = [],
  recall,
  dialect,
  worker_too,
}: Route): Operation['security'] {
  const schemes = {
    none: client === undefined ? [] : ['clientSecret'],
    account: dialect === 'mcp' ? ['oauth', 'personalAccessToken'] : ['appSession', 'oauth', 'personalAccessToken'],
    app: ['appSession', 'oauth'],
    session: ['appSession'],
    device: ['deviceCertificate'],
    operator: worker_too ? ['operatorToken', 'workerToken'] : ['operatorToken'],
  }[credential];
  const ways = [...(permission ?? []).map((name) => [name]), ...(recall ? [[...RECALL]] : [])];
  const needed = (ways.length === 0 ? [[]] : ways).map((names) => [...names, ...all_of]);
  const found = needed.flatMap((names) => schemes.map((scheme) => ({ [scheme]: names })));
  // A public client has no secret.
  return client === 'any' ? [...found, {}] : found;
}

function pathSchema(form: PathParameter['form']): Schema {
  if (typeof form !== 'string') return { type: 'string', enum: [...form] };
  if (form === 'text') return TEXT;
  return { type: 'string', format: form === 'date' ? 'date' : 'uuid' };
}

function parametersOf(route: Route, listener: ListenerName, schemas: Schemas): NonNullable<Operation['parameters']> {
  const of_path = Object.entries(route.params ?? {}).map(([name, { description, form }]): Parameter => {
    return { name, in: 'path', required: true, description, schema: pathSchema(form) };
  });
  const of_query = queryParameters(route.reads?.query ?? route.query, schemas);
  const is_versioned = (route.dialect ?? 'rest') === 'rest' && listener !== 'operator';
  const shared = [...(is_versioned ? ['ApiVersion'] : []), 'RequestId'];
  return [
    ...of_path,
    ...of_query,
    ...(givesBytes(route) ? CONTENT_HEADERS : []),
    ...(route.answer === 'events' ? [LAST_EVENT_ID] : []),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function queryParameters(query: z.ZodType | undefined, schemas: Schemas): Parameter[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemas.ofRequest(query);
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

type RequestBody = NonNullable<Operation['requestBody']>;

function requestBodyOf(route: Route, listener: ListenerName, schemas: Schemas): RequestBody | null {
  if (route.raw) return { required: true, content: { 'application/octet-stream': { schema: {} } } };
  const body = route.reads?.body ?? route.body;
  if (body === undefined) return null;
  const schema = schemas.ofRequest(body);
  const required = !body.safeParse(undefined).success;
  const example = route.example ?? exampleOf(schema);
  if (route.takes === 'form') {
    return { required, content: { 'application/x-www-form-urlencoded': { schema, example } } };
  }
  const { 'application/json': json, ...others } = documentIn(
    { has_cbor: listener === 'device' || route.is_upload === true },
    schema,
  );
  return { required, content: { 'application/json': { ...json, schema, example }, ...others } };
}

/** Devices may speak CBOR wherever they may speak JSON, and bodies with bytes may be CBOR everywhere. */
function documentIn({ has_cbor }: { has_cbor: boolean }, schema: Schema): Content {
  return {
    'application/json': { schema },
    ...(has_cbor ? { 'application/cbor': { schema } } : {}),
  };
}

function successOf(route: Route, listener: ListenerName, schemas: Schemas): Record<string, Response> {
  const { answer, dialect = 'rest', status = 200 } = route;
  if (answer === undefined) return { '204': { description: 'Done.' } };
  if (answer === 'audio') return bytes('audio/*');
  if (answer === 'bytes') return bytes();
  if (answer === 'redirect')
    return { '303': { description: 'To the next address.', headers: { Location: address() } } };
  if (answer === 'text') return { [status]: { description: 'Text.', content: { 'text/plain': { schema: TEXT } } } };
  if (answer === 'events') return eventsOf(route, schemas);
  const data = schemas.ofAnswer(answer);
  const schema = dialect !== 'rest' || listener === 'operator' ? data : inEnvelope(data);
  const description = status === 201 ? 'It is made.' : status === 202 ? 'It will be done.' : 'Success.';
  const { 'application/json': json, ...others } = documentIn({ has_cbor: listener === 'device' }, schema);
  const content: Content = {
    'application/json': { schema, ...json, example: answerExample(schemas.named, schema) },
    ...others,
  };
  const found: Record<string, Response> = { [status]: { description, content } };
  if (dialect === 'mcp') found['202'] = { description: 'A notification was taken.' };
  return found;
}

/** OpenAPI 3.1 knows no shape of a sequence: the schema is that of one event. */
function eventsOf({ events }: Route, schemas: Schemas): Record<string, Response> {
  if (events === undefined) throw new Error('an answer of events needs their shape');
  const schema = schemas.ofAnswer(events);
  const example = answerExample(schemas.named, schema);
  const description = 'Server-sent events, each of this shape; `data` is JSON. A comment comes every 15 s.';
  return { '200': { description, content: { 'text/event-stream': { schema, example } } } };
}

function inEnvelope(data: Schema): Schema {
  return { type: 'object', properties: { success: { const: true }, data }, required: ['success', 'data'] };
}

function bytes(...types: string[]): Record<string, Response> {
  const content: Content = Object.fromEntries(
    ['application/octet-stream', ...types].map((type) => [type, { schema: {} }]),
  );
  const headers = {
    ETag: { description: 'Another one whenever a byte is another.', schema: TEXT },
    'Accept-Ranges': { description: '`bytes`', schema: TEXT },
  };
  const range = { description: 'Which bytes of how many.', schema: TEXT };
  return {
    '200': { description: 'All of it.', headers, content },
    '304': { description: 'The client has it.', headers: { ETag: headers.ETag } },
    '206': { description: 'The range.', headers: { ...headers, 'Content-Range': range }, content },
  };
}

function address() {
  return { description: 'Where to continue.', schema: { type: 'string', format: 'uri' } };
}

/** By status, with the codes that this operation can give. */
function refusedOf(route: Route, listener: ListenerName): Record<string, Response> {
  if (route.dialect === 'page') {
    if (route.reads === undefined) return {};
    const description = 'A page that says what is wrong.';
    return { '400': { description, content: { 'text/html': { schema: TEXT } } } };
  }
  const refusals = refusalsOf(route);
  const statuses = [...new Set(refusals.map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = refusals.flatMap((refusal) => (refusal.status === status ? [refusal.code] : []));
      return [String(status), refusedWith(status, codes, { route, listener })];
    }),
  );
}

function refusedWith(
  status: number,
  codes: readonly string[],
  { route, listener }: { route: Route; listener: ListenerName },
): Response {
  const is_oauth = route.dialect === 'oauth';
  const named: Schema = is_oauth
    ? { properties: { error: { enum: [...codes] } } }
    : { properties: { error: { properties: { code: { enum: [...codes] } } } } };
  const schema: Schema = {
    allOf: [{ $ref: `#/components/schemas/${is_oauth ? 'OauthError' : 'Refused'}` }, named],
  };
  const waits = status === 429 || status === 503;
  const challenges = status === 401 && !is_oauth;
  return {
    description: codes.join(', '),
    ...(waits || challenges
      ? {
          headers: {
            ...(waits ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
            ...(challenges ? { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } } : {}),
          },
        }
      : {}),
    content: withExamples(documentIn({ has_cbor: listener === 'device' }, schema), codes),
  };
}

function withExamples({ 'application/json': json, ...others }: Content, codes: readonly string[]): Content {
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  return { 'application/json': { schema: {}, ...json, examples }, ...others };
}
