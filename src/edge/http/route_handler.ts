import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DeviceIdentity, Principal } from '../../access/principal.js';
import { isId } from '../../domain/ids.js';
import { isRefused, type Refusal } from '../../domain/refusals.js';
import { EPOCH_ENDED } from '../../engine/runtime/runtime_refusals.js';
import type { RequestAdmission } from '../admission/request_admission.js';
import { authorize } from './authorization.js';
import { awaitBody, isLarge, leftSignal, refuseUnread } from './body_arrival.js';
import type { EdgeServices } from './edge_services.js';
import { AWAY } from './error_refusals.js';
import { NOT_FOUND } from './protocol_answers.js';
import { readBody, readQuery } from './request_body.js';
import type { RequestLog } from './request_log.js';
import type { Exchange, ListenerKind, RequestCaller } from './request_state.js';
import { type Answering, sendAnswer, sendRefusal } from './responses.js';
import type { Call, Dialect, Route } from './route.js';

/** The parts that the routes of one listener share. */
export type ListenerParts = {
  services: EdgeServices;
  kind: ListenerKind;
  answering: Record<Dialect, Answering>;
  admission: RequestAdmission;
  requests: RequestLog;
};

/** One row of a table on its listener: its checks in the interface's order, then its handler. */
export class RouteHandler {
  readonly #parts: ListenerParts;
  readonly #route: Route;
  readonly #as: Answering;
  /** Path parameters that must be ids. */
  readonly #ids: readonly string[];
  readonly #takes_turns: boolean;

  constructor(parts: ListenerParts, route: Route) {
    this.#parts = parts;
    this.#route = route;
    this.#as = parts.answering[route.dialect ?? 'rest'];
    this.#ids = Object.entries(route.params ?? {}).flatMap(([name, { form }]) => (form === 'id' ? [name] : []));
    // An upload is as slow as its network; its own actors bound it.
    const is_upload = route.raw === true || route.is_upload === true;
    this.#takes_turns = ['account', 'app', 'session'].includes(route.credential) && !is_upload;
  }

  mount(app: FastifyInstance): void {
    const { method, path, cors, dialect = 'rest', body_bytes_max } = this.#route;
    app.route({
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      url: path,
      config: { dialect, ...(cors && { cors }) },
      bodyLimit: body_bytes_max ?? this.#parts.kind.body_bytes_max,
      onRequest: (request, reply) => this.#admit({ request, reply }),
      handler: this.#route.is_upload
        ? (request, reply) => this.#handleUpload({ request, reply })
        : (request, reply) => this.#handle({ request, reply }),
    });
  }

  /** The order of checks is the interface's: rate, version, credential, permission; then the body; then the rest. */
  async #admit(ends: Exchange): Promise<FastifyReply | undefined> {
    const { request, reply } = ends;
    const { admission, kind, requests } = this.#parts;
    const route = this.#route;
    const services = requests.servicesFor(request);
    try {
      const asked = admission.refusalOf(route, request.ip);
      const limited = asked instanceof Promise ? await asked : asked;
      if (limited !== null) return refuseUnread(this.#as, ends, limited);
      const who = await authorize(services, { kind, route, request });
      request.caller = { services, who };
      if ((route.raw === true || route.is_upload) && kind.listener === 'device') {
        const upload = admission.beginUpload((who as DeviceIdentity).device_id);
        reply.raw.once('close', upload.ended);
      }
      if (route.is_upload || route.takes === 'json_pieces') {
        const owner = kind.listener === 'device' ? (who as DeviceIdentity).device_id : (who as Principal).account_id;
        const body = await admission.beginBody(owner, {
          is_large: isLarge(request, route),
          hasLeft: () => leftSignal(ends),
        });
        request.arriving = body;
        reply.raw.once('close', body.end);
        if (reply.raw.closed) body.end();
      }
    } catch (error) {
      if (isRefused(error)) return refuseUnread(this.#as, ends, error.refusal);
      throw error;
    }
    if (route.raw !== true) awaitBody(this.#as, ends, route);
    return undefined;
  }

  async #handle(ends: Exchange): Promise<unknown> {
    const { admission, services } = this.#parts;
    const { request } = ends;
    const caller = request.caller ?? { services, who: null };
    const account_id = this.#takes_turns ? (caller.who as Principal).account_id : null;
    if (account_id === null) return this.#answer(caller, ends);
    try {
      return await admission.inTurn(
        account_id,
        () => leftSignal(ends),
        () => this.#answer(caller, ends),
      );
    } catch (error) {
      if (isRefused(error)) return sendRefusal(this.#as, ends, error.refusal);
      throw error;
    }
  }

  /** Its body is memory that the next upload uses. */
  async #handleUpload(ends: Exchange): Promise<unknown> {
    try {
      return await this.#handle(ends);
    } finally {
      if (Buffer.isBuffer(ends.request.body)) this.#parts.services.body_slabs.release(ends.request.body);
    }
  }

  async #answer({ services, who }: RequestCaller, ends: Exchange): Promise<FastifyReply> {
    const { request, reply } = ends;
    const { kind } = this.#parts;
    const route = this.#route;
    const params = request.params as Record<string, string>;
    const body = readBody(kind, route, request);
    if (!body.ok) return this.#refuse(who, ends, body.refusal);
    const query = readQuery(route, request);
    if (!query.ok) return this.#refuse(who, ends, query.refusal);
    for (const name of this.#ids) {
      params[name] = params[name]?.toLowerCase() ?? '';
      if (!isId(params[name])) return this.#refuse(who, ends, NOT_FOUND);
    }
    // Each by its name: spread into a larger object they would take 5 µs.
    const call = { services, who, body: body.value, query: query.value, params, request, reply } as Call<
      never,
      never,
      never,
      never
    >;
    let answer: unknown;
    try {
      answer = await route.handler(call);
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (reply.sent) return reply;
      const { refusal } = error;
      return this.#refuse(who, ends, refusal === EPOCH_ENDED ? await this.#endedMeanwhile(request) : refusal);
    }
    if (reply.sent) return reply;
    if (route.status !== undefined) reply.code(route.status);
    return sendAnswer(this.#as, ends, answer);
  }

  #refuse(who: unknown, ends: Exchange, refusal: Refusal): FastifyReply {
    const { kind, services } = this.#parts;
    // A body that nobody reads to its end must not become the next request.
    if (this.#route.raw === true && !ends.request.raw.readableEnded) ends.reply.header('Connection', 'close');
    if (kind.listener === 'device' && who !== null) {
      const { method, path } = this.#route;
      const { device_id } = who as DeviceIdentity;
      services.device_activity.refused(device_id, { reason: refusal.refused, route: `${method} ${path}` });
    }
    return sendRefusal(this.#as, ends, refusal);
  }

  /** The answer when the credential, or the device's account, ended during the request. */
  async #endedMeanwhile(request: FastifyRequest): Promise<Refusal> {
    const { kind, services } = this.#parts;
    const route = this.#route;
    if (route.credential === 'device') return AWAY; // the device comes again, and gets the reason then
    try {
      await authorize(services, { kind, route, request });
      return AWAY; // still valid, under another epoch: the caller tries again
    } catch (error) {
      if (isRefused(error)) return error.refusal;
      throw error;
    }
  }
}
