import { LRUCache } from 'lru-cache';
import { eventView, sequenceOf } from '../../access/events.js';
import { partitionOfId } from '../../domain/ids.js';
import { isRetryable, type LoggedEvent, type Store } from '../../engine/store/store.js';

const BYTES_MAX = 16 * 1024 * 1024;
/** The most unneeded events for each needed one that are read along between needed ones. */
const SPARE_MAX = 2;

/** An event as receivers get it. */
export type EventBody = { event_id: string; bytes: Buffer };

/** Bodies of events: neighbours are read together, and a body is made once for all endpoints of an account. */
export class EventBodies {
  readonly #store: Pick<Store, 'events'>;
  readonly #known = new LRUCache<string, EventBody>({
    maxSize: BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes.length,
  });

  constructor(store: Pick<Store, 'events'>) {
    this.#store = store;
  }

  /**
   * Reads those of these events that are not in memory at once, if few others are between them. Never rejects: `of`
   * reads missing ones.
   */
  async readAhead(account_id: string, log_ids: readonly string[]): Promise<void> {
    const wanted = log_ids.filter((log_id) => !this.#known.has(keyOf(account_id, log_id)));
    if (wanted.length < 2) return;
    wanted.sort((a, b) => sequenceOf(a) - sequenceOf(b));
    const [from, to] = [wanted[0] as string, wanted.at(-1) as string];
    const limit = sequenceOf(to) - sequenceOf(from) + 1;
    if (limit > wanted.length * SPARE_MAX) return;
    try {
      for (const event of await this.#read(account_id, { from, to, limit })) this.#keep(event);
    } catch {
      return; // whoever asks for one of them meets the same
    }
  }

  /**
   * Null if the event is gone, or the stored value is no event. Rejects if it could not be read. `again`: not from
   * memory.
   */
  async of(account_id: string, log_id: string, { again }: { again: boolean }): Promise<EventBody | null> {
    const known = again ? undefined : this.#known.get(keyOf(account_id, log_id));
    if (known !== undefined) return known;
    const [event] = await this.#read(account_id, { from: log_id, to: log_id, limit: 1 });
    return event === undefined ? null : this.#keep(event);
  }

  #read(account_id: string, range: { from: string; to: string; limit: number }): Promise<LoggedEvent[]> {
    return this.#store.events({ account_id, partition: partitionOfId(account_id) }, { ...range, descending: false });
  }

  #keep(event: LoggedEvent): EventBody | null {
    const body = bodyOf(event);
    if (body !== null) this.#known.set(keyOf(event.account_id, event.id), body);
    return body;
  }
}

function keyOf(account_id: string, log_id: string): string {
  return `${account_id} ${log_id}`;
}

function bodyOf(logged: LoggedEvent): EventBody | null {
  try {
    const view = eventView(logged);
    return { event_id: view.id, bytes: Buffer.from(JSON.stringify(view)) };
  } catch (error) {
    // One that a newer server wrote waits for that server.
    if (isRetryable(error)) throw error;
    return null;
  }
}
