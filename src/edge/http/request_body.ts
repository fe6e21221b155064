import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type Refusal, refuse } from '../../domain/refusals.js';
import { decodeCbor } from '../../engine/wire/cbor.js';
import { isForm, readParameters, repeatProblem } from '../../engine/wire/form.js';
import { decodeJson } from '../../engine/wire/json.js';
import { bodyFormat } from '../../engine/wire/media_types.js';
import { parseAsSent, parseGiven } from '../../engine/wire/schema_faults.js';
import type { ListenerKind } from './request_state.js';
import type { Route } from './route.js';

/** The parsed value of a body or a query, or its refusal by the schema of the row. */

type Read = { ok: true; value: unknown } | { ok: false; refusal: Refusal };

export function readBody(kind: ListenerKind, route: Route, request: FastifyRequest): Read {
  if (route.raw === true) return { ok: true, value: undefined };
  const bytes = request.body as Buffer | undefined; // or its pieces, for whoever takes them
  const is_empty = bytes === undefined || bytes.length === 0;
  // Apps may send what nobody looks at; devices are held to their two formats everywhere.
  if (route.body === undefined && (kind.listener !== 'device' || is_empty)) return { ok: true, value: undefined };
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return { ok: false, refusal: refuse('UNSUPPORTED_MEDIA_TYPE', 'Bodies must come without Content-Encoding.') };
  }
  if (route.takes === 'form') return readForm(route.body, request.headers['content-type'], bytes);
  if (is_empty) return validate(route.body, undefined, 'body');
  const format = bodyFormat(request.headers['content-type']);
  const takes_cbor = kind.cbor || route.is_upload === true;
  if (format === 'unsupported' || (format === 'cbor' && !takes_cbor)) {
    const formats = takes_cbor ? 'application/json or application/cbor' : 'application/json';
    return { ok: false, refusal: refuse('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be ${formats}.`) };
  }
  if (route.takes === 'json_pieces') return validate(route.body, bytes, 'body');
  const document = format === 'cbor' ? decodeCbor(bytes) : decodeJson(bytes);
  if (document.ok) return validate(route.body, document.value, 'body');
  const detail = { path: document.path ?? '', message: document.message };
  return {
    ok: false,
    refusal: refuse('BAD_REQUEST', `The body is not valid ${format.toUpperCase()}: ${document.message}.`, {
      details: [detail],
    }),
  };
}

export function readQuery(route: Route, request: FastifyRequest): Read {
  return validate(route.query, request.query, 'query');
}

function readForm(
  schema: z.ZodType | undefined,
  content_type: string | undefined,
  bytes: Buffer = Buffer.alloc(0),
): Read {
  const bad = (message: string): Read => ({ ok: false, refusal: refuse('BAD_REQUEST', message) });
  // A request without a body and without a type is an empty form: what it lacks is then said by name.
  if (!isForm(content_type) && (content_type !== undefined || bytes.length > 0)) {
    return bad('Content-Type must be application/x-www-form-urlencoded.');
  }
  const parameters = readParameters(bytes.toString('utf8'));
  if (parameters === null) return bad('The body is not a form in UTF-8.');
  const twice = repeatProblem(parameters);
  if (twice !== null) return bad(twice);
  return validate(schema, parameters.values, 'body', parseAsSent);
}

function validate(
  schema: z.ZodType | undefined,
  value: unknown,
  what: 'body' | 'query',
  parse: typeof parseGiven = parseGiven,
): Read {
  if (schema === undefined) return { ok: true, value: undefined };
  const parsed = parse(schema, value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const details = parsed.error.issues.slice(0, 20).map(({ path, message }) => ({ path: path.join('.'), message }));
  const first = details[0];
  const where = first === undefined || first.path === '' ? `The ${what}` : first.path;
  return { ok: false, refusal: refuse('BAD_REQUEST', `${where}: ${first?.message ?? 'is not valid'}.`, { details }) };
}
