import { setTimeout } from 'node:timers/promises';
import { listCursor, type Page } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { isEnabled, type Layer } from '../../domain/permissions.js';
import { isRefused, type RefusalCode } from '../../domain/refusals.js';
import type { StreamView } from '../recordings/streams.js';
import { listTurns } from '../transcripts/turn_lists.js';
import type { TurnView } from '../transcripts/turn_shape.js';
import type { Item, ListedResource, ReadingServices, Resource, SingleResource } from './export_resources.js';
import { type RecordingHead, recordingHead } from './readable_recordings.js';

/** Items of one page. */
const PAGE_MAX = 100;
/** The export rests after each page for this multiple of the time that the page took, to leave room for other work. */
const REST_FACTOR = 1;
const REST_MAX_MS = 200;

/** Refusals for a resource that does not exist any more. */
const GONE: readonly RefusalCode[] = ['NOT_FOUND', 'CONTENT_EXPIRED'];

/** `id`: the item that a list belongs to. */
type ReadQuery = { who: Principal; id?: string | undefined };

/** Reads an account through the use cases of its resources. */
export class AccountReader {
  readonly #services: ReadingServices;

  constructor(services: ReadingServices) {
    this.#services = services;
  }

  /** The layer that must be on for a resource that this caller may not read; null if the caller may read it. */
  missingLayer({ layer, permission }: Resource, { account, permissions }: Principal): Layer | 'rights' | null {
    if (layer !== undefined && !isEnabled(account.entitlements, layer)) return layer;
    if (permission.some((name) => permissions.includes(name))) return null;
    const [first = ''] = permission;
    if (first.startsWith('turns:')) return 'transcripts.access';
    if (first.startsWith('insights:')) return 'insights.access';
    return first.startsWith('audio:') ? 'audio.access' : 'rights';
  }

  /** All items of a list, page by page. A list that was deleted meanwhile is empty. */
  list({ list }: ListedResource, { who, id = '' }: ReadQuery): AsyncGenerator<Item> {
    return itemsOf((cursor) => list(this.#services, who, { id, limit: PAGE_MAX, cursor: cursor ?? undefined }));
  }

  /** The turns of a stream, in the order of its timeline. */
  turns(who: Principal, stream_id: string): AsyncGenerator<TurnView> {
    return itemsOf((cursor) =>
      listTurns(this.#services, who, { stream_id, limit: PAGE_MAX, cursor: listCursor.parse(cursor ?? undefined) }),
    );
  }

  /** Title, day and length of a recording. */
  recordingHead(who: Principal, stream: StreamView): Promise<RecordingHead> {
    return recordingHead(this.#services, who, stream);
  }

  /** One document; null if it no longer exists. */
  one({ read }: SingleResource, { who, id = '' }: ReadQuery): Promise<Item | null> {
    return unlessGone(read(this.#services, who, { id }));
  }
}

/** The items of all pages, with a rest after each page. */
async function* itemsOf<Of>(read: (cursor: string | null) => Promise<Page<Of>>): AsyncGenerator<Of> {
  for (let cursor: string | null = null; ; ) {
    const began = performance.now();
    const page: Page<Of> | null = await unlessGone(read(cursor));
    if (page === null) return;
    yield* page.items;
    cursor = page.cursor;
    if (cursor === null) return;
    await setTimeout(Math.min(REST_MAX_MS, (performance.now() - began) * REST_FACTOR));
  }
}

/** Null if the resource no longer exists. */
async function unlessGone<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    if (isRefused(error, ...GONE)) return null;
    throw error;
  }
}
