import type { Redis } from 'ioredis';
import { storeCall } from './redis_calls.js';
import { mastersOf } from './redis_connection.js';

/** Keys that Redis looks at in one step, and steps of one page: some 10 ms of Redis, however many keys there are. */
const KEYS_PER_STEP = 250;
const STEPS_MAX = 40;

const CURSOR = /^(\d{1,3})\.(\d{1,20})$/;

/** Whether the text is a cursor of this scan. */
export function isScanCursor(cursor: string): boolean {
  return CURSOR.test(cursor);
}

/** `looked_at`: the number of scanned keys. `cursor` is null at the end. */
export type ScannedPage<Row> = { rows: Row[]; cursor: string | null; looked_at: number };

/**
 * Finds entities of a kind for staff if no index lists them: scans Redis' keys, a bounded number for each page. Finds
 * every entity that exists from the first page to the last; the order is Redis' own.
 */
export class EntityScan {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Scans until there are `limit` rows, or the page has scanned enough keys; it may hold somewhat more rows. */
  async page<Row>(
    { kind, part = '' }: { kind: string; part?: string | undefined },
    { cursor, limit }: { cursor?: string | undefined; limit: number },
    rowsOf: (ids: string[]) => Promise<Row[]>,
  ): Promise<ScannedPage<Row>> {
    const masters = this.#masters();
    const match = `{*}1:e:${kind}:${part === '' ? '' : `*${part.replace(/[*?[\]\\]/g, '\\$&')}`}*`;
    const seen = new Set<string>();
    const found: Row[] = [];
    let [node, from] = readCursor(cursor);
    let looked_at = 0;
    for (let step = 0; step < STEPS_MAX && node < masters.length && found.length < limit; step++) {
      const master = masters[node] as Redis;
      const [next, keys] = await storeCall(master.scan(from, 'MATCH', match, 'COUNT', KEYS_PER_STEP));
      looked_at += KEYS_PER_STEP;
      // Redis may name a key twice.
      const ids = new Set(keys.map((key) => idIn(key, kind)).filter((id) => !seen.has(id)));
      for (const id of ids) seen.add(id);
      found.push(...(await rowsOf([...ids])));
      from = next;
      if (next === '0') node += 1;
    }
    return { rows: found, cursor: node < masters.length ? `${node}.${from}` : null, looked_at };
  }

  /** Counts the keys. */
  async keys(): Promise<number> {
    const sizes = await storeCall(Promise.all(this.#masters().map((master) => master.dbsize())));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** The masters, in an order that is stable while the cluster is. */
  #masters(): Redis[] {
    const nameOf = ({ options }: Redis) => `${options.host}:${options.port}`;
    return mastersOf(this.#redis).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }
}

function readCursor(cursor: string | undefined): [node: number, from: string] {
  const [, node, from] = CURSOR.exec(cursor ?? '') ?? [];
  return node === undefined || from === undefined ? [0, '0'] : [Number(node), from];
}

function idIn(key: string, kind: string): string {
  const head = `1:e:${kind}:`;
  return key.slice(key.indexOf(head) + head.length);
}
