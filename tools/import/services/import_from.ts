import pMap from 'p-map';
import type { Import } from '../../../kits/typescript/src/api.js';
import { CallRefused } from '../../../kits/typescript/src/call.js';
import { Patience } from '../../../kits/typescript/src/retries.js';
import { fileName } from '../../../src/access/request_schemas.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { AccountAccess } from '../../listen/access.js';
import { readAccount, readServer } from '../../listen/options.js';
import { signIn } from '../../listen/sign_in.js';
import { askOnTerminal, hasTerminal } from '../../listen/terminal.js';
import { UserError, WRONG_USAGE } from '../../user_error.js';
import type { ImportOptions } from '../import.js';
import { askerOf, serviceUrl } from './asked_service.js';
import { FetchedState, stateFile } from './fetched_state.js';
import { FIREFLIES } from './fireflies.js';
import { LIMITLESS } from './limitless.js';
import { OMI } from './omi.js';
import type { AskService, ImportService, ServiceItem, ServiceName } from './service.js';

const SERVICES: Record<ServiceName, ImportService> = { limitless: LIMITLESS, omi: OMI, fireflies: FIREFLIES };
const AT_ONCE = 3;
const REQUEST_MS_MAX = 2 * 60_000;
const PAGES_MAX = 100_000; // ours: a service that never ends
const NAMES = fileName(LIMITS.file_name_chars_max);

/** Makes recordings of what a service keeps, the newest first. Each becomes one, however often this runs. */
export async function importFrom(name: ServiceName, options: ImportOptions): Promise<void> {
  const service = SERVICES[name];
  const server = readServer(options.server, process.env);
  const who = readAccount(options, process.env);
  const url = serviceUrl(service, process.env);
  const key = await keyOf(service);
  const file = options.state ?? stateFile({ server, service: name });
  const state = await FetchedState.open(file, { server: server.origin, service: name });
  const access = new AccountAccess(server, { timeout_ms: REQUEST_MS_MAX, patience: new Patience({ tries_max: 10 }) });
  try {
    await signIn(access, who);
    const source_id = await sourceOf(access, service, options.source);
    const fetching = new Fetching({ service, access, state, server, source_id });
    await fetching.run(askerOf(service, { url, key }));
    const { made, failed, silent } = fetching;
    console.log(`${made} imported from ${service.title}, ${silent} without speech, ${failed} failed`);
    if (failed > 0) process.exitCode = 1;
  } finally {
    await access.leave();
  }
}

async function keyOf({ key_env, title }: ImportService): Promise<string> {
  const given = process.env[key_env]?.trim() || null;
  if (given === null && !hasTerminal())
    throw new UserError(`Set ${key_env} to your key of ${title}. It stays on this machine.`, WRONG_USAGE);
  const key = given ?? (await askOnTerminal(`your key of ${title} (it stays on this machine): `));
  if (!/^[\x21-\x7e]+$/.test(key)) throw new UserError(`${key_env} must be a key of ${title}.`, WRONG_USAGE);
  return key;
}

/** The source of the name of the service; made where there is none that can be seen. */
async function sourceOf(
  access: AccountAccess,
  { title }: ImportService,
  given: string | undefined,
): Promise<string | undefined> {
  if (given !== undefined) return given;
  try {
    for (let cursor: string | undefined; ; ) {
      const page = await access.ask((app) =>
        app.call('GET /sources', { query: { limit: 100, ...(cursor && { cursor }) } }),
      );
      const found = page.items.find(({ name, device_id }) => name === title && device_id === null);
      if (found !== undefined) return found.id;
      if (page.cursor === null) break;
      cursor = page.cursor;
    }
    return (await access.ask((app) => app.call('POST /sources', { body: { name: title } }))).id;
  } catch (error) {
    // A token that may only record gets the usual source.
    if (error instanceof CallRefused && error.status === 403) return undefined;
    throw error;
  }
}

type FetchingDeps = {
  service: ImportService;
  access: AccountAccess;
  state: FetchedState;
  server: URL;
  source_id: string | undefined;
};

class Fetching {
  readonly #deps: FetchingDeps;
  made = 0;
  failed = 0;
  /** Conversations in which nobody speaks. */
  silent = 0;

  constructor(deps: FetchingDeps) {
    this.#deps = deps;
  }

  async run(ask: AskService): Promise<void> {
    const { service, state } = this.#deps;
    let cursor: string | null = null;
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page = await service.page(ask, cursor);
      const fresh = page.items.filter(({ id }) => !state.has(id));
      try {
        await pMap(fresh, (item) => this.#bring(item), { concurrency: AT_ONCE });
      } finally {
        await state.save();
      }
      const is_known = fresh.every(({ transcript }) => transcript === null);
      const is_end = page.cursor === null || page.cursor === cursor || page.items.length === 0;
      // What follows a page that is known was seen to its end before.
      if (is_end || (state.reached_end && is_known)) break;
      cursor = page.cursor;
    }
    if (this.failed > 0) return;
    state.reached_end = true;
    await state.save();
  }

  async #bring(item: ServiceItem): Promise<void> {
    const { state, server } = this.#deps;
    if (item.transcript === null) {
      this.silent += 1;
      // One that is still being written may have speech later.
      return;
    }
    const name = nameFor(item);
    try {
      const { stream_id, error } = await this.#imported(item.id, name, item.transcript);
      if (stream_id === null) throw new CallRefused(400, error?.code ?? 'UNKNOWN', error?.message ?? '', null);
      state.add(item.id);
      this.made += 1;
      console.log(`${titleOf(name)}: ${server.origin}/app/recordings/${stream_id}`);
    } catch (error) {
      if (!(error instanceof CallRefused) || error.status === 401) throw error;
      // It was imported before, and has changed at the service.
      if (OTHER_CONTENT.test(error.message)) return state.add(item.id);
      this.failed += 1;
      console.log(`${titleOf(name)}: ${error.message} (${error.code})`);
    }
  }

  #imported(id: string, name: string, transcript: object): Promise<Import> {
    const { access, service, source_id } = this.#deps;
    const bytes = new TextEncoder().encode(JSON.stringify(transcript));
    const file = {
      ...{ name, size_bytes: bytes.length, import_ref: `${service.name} ${id}`.slice(0, REF_CHARS_MAX) },
      ...(source_id !== undefined && { source_id }),
      read: async (start: number, end: number) => bytes.subarray(start, end),
    };
    return access.ask((app) => app.importFile(file));
  }
}

const REF_CHARS_MAX = 128;
const OTHER_CONTENT = /is registered with other content/;
const ENDING = '.json';

function nameFor({ title }: ServiceItem): string {
  const plain = title
    .toWellFormed()
    .replace(/[/\\\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const name =
    [...plain]
      .slice(0, LIMITS.file_name_chars_max - ENDING.length)
      .join('')
      .trim() + ENDING;
  return plain !== '' && NAMES.safeParse(name).success ? name : `Conversation${ENDING}`;
}

function titleOf(name: string): string {
  return name.slice(0, -ENDING.length);
}
