import { setTimeout } from 'node:timers/promises';
import type { Principal } from '../../access/principal.js';
import { isEnabled, type Layer } from '../../domain/permissions.js';
import { isRefused, type Refusal } from '../../domain/refusals.js';
import { JsonBytes } from '../../edge/http/responses.js';
import type { Call, Route } from '../../edge/http/route.js';
import type { FeatureServices as Services } from '../services.js';
import type { Item } from './export_resources.js';

/** Items of one page. */
const PAGE_MAX = 100;
/** After each page it rests for so many times as long as that took: an export is in no hurry, and others are. */
const REST_FACTOR = 1;
const REST_MAX_MS = 200;

/** What was to be read is not there any more. */
const GONE: readonly Refusal['refused'][] = ['NOT_FOUND', 'CONTENT_EXPIRED'];

type ParsedCall = Pick<Call<Services, Principal, never, unknown>, 'services' | 'who' | 'query' | 'params'>;
type Asked = { path: string; who: Principal; id?: string | undefined };

/** Reads an account by the rows of the routes, so that what is read is what they answer. */
export class AccountReader {
  readonly #rows: ReadonlyMap<string, Route>;
  readonly #services: () => Services;

  constructor(rows: readonly Route[], services: () => Services) {
    this.#rows = new Map(rows.flatMap((row) => (row.method === 'GET' ? [[row.path, row] as const] : [])));
    this.#services = services;
  }

  /** Which layer must be on for a route that this caller may not call; null where nothing hinders it. */
  missingLayer(path: string, { account, permissions }: Principal): Layer | 'rights' | null {
    const { layer, permission = [] } = this.#rowOf(path);
    if (layer !== undefined && !isEnabled(account.entitlements, layer)) return layer;
    if (permission.length === 0 || permission.some((name) => permissions.includes(name))) return null;
    const [first = ''] = permission;
    if (first.startsWith('turns:')) return 'transcripts.access';
    if (first.startsWith('insights:')) return 'insights.access';
    return first.startsWith('audio:') ? 'audio.access' : 'rights';
  }

  /** All of a list, page by page. What is gone meanwhile has nothing. */
  async *list(asked: Asked): AsyncGenerator<Item> {
    for (let cursor: string | null = null; ; ) {
      const began = performance.now();
      const page = await this.#ask(asked, { limit: String(PAGE_MAX), ...(cursor === null ? {} : { cursor }) });
      if (page === null) return;
      yield* (page as { items: Item[] }).items;
      cursor = (page as { cursor: string | null }).cursor;
      if (cursor === null) return;
      await setTimeout(Math.min(REST_MAX_MS, (performance.now() - began) * REST_FACTOR));
    }
  }

  /** One document; null where there is none any more. */
  one(asked: Asked): Promise<Item | null> {
    return this.#ask(asked, {}) as Promise<Item | null>;
  }

  async #ask({ path, who, id }: Asked, given: Record<string, string>): Promise<object | null> {
    const row = this.#rowOf(path);
    const query = row.query === undefined ? undefined : row.query.parse(given);
    const params = id === undefined ? {} : { id };
    // Lists look at nothing of a request but what was parsed of it.
    const asked: ParsedCall = { services: this.#services(), who, query, params };
    try {
      const answer = await row.handler(asked as never);
      return answer instanceof JsonBytes ? JSON.parse(Buffer.concat(answer.pieces).toString()) : (answer as object);
    } catch (error) {
      if (isRefused(error, ...GONE)) return null;
      throw error;
    }
  }

  #rowOf(path: string): Route {
    const row = this.#rows.get(path);
    if (row === undefined) throw new Error(`no route lists ${path}`);
    return row;
  }
}
