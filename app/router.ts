import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { Permission } from '../kits/typescript/src/api.js';
import type { PlainText } from './language/say.js';

/** Addresses under /app, by the browser's own history. */

export const BASE = '/app';

type AppLocation = { path: string; query: URLSearchParams };

export type PageComponent = ComponentType<{ params: Record<string, string> }>;

/** One page: `path` behind /app, with `:name` for what varies. */
export type AppRoute = {
  path: string;
  page: PageComponent;
  /** Its name in the navigation; none for pages that others lead to. */
  nav?: PlainText;
  /** Without it the page can show nothing, and is not in the navigation. */
  needs?: Permission;
  /** Below the line: what one sets up, beside what one comes for. */
  is_setup?: true;
  /** Beginnings of further addresses at which it is the present one in the navigation. */
  also?: readonly string[];
};

export const place = signal<AppLocation>(here());
/** Counts the changes of page: the first page does not take the focus. */
export const visits = signal(0);

export function startRouter(): void {
  addEventListener('popstate', () => moved());
  document.addEventListener('click', followLink);
}

/** Goes to an address under /app. */
export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  const was = place.peek().path;
  if (replace) place.value = here();
  else moved();
  if (!replace && place.peek().path !== was) scrollTo(0, 0);
}

/** Changes the query of the present address; it is no other page. */
export function setQuery(changes: Record<string, string | null>): void {
  const query = new URLSearchParams(place.peek().query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  go(location.pathname + (text === '' ? '' : `?${text}`), { replace: true });
}

/** The first route whose path fits, with what stands at its `:names`. */
export function routeAt(
  routes: readonly AppRoute[],
  path: string,
): { route: AppRoute; params: Record<string, string> } | null {
  const parts = path.split('/');
  for (const route of routes) {
    const wanted = route.path.split('/');
    if (wanted.length !== parts.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((part, n) => {
      if (!part.startsWith(':')) return part === parts[n];
      params[part.slice(1)] = decoded(parts[n] ?? '');
      return parts[n] !== '';
    });
    if (fits) return { route, params };
  }
  return null;
}

function here(): AppLocation {
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, '') || '/';
  return { path, query: new URLSearchParams(location.search) };
}

function moved(): void {
  const next = here();
  if (next.path !== place.peek().path) visits.value++;
  place.value = next;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Plain clicks on links within /app; all others are the browser's. */
function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (link.pathname !== BASE && !link.pathname.startsWith(`${BASE}/`)) return;
  if (link.pathname === location.pathname && link.search === location.search && link.hash !== '') return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
}
