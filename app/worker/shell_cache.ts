/**
 * The app's document and the files that it names, for when there is no connection. A cache holds those of one build and is
 * named by them. The document is the same for everybody and every address; nothing else of the server is kept.
 */

export const DOCUMENT = '/app';
const FILES = '/assets/';
const PREFIX = 'spool-shell ';
/** Answers vary by `Origin`, which a page sends with a script and a worker that keeps it does not. */
const ANY_ORIGIN = { ignoreVary: true } as const;
const NAMED = / (?:src|href)="(\/assets\/[^"]+)"/g;

/** The browser's caches (`CacheStorage`), as far as they are used here. */
export type ShellCaches = {
  has(name: string): Promise<boolean>;
  open(name: string): Promise<{
    addAll(paths: string[]): Promise<void>;
    put(path: string, answer: Response): Promise<void>;
  }>;
  keys(): Promise<string[]>;
  delete(name: string): Promise<boolean>;
  match(request: string | Request, options: { ignoreVary: true }): Promise<Response | undefined>;
};

export function isPageRequest({ mode, method }: Request, pathname: string): boolean {
  return mode === 'navigate' && method === 'GET' && (pathname === DOCUMENT || pathname.startsWith(`${DOCUMENT}/`));
}

export function isFileRequest({ method }: Request, pathname: string): boolean {
  return method === 'GET' && pathname.startsWith(FILES);
}

/** Keeps a document that has come, with its files. Those of another build go once all of these are there. */
export async function keepShell(caches: ShellCaches, document: Response): Promise<void> {
  if (!document.ok || document.redirected) return;
  const copy = document.clone();
  const files = [...(await document.text()).matchAll(NAMED)].map(([, path = '']) => path);
  const name = PREFIX + files.join(' ');
  const is_new = !(await caches.has(name));
  const cache = await caches.open(name);
  try {
    if (is_new) await cache.addAll(files);
    await cache.put(DOCUMENT, copy);
  } catch (error) {
    if (is_new) await caches.delete(name);
    throw error;
  }
  const others = (await caches.keys()).filter((one) => one.startsWith(PREFIX) && one !== name);
  await Promise.all(others.map((one) => caches.delete(one)));
}

/** The document that is kept, for any page; an error where none is. */
export async function keptDocument(caches: ShellCaches): Promise<Response> {
  return (await caches.match(DOCUMENT, ANY_ORIGIN)) ?? Response.error();
}

/** A file of the app. What lies at such an address never changes. */
export async function fileOf(caches: ShellCaches, request: Request): Promise<Response> {
  return (await caches.match(request, ANY_ORIGIN)) ?? fetch(request);
}
