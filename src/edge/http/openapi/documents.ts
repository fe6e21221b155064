import { eventShape } from '../../../access/events.js';
import { EVENT_TYPES, isDelivered } from '../../../domain/event_types.js';
import { sizeInWords } from '../../../domain/limit_text.js';
import { LIMITS } from '../../../domain/limits.js';
import { PERMISSIONS } from '../../../domain/permissions.js';
import type { Route } from '../route.js';
import { areasOf } from './areas.js';
import type { ApiDocument, Header, Method, Operation, Parameter, Schema } from './openapi.js';
import { openApiPath, operationOf } from './operation.js';
import { REFUSAL_EXAMPLES } from './refusal_examples.js';
import type { ListenerName } from './refusals.js';
import { Schemas } from './schemas.js';

/**
 * The reference as OpenAPI 3.1, one document a listener, made of nothing but the tables of routes: the same tables, the
 * same documents, byte for byte.
 */
export function documentsOf(routes: Record<ListenerName, readonly Route[]>, scope_words: ScopeWords): ApiDocuments {
  return {
    public: documentOf('public', routes.public, scope_words),
    device: documentOf('device', routes.device, scope_words),
    operator: documentOf('operator', routes.operator, scope_words),
  };
}

export type ApiDocuments = Record<ListenerName, ApiDocument>;

/** The abilities that a scope gives an app, in words for people. */
export type ScopeWords = (scope: string) => string;

const VERSION = '1';

const ENVELOPE =
  'A success is `{"success": true, "data": …}`, a refusal `{"success": false, "error": {"code", "message", "details"}}`; `details` names each field that is wrong and its rule. Lists have `items` and a `cursor`. Every answer carries `X-Request-ID`, yours if you sent one. Members, permissions and event types may be added: pass over those that you do not know. 429 and 503 say with `Retry-After` when to come again.';

const INFO: Record<ListenerName, ApiDocument['info']> = {
  public: {
    title: 'Spool',
    version: VERSION,
    summary: 'Accounts that capture audio: the API of apps.',
    description: `${ENVELOPE} Bodies are JSON of at most ${sizeInWords(LIMITS.json_body_bytes_max)} where nothing else is said. OAuth routes have no envelope.`,
  },
  device: {
    title: 'Spool devices',
    version: VERSION,
    summary: 'What recording devices call, over mutual TLS.',
    description: `${ENVELOPE} Bodies are JSON or CBOR (RFC 8949) of at most ${sizeInWords(LIMITS.device_body_bytes_max)}; \`Accept\` chooses how the answer comes, JSON when absent. CBOR may give a UUID as its 16 bytes and a SHA-256 as its 32.`,
  },
  operator: {
    title: 'Spool operator port',
    version: VERSION,
    summary: 'What those who run the service call; loopback, or a network of their own.',
    description: 'Successes are plain JSON; a refusal is `{"success": false, "error": {"code", "message"}}`.',
  },
};

const SERVERS: Record<ListenerName, ApiDocument['servers']> = {
  public: [{ url: '/' }],
  device: [
    {
      url: 'https://{host}:{port}',
      variables: {
        host: { default: 'localhost', description: 'Where the device listener is reached.' },
        port: { default: '8443', description: 'The setting DEVICE_PORT.' },
      },
    },
  ],
  operator: [{ url: '/' }],
};

const BEARER = { type: 'http', scheme: 'bearer' };

/** The same table for all: a document keeps those that its operations name. */
function securitySchemes(scope_words: ScopeWords): ApiDocument['components']['securitySchemes'] {
  return {
    appSession: {
      ...BEARER,
      description: 'The access token of an app session. It can use all that the account holds.',
    },
    oauth: {
      type: 'oauth2',
      description: 'An OAuth access token, narrowed to its scopes.',
      flows: {
        authorizationCode: {
          authorizationUrl: '/oauth/authorize',
          tokenUrl: '/oauth/token',
          refreshUrl: '/oauth/token',
          scopes: Object.fromEntries(PERMISSIONS.map((name) => [name, scope_words(name)])),
        },
      },
    },
    personalAccessToken: {
      ...BEARER,
      description: 'A personal access token, with the permissions that it was made with.',
    },
    clientSecret: { type: 'http', scheme: 'basic', description: 'The id and the secret of a confidential client.' },
    deviceCertificate: { type: 'mutualTLS', description: 'A certificate that was issued to the device.' },
    operatorToken: { ...BEARER, description: 'What `OPS_TOKEN` says, or the file `ops_token` in the data folder.' },
    workerToken: { ...BEARER, description: 'What `WORKER_TOKEN` says, or the file `worker_token` in the data folder.' },
  };
}

const PARAMETERS: Record<string, Parameter> = {
  ApiVersion: {
    name: 'X-API-Version',
    in: 'header',
    required: false,
    description: 'Of this API; the latest when absent.',
    schema: { type: 'string', enum: [VERSION] },
  },
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    required: false,
    description: 'Comes back with the answer, and stands in our logs.',
    schema: { type: 'string', maxLength: 128 },
  },
};

const HEADERS: Record<string, Header> = {
  RetryAfter: { description: 'Seconds after which to come again.', schema: { type: 'integer', minimum: 0 } },
  Challenge: { description: 'What to authenticate with, and where to get it.', schema: { type: 'string' } },
};

const TEXT: Schema = { type: 'string' };

const REFUSED: Schema = {
  type: 'object',
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      description: 'Why it was refused.',
      properties: {
        code: { type: 'string', description: 'For programs; what may come, each operation says.' },
        message: { type: 'string', description: 'For people who read logs; it may change.' },
        details: {
          type: 'array',
          description: 'What is wrong with the request.',
          items: {
            type: 'object',
            properties: {
              path: { type: 'string', description: 'The field, with dots between levels.' },
              message: { type: 'string', description: 'The rule.' },
            },
            required: ['path', 'message'],
          },
        },
        erase_at: {
          type: ['string', 'null'],
          format: 'date-time',
          description: 'With ACCOUNT_DELETED: until then the account can be restored; null when it can not.',
        },
        reason: { type: 'string', description: 'Of a refused certificate, or of too many requests of a device.' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['success', 'error'],
};

const OAUTH_ERROR: Schema = {
  type: 'object',
  properties: {
    error: { ...TEXT, description: 'For programs (RFC 6749, 5.2).' },
    error_description: { ...TEXT, description: 'For people who read logs; it may change.' },
    auth_session: { type: 'string', description: 'With insufficient_authorization: goes into the next request.' },
    expires_in: { type: 'integer', description: 'With insufficient_authorization: seconds that are left.' },
  },
  required: ['error', 'error_description'],
};

/** Rows that carry a summary; the others are pages for people, and what those are made of. */
function isDocumented({ summary }: Route): boolean {
  return summary !== undefined;
}

function documentOf(listener: ListenerName, routes: readonly Route[], scope_words: ScopeWords): ApiDocument {
  const schemas = new Schemas();
  const paths: ApiDocument['paths'] = {};
  for (const route of routes.filter(isDocumented)) {
    const path = openApiPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase() as Method]: operationOf(route, listener, schemas) };
  }
  const webhooks = listener === 'public' ? webhooksOf(schemas) : undefined;
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const is_public = listener === 'public';
  return {
    openapi: '3.1.1',
    info: INFO[listener],
    servers: SERVERS[listener],
    tags: areasOf(routes).map(({ name, introduction: description }) => ({ name, description })),
    paths,
    ...(webhooks === undefined ? {} : { webhooks }),
    components: {
      securitySchemes: keep(securitySchemes(scope_words), schemesOf(operations)),
      parameters: listener === 'operator' ? keep(PARAMETERS, new Set(['RequestId'])) : PARAMETERS,
      headers: HEADERS,
      schemas: { ...schemas.named, ...(is_public ? { OauthError: OAUTH_ERROR } : {}), Refused: REFUSED },
      examples: keep(REFUSAL_EXAMPLES, codesIn(operations)),
    },
  };
}

function schemesOf(operations: readonly Operation[]): Set<string> {
  return new Set(operations.flatMap(({ security }) => security.flatMap((one) => Object.keys(one))));
}

/** Error codes that an operation names. */
function codesIn(operations: readonly Operation[]): Set<string> {
  const contents = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content = {} }) => Object.values(content)),
  );
  return new Set(contents.flatMap(({ examples = {} }) => Object.keys(examples)));
}

function keep<Value>(table: Record<string, Value>, names: ReadonlySet<string>): Record<string, Value> {
  return Object.fromEntries(Object.entries(table).filter(([name]) => names.has(name)));
}

/** The webhooks of the document, by event type. */
function webhooksOf(schemas: Schemas): NonNullable<ApiDocument['webhooks']> {
  const event = schemas.ofAnswer(eventShape);
  const delivered = EVENT_TYPES.filter((type) => isDelivered(type, {}));
  return Object.fromEntries(
    delivered.map((type) => [
      type,
      {
        post: {
          operationId: `on${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
          tags: ['Events and webhooks'],
          summary: `Delivers ${type}.`,
          security: [],
          parameters: DELIVERY_HEADERS,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { allOf: [event, { properties: { type: { const: type } } }] } } },
          },
          responses: {
            '2XX': { description: 'The endpoint has it. What else it may answer, the webhook guide says.' },
          },
        },
      },
    ]),
  );
}

const DELIVERY_HEADERS: Parameter[] = [
  deliveryHeader('webhook-id', 'Id of the delivery, the same with every try.'),
  deliveryHeader('webhook-timestamp', 'Unix seconds of this try.'),
  deliveryHeader('webhook-signature', 'One or more of `v1,<Base64>`, with spaces between them (Standard Webhooks).'),
];

function deliveryHeader(name: string, description: string): Parameter {
  return { name, in: 'header', required: true, description, schema: TEXT };
}
