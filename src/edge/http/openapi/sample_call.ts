import { exampleOf } from './examples.js';
import type { Method, Operation } from './openapi.js';

/** Who calls: it decides about the address and how a caller shows who it is. */
export type SampleCaller = 'app' | 'device';

/** An operation of the document, with its place there. */
export type PlacedOperation = { path: string; method: Method; operation: Operation };

/** The request of a sample: only what an operation must get, with values of examples. */
export type SampleCall = {
  method: Method;
  /** With names in braces. */
  path: string;
  path_values: Record<string, unknown>;
  query: Record<string, unknown>;
  /** The first of the credentials that do; undefined where none is needed. */
  credential: string | undefined;
  body: { type: string; example: unknown } | null;
};

const BYTES = 'application/octet-stream';
export const FORM = 'application/x-www-form-urlencoded';

export function sampleCall({ path, method, operation }: PlacedOperation): SampleCall {
  const { requestBody, security, parameters = [] } = operation;
  const valuesIn = (place: 'path' | 'query') =>
    Object.fromEntries(
      parameters.flatMap((one) =>
        'name' in one && one.in === place && one.required ? [[one.name, exampleOf(one.schema, one.name)]] : [],
      ),
    );
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return {
    method,
    path,
    path_values: valuesIn('path'),
    query: valuesIn('query'),
    credential: security.flatMap((one) => Object.keys(one))[0],
    body: type === undefined ? null : { type, example: content?.example },
  };
}

/** The path and query of a call, with its values. */
export function filledPath({ path, path_values, query }: SampleCall): string {
  const filled = path.replace(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(String(path_values[name])));
  const asked = queryText(query);
  return asked === '' ? filled : `${filled}?${asked}`;
}

export function queryText(query: Record<string, unknown>): string {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');
}

export function sendsBytes({ body }: SampleCall): boolean {
  return body?.type === BYTES;
}
