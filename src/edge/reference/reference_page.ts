import { areaId } from '../http/openapi/areas.js';
import { curlOf } from '../http/openapi/curl.js';
import { type Field, fieldsOf, typeOf } from '../http/openapi/fields.js';
import type {
  ApiDocument,
  Content,
  Header,
  Method,
  Operation,
  Parameter,
  Response,
  Schema,
} from '../http/openapi/openapi.js';
import { pythonOf } from '../http/openapi/python_sample.js';
import { adviceOn } from '../http/openapi/refusal_advice.js';
import { FORM, type PlacedOperation, type SampleCaller, sampleCall } from '../http/openapi/sample_call.js';
import { isTypedCall } from '../http/openapi/typescript.js';
import { typescriptOf } from '../http/openapi/typescript_sample.js';
import { renderTemplate } from '../pages/page.js';
import { pageParts, REFERENCE_PATHS } from './page_parts.js';

/** The reference for people: what the documents say, and nothing else. One page for each area, and one that leads there. */

/** An answer with how it may look; `body` is null where it is no JSON, and `words` say what it is instead. */
type Example = {
  status: string;
  code: string | null;
  advice: string | null;
  headers: string[];
  body: string | null;
  words: string;
};

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
  answers: { status: string; words: string; shape: string | null; fields: Field[]; example: Example }[];
  refusals: Example[];
  samples: { language: string; code: string }[];
  /** For the script that sends it, as JSON; null where a browser has not what it needs. */
  trial: string | null;
};

const CREDENTIALS: Record<string, string> = {
  appSession: 'app session',
  oauth: 'OAuth access token',
  personalAccessToken: 'personal access token',
  clientSecret: 'client secret (HTTP Basic)',
  deviceCertificate: 'device certificate',
  operatorToken: 'operator token',
  workerToken: 'worker token',
};

/** More values than these are folded. */
const VALUES_SHOWN = 8;

/** The page of areas, with a line for each operation. */
export function referenceIndex(document: ApiDocument, caller: SampleCaller): string {
  const { title, summary, description } = document.info;
  return renderTemplate('reference', {
    ...partsOf(document, caller, null),
    title: `${title} · API reference`,
    heading: `${title} API`,
    lead: summary,
    introduction: description,
    shapes: Object.keys(document.components.schemas),
  });
}

/** One area, with all of its operations. */
export function referenceArea(document: ApiDocument, caller: SampleCaller, id: string): string {
  const area = document.tags.find(({ name }) => areaId(name) === id);
  if (area === undefined) throw new Error(`the reference has no area ${id}`);
  const operations = operationsOf(document).filter(({ operation }) => operation.tags[0] === area.name);
  return renderTemplate('reference_area', {
    ...partsOf(document, caller, id),
    title: `${area.name} · API reference`,
    heading: area.name,
    introduction: area.description,
    operations: operations.map((one) => operationView(document, one, caller)),
    webhooks: id === areaId('Events and webhooks') ? Object.keys(document.webhooks ?? {}) : [],
  });
}

/** The page of shapes, of which answers are made. */
export function referenceShapes(document: ApiDocument, caller: SampleCaller): string {
  const shapes = Object.entries(document.components.schemas).map(([name, schema]) => ({
    name,
    fields: fieldsOf(document, schema).map(folded),
    type: foldedType(typeOf(document, schema)),
  }));
  return renderTemplate('reference_shapes', {
    ...partsOf(document, caller, 'shapes'),
    title: 'Shapes · API reference',
    shapes,
  });
}

/** The index of the search on every page: address, method, path, summary, area, and other words in lower case. */
export function searchIndex(documents: Record<SampleCaller, ApiDocument>): string[][] {
  return (['app', 'device'] as const).flatMap((caller) =>
    operationsOf(documents[caller]).map(({ path, method, operation }) => {
      const [area = ''] = operation.tags;
      const address = `${REFERENCE_PATHS[caller]}/${areaId(area)}#${operation.operationId}`;
      return [address, method.toUpperCase(), path, operation.summary, area, wordsOf(operation)];
    }),
  );
}

/** Permissions, error codes, names of parameters and of members of the body, notes. */
function wordsOf({ security, responses, parameters = [], requestBody, description = '' }: Operation): string {
  const members = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
    Object.keys(schema.properties ?? {}),
  );
  const words = [
    ...security.flatMap((one) => Object.values(one).flat()),
    ...Object.entries(responses).flatMap(([status, answer]) =>
      isSuccess(status) ? [] : answer.description.split(', '),
    ),
    ...parameters.flatMap((one) => ('name' in one ? [one.name] : [])),
    ...members,
    description,
  ];
  return [...new Set(words.map((word) => word.toLowerCase()))].join(' ');
}

/** `here`: the area that is shown, 'shapes', or null for the page that leads to them. */
function partsOf(document: ApiDocument, caller: SampleCaller, here: string | null) {
  const base = REFERENCE_PATHS[caller];
  const all = operationsOf(document);
  return {
    ...pageParts(base),
    base,
    caller,
    area_here: here,
    document_path: caller === 'device' ? '/openapi/device.json' : '/openapi.json',
    shapes_path: `${base}/shapes`,
    areas: document.tags.map(({ name, description }) => ({
      id: areaId(name),
      path: `${base}/${areaId(name)}`,
      name,
      introduction: description,
      operations: all.flatMap(({ path, method, operation }) =>
        operation.tags[0] === name
          ? [{ id: operation.operationId, method: method.toUpperCase(), path, summary: operation.summary }]
          : [],
      ),
    })),
  };
}

function operationsOf(document: ApiDocument): PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method as Method, operation })),
  );
}

function operationView(
  document: ApiDocument,
  { path, method, operation }: PlacedOperation,
  caller: SampleCaller,
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
    refusals: statuses.flatMap(([status, answer]) => (isSuccess(status) ? [] : refusalViews(document, status, answer))),
    samples: samplesOf({ path, method, operation }, caller),
    trial: caller === 'app' ? trialOf({ path, method, operation }) : null,
  };
}

function samplesOf(placed: PlacedOperation, caller: SampleCaller): OperationView['samples'] {
  const call = sampleCall(placed);
  const is_typed = isTypedCall(caller === 'app' ? 'public' : 'device', placed.operation);
  return [
    { language: 'curl', code: curlOf(call, caller) },
    { language: 'TypeScript', code: typescriptOf(call, caller, { is_typed }) },
    { language: 'Python', code: pythonOf(call, caller) },
  ];
}

/** An operation as it can be tried in a browser: without bytes to send, an answer without end, or a client's secret. */
function trialOf(placed: PlacedOperation): string | null {
  const { operation } = placed;
  const { method, path, body, path_values, query } = sampleCall(placed);
  const schemes = operation.security.flatMap((one) => Object.keys(one));
  const types = Object.values(operation.responses).flatMap(({ content = {} }) => Object.keys(content));
  if (body !== null && !TRIED_BODIES.has(body.type)) return null;
  if (schemes.includes('clientSecret') || types.includes('text/event-stream')) return null;
  const parameters = parametersOf(operation).filter((one) => one.in !== 'header');
  return JSON.stringify({
    method: method.toUpperCase(),
    path,
    needs_token: schemes.length > 0,
    parameters: parameters.map(({ name, in: place, required }) => ({
      ...{ name, place, required },
      example: String((place === 'path' ? path_values : query)[name] ?? ''),
    })),
    body: body === null ? null : { type: body.type, text: written(body.example) },
  });
}

const TRIED_BODIES = new Set(['application/json', FORM]);

function isSuccess(status: string): boolean {
  return Number(status) < 400;
}

/** Without those that every operation takes, which the introduction names. */
function parametersOf({ parameters = [] }: Operation): Parameter[] {
  return parameters.flatMap((parameter) => ('$ref' in parameter ? [] : [parameter]));
}

function parameterField(document: ApiDocument, { name, in: place, required, description, schema }: Parameter): Field {
  return folded({
    name,
    place,
    type: typeOf(document, schema),
    is_required: required,
    description: description ?? null,
  });
}

function bodyView(document: ApiDocument, { content, required }: { content: Content; required: boolean }) {
  const types = Object.keys(content);
  const schema = content[types[0] ?? '']?.schema ?? {};
  return { types, fields: fieldsOf(document, schema).map(folded), is_optional: !required };
}

function answerView(document: ApiDocument, status: string, { description, headers, content = {} }: Response) {
  const [type] = Object.keys(content);
  const schema = payloadOf((type === undefined ? undefined : content[type]?.schema) ?? {});
  const shape = shapeNamed(schema) ?? shapeNamed(schema.properties?.items?.items ?? {});
  const example = type === undefined ? undefined : content[type]?.example;
  return {
    status,
    words: type === undefined || type.includes('json') ? description : `${description} ${type}`,
    shape,
    fields: fieldsOf(document, schema).map(folded),
    example: {
      status,
      ...{ code: null, advice: null },
      headers: headerNames(headers),
      body: example === undefined ? null : written(example),
      words: type === undefined ? 'It has no body.' : `The body is ${type}.`,
    },
  };
}

/** One for each code. */
function refusalViews(
  { components }: ApiDocument,
  status: string,
  { description, headers, content }: Response,
): Example[] {
  const json = content?.['application/json'];
  if (json === undefined) return [{ status, code: null, advice: null, headers: [], body: null, words: description }];
  return description.split(', ').map((code) => {
    const name = json.examples?.[code]?.$ref.split('/').at(-1) ?? '';
    const body = written(components.examples?.[name]?.value);
    return { status, code, advice: adviceOn(code), headers: headerNames(headers), body, words: '' };
  });
}

function headerNames(headers: Record<string, Header | { $ref: string }> = {}): string[] {
  return Object.keys(headers);
}

function written(example: unknown): string {
  return JSON.stringify(example, null, 2);
}

/** The schema of the payload in the envelope, where there is one. */
function payloadOf(schema: Schema): Schema {
  const { success, data } = schema.properties ?? {};
  return success !== undefined && data !== undefined ? data : schema;
}

function shapeNamed({ $ref }: Schema): string | null {
  return $ref === undefined ? null : ($ref.split('/').at(-1) ?? null);
}

/** A type of many values tells how many there are; the values are folded under it. */
function foldedType({ words, shape }: Field['type']): Field['type'] & { values: string[] } {
  const [, before = '', listed = '', after = ''] = /^(.*?)one of (.*?)( or null)?$/.exec(words) ?? [];
  const values = listed.split(', ').filter(Boolean);
  if (values.length <= VALUES_SHOWN) return { words, shape, values: [] };
  return { words: `${before}one of ${values.length} values${after}`, shape, values };
}

function folded(field: Field): Field {
  return { ...field, type: foldedType(field.type) };
}

/** Permissions that are needed together, as one. */
function together(names: string[]): string[] {
  return names.length === 0 ? [] : [names.join(' and ')];
}
