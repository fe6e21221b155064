import type { FastifyRequest } from 'fastify';
import type { Arrival } from './request_state.js';
import type { Dialect, Route } from './route.js';

/** Which addresses the rows of a listener cover, whatever the method. */
export class RouteAddresses {
  readonly #rows: readonly { method: Route['method']; pattern: RegExp; dialect: Dialect | undefined }[];

  constructor(routes: readonly Route[]) {
    this.#rows = routes.map(({ method, path, dialect }) => ({ method, pattern: patternOf(path), dialect }));
  }

  /** The methods at an address; none where there is no row. */
  methodsAt(url: string): string[] {
    const methods = this.#rowsAt(url).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : method));
    return methods.length === 0 ? [] : [...new Set<string>(methods), 'OPTIONS'];
  }

  /** Where only the method is wrong, the answer is in the words of that address all the same. */
  arrivalOf(request: FastifyRequest): Arrival {
    if (request.is404) return { dialect: this.#rowsAt(request.url)[0]?.dialect ?? 'rest', url: undefined };
    const { config, url } = request.routeOptions;
    return { dialect: config.dialect ?? 'rest', url };
  }

  #rowsAt(url: string) {
    const path = url.split('?', 1)[0] ?? '';
    return this.#rows.filter(({ pattern }) => pattern.test(path));
  }
}

function patternOf(path: string): RegExp {
  const text = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[a-z_]+/g, '[^/]+');
  return new RegExp(`^${text.replace(/\\\*$/, '.*')}$`);
}
