import type { FastifyCorsOptions } from '@fastify/cors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { AccessRule } from '../../access/access.js';
import type { OauthErrorCode } from '../../domain/oauth_errors.js';
import type { Permission } from '../../domain/permissions.js';
import type { RefusalCode } from '../../domain/refusals.js';
import type { RateName } from '../../engine/limits/rate_limits.js';
import type { Priority } from '../admission/overload.js';

/** The arguments of a handler, beside the parsed request. */
export type Call<Services, Who, Body, Query, Param extends string = string> = {
  services: Services;
  who: Who;
  body: Body;
  query: Query;
  /** Path parameters; ids among them are UUIDs in lower case, anything else was answered 404. */
  params: Readonly<Record<Param, string>>;
  request: FastifyRequest;
  reply: FastifyReply;
};

export type Answer = unknown;

/**
 * The dialect of a route: the envelope of the interface, OAuth's plain JSON, pages for people, MCP's JSON-RPC, where only
 * what is refused before a message is read comes in the envelope, or the plain JSON of OpenAI's API.
 */
export type Dialect = 'rest' | 'oauth' | 'page' | 'mcp' | 'openai';

/**
 * Successes that are no document: bytes (of audio or not; a range of them with 206), plain text, the way to another
 * address, or server-sent events.
 */
export type OtherAnswer = 'audio' | 'bytes' | 'text' | 'redirect' | 'events';

/**
 * A parameter of a path, for the reference. `id`: a UUID, of which anything else is answered 404; `uuid`: one that the
 * handler reads by itself; a list: the words that it may be.
 */
export type PathParameter = { description: string; form: 'id' | 'uuid' | 'date' | 'text' | readonly string[] };

/** Whether it answers with bytes, of which a range may be asked for. */
export function givesBytes({ answer }: Pick<Route, 'answer'>): boolean {
  return answer === 'audio' || answer === 'bytes';
}

/**
 * One route, as a row: who may call it, what it takes, what it answers. `status` is that of success; 204 answers have
 * no body.
 */
export type Route = AccessRule & {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Fastify's form; `:name` is a parameter. */
  path: string;
  /** Each parameter of the path; absent where there is none. */
  params?: Readonly<Record<string, PathParameter>>;
  /** The purpose in a line, for the reference. Pages for people, their assets and routes of another API have none, and are not in it. */
  summary?: string;
  /** Notes for the caller beside that, in whole sentences. */
  notes?: string;
  /**
   * `account`: whatever acts for an account. `app`: the same, but no personal access token. `session`: app sessions
   * only. `device`: a client certificate.
   */
  credential: 'none' | 'account' | 'app' | 'session' | 'device' | 'operator';
  /** Which OAuth clients authenticate here: `any`, by its secret if it has one, or `confidential` ones alone, by HTTP Basic. */
  client?: 'any' | 'confidential';
  /** Scopes that a client without a token is told to ask for. */
  asks_for?: readonly Permission[];
  /** No third-party client, whatever its scopes. */
  own_apps?: true;
  /** Serves deleted accounts as well. */
  deleted_too?: true;
  /** Serves content workers as well, by their own token. */
  worker_too?: true;
  /** Serves devices whose certificate has expired, for as long as they may renew it. */
  expired_too?: true;
  /**
   * `critical`: refused only when refusing the others does not help. `normal` when absent. docs/architecture.md,
   * "Admission".
   */
  priority?: Priority;
  /** Only for accounts with the entitlement workspace.sharing. */
  sharing?: true;
  rate?: RateName;
  status?: 200 | 201 | 202 | 204;
  /** `rest` when absent. */
  dialect?: Dialect;
  /** Which web pages may call, and with which headers; CORS_ORIGINS and the interface's list when absent. */
  cors?: FastifyCorsOptions;
  /**
   * The format of a body; JSON (and CBOR where the listener speaks it) when absent. `json_pieces`: JSON too, which the
   * handler reads by itself from the bytes as they came.
   */
  takes?: 'form' | 'json_pieces';
  /** The maximum size of a body, where it is not the listener's. */
  body_bytes_max?: number;
  /** Its body holds chunks: it counts as an upload of its device and against the bodies that a process takes at a time. */
  is_upload?: true;
  body?: z.ZodType;
  query?: z.ZodType;
  /** The handler reads the body itself, as a stream. */
  raw?: boolean;
  /**
   * The schemas of what the handler reads by itself, for the reference; `body` and `query` are read before it is
   * called.
   */
  reads?: { body?: z.ZodType; query?: z.ZodType };
  /** A body as the reference shows it, where one made of the schema would say little. */
  example?: Readonly<Record<string, unknown>>;
  /** The body of a success: what lies in the envelope, where there is one. Absent where there is none. */
  answer?: z.ZodType | OtherAnswer;
  /** Of an answer of events: what each may be. */
  events?: z.ZodType;
  /** Refusals beside those that follow from the rest of the row; see src/edge/http/openapi/refusals.ts. */
  refusals?: readonly (RefusalCode | OauthErrorCode)[];
  handler: (call: Call<never, never, never, never>) => Promise<Answer>;
};

/** Names of the parameters of a path. */
type ParamOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** One parameter too few or too many does not compile. */
type WithParams<Path extends string> = [ParamOf<Path>] extends [never]
  ? { params?: never }
  : { params: Readonly<Record<ParamOf<Path>, PathParameter>> };

type Typed<
  Services,
  Who,
  Path extends string,
  Body extends z.ZodType | undefined,
  Query extends z.ZodType | undefined,
> = Omit<Route, 'handler' | 'path' | 'params' | 'body' | 'query'> & {
  path: Path;
  body?: Body;
  query?: Query;
  handler: (
    call: Call<
      Services,
      Who,
      Body extends z.ZodType ? z.output<Body> : undefined,
      Query extends z.ZodType ? z.output<Query> : undefined,
      ParamOf<Path>
    >,
  ) => Promise<Answer>;
} & WithParams<Path>;

/** Makes rows whose handler's types follow from the services, the credential, the path and the schemas. */
export function rowOf<Services, Who>() {
  return <
    const Path extends string,
    Body extends z.ZodType | undefined = undefined,
    Query extends z.ZodType | undefined = undefined,
  >(
    row: Typed<Services, Who, Path, Body, Query>,
  ): Route => row as unknown as Route;
}
