import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { z } from 'zod';
import { ROUTES } from '../../../../routes/index.js';
import { PARAMETERS } from '../../../../routes/path_parameters.js';
import { openRoute } from '../../../../routes/rows.js';
import { documentsOf } from '../../../../src/edge/http/openapi/documents.js';
import type { Schema } from '../../../../src/edge/http/openapi/openapi.js';
import type { ListenerName } from '../../../../src/edge/http/openapi/refusals.js';
import type { Route } from '../../../../src/edge/http/route.js';
import { parseGiven } from '../../../../src/engine/wire/schema_faults.js';
import { differenceOf } from '../../../fixtures/documented_answers.js';
import { unknownFormats } from '../../../fixtures/schema_formats.js';

const LISTENERS = ['public', 'device', 'operator'] as const;
const words = (scope: string) => `What ${scope} allows.`;
const documents = documentsOf(ROUTES, words);
const rows = LISTENERS.flatMap((listener) => ROUTES[listener].map((route) => ({ listener, route })));
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

t.test('the documents are valid OpenAPI 3.1', async (t) => {
  for (const listener of LISTENERS) {
    const { valid, errors } = await new Validator().validate(structuredClone(documents[listener]));
    t.ok(valid, listener, { errors });
  }
});

t.test('the same tables give the same documents, byte for byte', async (t) => {
  t.equal(JSON.stringify(documentsOf(ROUTES, words)), JSON.stringify(documents));
});

t.test('a row describes each parameter of its path, and no other', async (t) => {
  for (const { path, params = {} } of LISTENERS.flatMap((listener) => ROUTES[listener])) {
    const names = [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name);
    t.same(Object.keys(params), names, path);
  }
  const row = { method: 'GET', credential: 'none', handler: async () => ({}) } as const;
  const { turn } = PARAMETERS;
  openRoute({ ...row, path: '/turns/:id/:place', params: { id: turn, place: turn } });
  openRoute({ ...row, path: '/turns' });
  // @ts-expect-error The row lacks one.
  openRoute({ ...row, path: '/turns/:id/:place', params: { id: turn } });
  // @ts-expect-error The path has none of that name.
  openRoute({ ...row, path: '/turns/:id', params: { id: turn, place: turn } });
  // @ts-expect-error The path has none.
  openRoute({ ...row, path: '/turns', params: { id: turn } });
});

t.test('formats are those that readers know', async (t) => {
  for (const listener of LISTENERS) t.same(unknownFormats(documents[listener]), [], listener);
  const made = JSON.stringify(documents.public.paths['/endpoints']?.post?.responses['201']);
  t.match(made, /"pattern":"\^whsec_/, 'a form is said as a pattern');
});

t.test('J-001 whatever has items has a cursor', async (t) => {
  for (const listener of LISTENERS) {
    const { paths } = documents[listener];
    let lists = 0;
    for (const [path, item] of Object.entries(paths)) {
      for (const { operationId, responses } of Object.values(item)) {
        const contents = Object.entries(responses).flatMap(([status, one]) =>
          status < '400' ? [one.content ?? {}] : [],
        );
        const schemas = contents.flatMap((content) => Object.values(content)).map(({ schema }) => schema);
        for (const { properties = {} } of schemas.flatMap((schema) => [schema, schema.properties?.data ?? {}])) {
          if (properties.items === undefined) continue;
          lists += 1;
          t.ok(properties.cursor !== undefined, `${operationId} of ${path}`);
        }
      }
    }
    t.ok(lists > (listener === 'device' ? 0 : 4), `${listener} has ${lists} lists`);
  }
});

t.test('an optional member that is null counts as absent, in every body', async (t) => {
  let members = 0;
  for (const { listener, route } of rows) {
    const schema = route.reads?.body ?? route.body;
    const shape = (schema as { shape?: Record<string, z.ZodType> } | undefined)?.shape;
    if (schema === undefined || shape === undefined || route.takes === 'form' || route.dialect === 'page') continue;
    const example = exampleIn(listener, route) as Record<string, unknown>;
    for (const [name, member] of Object.entries(shape)) {
      if (!member.safeParse(undefined).success || member.safeParse(null).success) continue;
      members += 1;
      const { [name]: _, ...without } = example;
      const sent = parseGiven(schema, { ...without, [name]: null });
      const where = `${name} of ${nameOf(route)}`;
      t.same(sent, parseGiven(schema, without), where);
    }
  }
  t.ok(members > 12, `${members} members`);
  const nested = z.object({ list: z.array(z.object({ a: z.string().optional(), b: z.string().nullable() })) });
  t.same(parseGiven(nested, { list: [{ a: null, b: null }] }).data, { list: [{ b: null }] }, 'in lists as well');
  t.notOk(parseGiven(nested, { list: null }).success, 'one that must be there is not absent');
});

t.test('every reference leads somewhere', async (t) => {
  for (const listener of LISTENERS) {
    const { components } = documents[listener];
    const refs = new Set([...JSON.stringify(documents[listener]).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref));
    for (const ref of refs) {
      const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(ref ?? '') ?? [];
      t.ok(Object.hasOwn((components as Record<string, object>)[kind] ?? {}, name), `${listener}: ${ref}`);
    }
  }
});

/** Where clients look for documents that the reference has at another path, and where omi sends in its own form. */
const OF_OTHERS = [
  '/omi/:omi',
  '/.well-known/oauth-authorization-server/mcp',
  '/mcp/.well-known/oauth-authorization-server',
  '/mcp/.well-known/oauth-protected-resource',
];

t.test(
  'every route but pages, their assets, other paths of the same and those of another API says what it is for and what it answers',
  async (t) => {
    const left_out = rows.filter(({ route }) => route.summary === undefined);
    t.same(
      left_out
        .filter(
          ({ route: { dialect, path } }) =>
            dialect !== 'page' && dialect !== 'openai' && !path.endsWith('/') && !OF_OTHERS.includes(path),
        )
        .map(({ route }) => nameOf(route)),
      [],
      'without a summary',
    );
    const named = rows.filter(({ route }) => route.summary !== undefined);
    t.same(
      named
        .filter(({ route }) => (route.answer === undefined) !== (route.status === 204))
        .map(({ route }) => nameOf(route)),
      [],
      'an answer goes with every status but 204',
    );
    for (const { route } of named) t.match(route.summary, /^[A-Z].*[^.]\.$/, nameOf(route));
    const ids = LISTENERS.flatMap((listener) =>
      Object.values(documents[listener].paths).flatMap((item) => Object.values(item).map((one) => one.operationId)),
    );
    t.equal(ids.length, named.length);
    t.equal(new Set(ids).size, ids.length, 'operation ids are distinct');
  },
);

t.test('examples of bodies are what their routes take', async (t) => {
  for (const { listener, route } of rows) {
    const body = route.reads?.body ?? route.body;
    if (body === undefined || route.summary === undefined) continue;
    const example = exampleIn(listener, route);
    const { success, error } = body.safeParse(example);
    t.ok(success, nameOf(route), { example, issues: error?.issues });
  }
});

t.test('every answer has an example, which is what its route may answer', async (t) => {
  let examples = 0;
  for (const { listener, route } of rows.filter(({ route }) => route.summary !== undefined)) {
    const { components, paths } = documents[listener];
    const item = paths[route.path.replace(/:([a-z_]+)/g, '{$1}')];
    const { responses = {} } = item?.[route.method.toLowerCase() as 'get'] ?? {};
    for (const [status, { description, content = {} }] of Object.entries(responses)) {
      const json = content['application/json'];
      if (json === undefined) continue;
      const codes = Number(status) < 400 ? [] : description.split(', ');
      const shown = codes.map(
        (code) => components.examples?.[json.examples?.[code]?.$ref.split('/').at(-1) ?? '']?.value,
      );
      for (const [at, example] of (codes.length > 0 ? shown : [json.example]).entries()) {
        examples += 1;
        const where = `${nameOf(route)} ${status} ${codes[at] ?? ''}`;
        t.not(example, undefined, where);
        t.equal(differenceOf(nameOf(route), Number(status), example), null, where, { example });
        const { error } = (example ?? {}) as { error?: string | { code: string } };
        if (codes.length > 0) t.equal(typeof error === 'object' ? error.code : error, codes[at], where);
      }
    }
  }
  t.ok(examples > 1_000, `${examples} examples`);
});

function exampleIn(listener: ListenerName, { method, path }: Route): unknown {
  const item = documents[listener].paths[path.replace(/:([a-z_]+)/g, '{$1}')];
  const content = item?.[method.toLowerCase() as 'post']?.requestBody?.content ?? {};
  return Object.values(content)[0]?.example;
}

/** Members whose name and type say all. */
const SELF_EVIDENT = ['id', 'name', 'title', 'email', 'created_at', 'items', 'success', 'data'];

type Member = { where: string; name: string; schema: Schema };

/** What a schema is made of, objects within objects too; a shape with a name is looked at where it stands. */
function membersOf(where: string, schema: Schema): Member[] {
  const inner = [...(schema.anyOf ?? []), ...(schema.allOf ?? []), schema.items, schema.additionalProperties];
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
      { where, name, schema: member },
      ...membersOf(`${where}.${name}`, member),
    ]),
    ...inner.flatMap((one) => (typeof one === 'object' ? membersOf(where, one) : [])),
  ];
}

t.test('every member of a body, a query or an answer says in a sentence what it is', async (t) => {
  for (const listener of LISTENERS) {
    const { components, paths } = documents[listener];
    const members = [
      ...Object.entries(components.schemas).flatMap(([name, schema]) => membersOf(name, schema)),
      ...Object.values(paths).flatMap((item) =>
        Object.values(item).flatMap(({ operationId: where, parameters = [], requestBody, responses }) => [
          ...parameters.flatMap((one) =>
            'name' in one
              ? [{ where, name: one.name, schema: { ...one.schema, description: one.description } as Schema }]
              : [],
          ),
          ...[requestBody, ...Object.entries(responses).flatMap(([status, one]) => (status < '400' ? [one] : []))]
            .flatMap((one) => Object.values(one?.content ?? {}))
            .flatMap(({ schema }) => membersOf(where, schema)),
        ]),
      ),
    ];
    t.ok(members.length > 50, `${listener} has members`);
    for (const { where, name, schema } of members) {
      const says = schema.description;
      if (says === undefined && (schema.$ref !== undefined || SELF_EVIDENT.includes(name))) continue;
      t.match(says, /^[^*]{3,200}\.$/, `${listener}: ${name} of ${where}`);
    }
  }
});

t.test('an operation names its credentials, its permissions and its errors', async (t) => {
  const { paths } = documents.public;
  t.same(paths['/audio/streams']?.get?.security, [
    { appSession: ['audio:read'] },
    { oauth: ['audio:read'] },
    { personalAccessToken: ['audio:read'] },
    { appSession: ['turns:read'] },
    { oauth: ['turns:read'] },
    { personalAccessToken: ['turns:read'] },
  ]);
  t.same(paths['/auth/logout']?.post?.security, [{ appSession: [] }]);
  t.same(Object.keys(paths['/me']?.delete?.responses ?? {}), [
    ...['204', '400', '401', '403', '408', '409', '413', '415', '500', '503'],
  ]);
  t.match(paths['/me']?.delete?.responses['409']?.description, 'WORKSPACE_OWNER_REQUIRED');
  const intents = documents.device.paths['/device/chunks/intents']?.post;
  t.same(Object.keys(intents?.requestBody?.content ?? {}), ['application/json', 'application/cbor']);
  t.same(Object.keys(intents?.responses['200']?.content ?? {}), ['application/json', 'application/cbor']);
  t.same(intents?.security, [{ deviceCertificate: [] }]);
});

t.test('events that are delivered are webhooks, and those that never are, are none', async (t) => {
  const names = Object.keys(documents.public.webhooks ?? {});
  t.ok(names.includes('account.updated'));
  t.notOk(names.includes('account.created') || names.includes('account.deleted'));
});

const SOURCE = {
  ...{ id: '0198f3a2-5c1e-7b60-8d3f-2a4b6c8d0e1f', name: null, device_id: null },
  created_at: '2026-01-31T08:30:00.000Z',
};

t.test('an id without a version or the variant of RFC 9562 is found in answers', async (t) => {
  const idOf = (id: string) => differenceOf('GET /sources/:id', 200, { success: true, data: { ...SOURCE, id } });
  t.equal(idOf(SOURCE.id), null);
  t.match(idOf('0198f3a2-5c1e-0b60-8d3f-2a4b6c8d0e1f'), /not a valid UUID: id/);
  t.match(idOf('0198f3a2-5c1e-7b60-cd3f-2a4b6c8d0e1f'), /not a valid UUID: id/);
});

t.test('an answer that differs from what is documented is found', async (t) => {
  const source = SOURCE;
  const answer = (data: object) => differenceOf('GET /sources/:id', 200, { success: true, data });
  t.equal(answer(source), null);
  t.match(answer({ ...source, colour: 'red' }), /colour/, 'a member more');
  t.match(answer({ ...source, created_at: undefined }), /created_at/, 'a member less');
  t.match(answer({ ...source, created_at: '2026-01-31' }), /created_at/, 'another form');
  t.match(differenceOf('GET /sources/:id', 201, { success: true, data: source }), /200 is documented/);
  t.match(differenceOf('GET /sources/:id', 200, source), /envelope/);
  const refused = (status: number, code: string) =>
    differenceOf('GET /sources/:id', status, { success: false, error: { code, message: '' } });
  t.equal(refused(404, 'NOT_FOUND'), null);
  t.match(refused(409, 'CONFLICT'), /CONFLICT is not documented/);
  t.match(refused(404, 'CONFLICT'), /not documented/);
});
