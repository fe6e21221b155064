import { type Caller, curlOf } from '../http/openapi/curl.js';
import { type Field, fieldsOf, typeOf } from '../http/openapi/fields.js';
import type { ApiDocument, Content, Method, Operation, Parameter, Response, Schema } from '../http/openapi/openapi.js';
import { renderTemplate } from './page.js';
import { pageParts } from './page_parts.js';

/** The reference for people: what the document says, and nothing else, as one page. */

type OperationView = {
  id: string;
  method: string;
  path: string;
  summary: string;
  notes: string | null;
  credentials: string[];
  permissions: string[];
  parameters: Field[];
  body: { types: string[]; fields: Field[]; is_optional: boolean } | null;
  answers: { status: string; words: string; shape: string | null; fields: Field[] }[];
  refusals: { status: string; codes: string[] }[];
  curl: string;
};

const CREDENTIALS: Record<string, string> = {
  appSession: 'app session',
  oauth: 'OAuth access token',
  personalAccessToken: 'personal access token',
  clientSecret: 'client secret (HTTP Basic)',
  deviceCertificate: 'device certificate',
  operatorToken: 'operator token',
};

export function referencePage(document: ApiDocument, caller: Caller): string {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      area: operation.tags[0] ?? '',
      view: operationView(document, { path, method: method as Method, operation }, caller),
    })),
  );
  const areas = document.tags.map(({ name, description }) => ({
    ...{ id: idOf(name), name, introduction: description },
    operations: operations.flatMap(({ area, view }) => (area === name ? [view] : [])),
  }));
  const shapes = Object.entries(document.components.schemas).map(([name, schema]) => ({
    ...{ id: shapeId(name), name },
    fields: fieldsOf(document, schema),
    words: typeOf(document, schema).words,
  }));
  const webhooks = Object.entries(document.webhooks ?? {}).map(([type]) => type);
  const { title, summary, description } = document.info;
  return renderTemplate('reference', {
    ...pageParts(caller === 'device' ? '/reference/devices' : '/reference'),
    title: `${title} · API reference`,
    heading: `${title} API`,
    lead: summary,
    introduction: description,
    document_path: caller === 'device' ? '/openapi/device.json' : '/openapi.json',
    caller,
    areas,
    shapes,
    webhooks,
  });
}

function idOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function shapeId(name: string): string {
  return `shape-${name}`;
}

function operationView(
  document: ApiDocument,
  { path, method, operation }: { path: string; method: Method; operation: Operation },
  caller: Caller,
): OperationView {
  const { security, requestBody } = operation;
  const statuses = Object.entries(operation.responses);
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    notes: operation.description ?? null,
    credentials: [...new Set(security.flatMap((one) => Object.keys(one)))].map((name) => CREDENTIALS[name] ?? name),
    permissions: [...new Set(security.flatMap((one) => Object.values(one).flatMap(together)))],
    parameters: parametersOf(operation).map((parameter) => parameterField(document, parameter)),
    body: requestBody === undefined ? null : bodyView(document, requestBody),
    answers: statuses.flatMap(([status, answer]) => (isSuccess(status) ? [answerView(document, status, answer)] : [])),
    refusals: statuses.flatMap(([status, answer]) =>
      isSuccess(status) ? [] : [{ status, codes: answer.description.split(', ') }],
    ),
    curl: curlOf({ path, method, operation }, caller),
  };
}

function isSuccess(status: string): boolean {
  return Number(status) < 400;
}

/** Without those that every operation takes, which the introduction names. */
function parametersOf({ parameters = [] }: Operation): Parameter[] {
  return parameters.flatMap((parameter) => ('$ref' in parameter ? [] : [parameter]));
}

function parameterField(document: ApiDocument, { name, in: place, required, description, schema }: Parameter): Field {
  return { name, place, type: typeOf(document, schema), is_required: required, description: description ?? null };
}

function bodyView(document: ApiDocument, { content, required }: { content: Content; required: boolean }) {
  const types = Object.keys(content);
  const schema = content[types[0] ?? '']?.schema ?? {};
  return { types, fields: fieldsOf(document, schema), is_optional: !required };
}

function answerView(document: ApiDocument, status: string, { description, content = {} }: Response) {
  const [type] = Object.keys(content);
  const schema = payloadOf((type === undefined ? undefined : content[type]?.schema) ?? {});
  const shape = shapeNamed(schema) ?? shapeNamed(schema.properties?.items?.items ?? {});
  return {
    status,
    words: type === undefined || type.includes('json') ? description : `${description} ${type}`,
    shape,
    fields: fieldsOf(document, schema),
  };
}

/** What lies in the envelope, where there is one. */
function payloadOf(schema: Schema): Schema {
  const { success, data } = schema.properties ?? {};
  return success !== undefined && data !== undefined ? data : schema;
}

function shapeNamed({ $ref }: Schema): string | null {
  return $ref === undefined ? null : ($ref.split('/').at(-1) ?? null);
}

/** Permissions that are needed together, as one. */
function together(names: string[]): string[] {
  return names.length === 0 ? [] : [names.join(' and ')];
}
