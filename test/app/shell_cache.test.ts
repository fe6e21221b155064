import t from 'tap';
import {
  fileOf,
  isFileRequest,
  isPageRequest,
  keepShell,
  keptDocument,
  type ShellCaches,
} from '../../app/worker/shell_cache.js';

const BASE = 'http://spool.test';
const documentOf = (build: string, status = 200) =>
  new Response(
    `<link rel="icon" href="/assets/icon.svg"><script type="module" src="/assets/app/main-${build}.js"></script>`,
    { status },
  );

/** Caches in memory, and what was fetched for them; `/assets/app/main-gone.js` can't be. */
class MemoryCaches implements ShellCaches {
  readonly kept = new Map<string, Map<string, Response>>();
  readonly fetched: string[] = [];

  async has(name: string) {
    return this.kept.has(name);
  }
  async open(name: string) {
    const cache = this.kept.get(name) ?? new Map<string, Response>();
    this.kept.set(name, cache);
    const addAll = async (paths: string[]) => {
      for (const path of paths) {
        if (path.includes('gone')) throw new TypeError('Failed to fetch');
        this.fetched.push(path);
        cache.set(path, new Response(path));
      }
    };
    const put = async (path: string, answer: Response) => void cache.set(path, answer);
    return { addAll, put };
  }
  async keys() {
    return [...this.kept.keys()];
  }
  async delete(name: string) {
    return this.kept.delete(name);
  }
  async match(request: string | Request) {
    const path = typeof request === 'string' ? request : new URL(request.url).pathname;
    for (const cache of this.kept.values()) {
      const found = cache.get(path);
      if (found !== undefined) return found.clone();
    }
    return undefined;
  }
  get paths() {
    return [...this.kept.values()].flatMap((cache) => [...cache.keys()]).sort();
  }
}

const memory = new MemoryCaches();

t.test('D-075 the document and the files that it names are kept, those of one build', async (t) => {
  await keepShell(memory, documentOf('one'));
  t.same(memory.paths, ['/app', '/assets/app/main-one.js', '/assets/icon.svg']);
  const before = memory.fetched.length;
  await keepShell(memory, documentOf('one'));
  t.equal(memory.fetched.length, before, 'the same build again fetches nothing');
  await keepShell(memory, documentOf('two'));
  t.same(memory.paths, ['/app', '/assets/app/main-two.js', '/assets/icon.svg']);
  t.match(await (await keptDocument(memory)).text(), 'main-two.js');
});

t.test('D-075 a build that can not be kept leaves the one before', async (t) => {
  await t.rejects(keepShell(memory, documentOf('gone')));
  t.match(await (await keptDocument(memory)).text(), 'main-two.js');
  await keepShell(memory, documentOf('three', 503));
  t.match(await (await keptDocument(memory)).text(), 'main-two.js', 'nor does an error page count');
  t.equal(memory.kept.size, 1);
});

t.test('D-075 nothing but pages and files of the app passes the caches', async (t) => {
  const request = (mode: string, method = 'GET') => ({ mode, method }) as Request;
  for (const path of ['/app', '/app/', '/app/recordings/1', '/app/callback'])
    t.ok(isPageRequest(request('navigate'), path), path);
  for (const path of ['/', '/apple', '/me', '/oauth/authorize', '/audio/streams'])
    t.notOk(isPageRequest(request('navigate'), path), path);
  t.notOk(isPageRequest(request('cors'), '/app'), 'what a script asks for');
  t.notOk(isPageRequest(request('navigate', 'POST'), '/app'));
  t.ok(isFileRequest(request('no-cors'), '/assets/app/main-one.js'));
  for (const path of ['/me', '/events', '/oauth/token', '/audio/streams', '/app/worker.js'])
    t.notOk(isFileRequest(request('cors'), path), path);
  t.equal(
    await (await fileOf(memory, new Request(`${BASE}/assets/app/main-two.js`))).text(),
    '/assets/app/main-two.js',
  );
});
