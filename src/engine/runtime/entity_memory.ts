import { type ActorKind, FURTHER_READS_MAX, type RecordQuery } from '../../../actors/actor.js';
import type { Refusal } from '../../domain/refusals.js';
import {
  type EntityVersion,
  NO_VERSION,
  type StoredVersion,
  versionAfter,
  versionIn,
} from '../store/entity_version.js';
import {
  type EntityLocation,
  type Fence,
  type QueryResult,
  type StoredEffect,
  StoreUnavailable,
} from '../store/store.js';
import { type BatchDecision, type Entity, furtherRequests } from './batch.js';
import type { RuntimeDeps } from './runtime_deps.js';
import { NEWER, QUARANTINED } from './runtime_refusals.js';
import { NewerSchema, readSnapshot, writtenSchema } from './snapshot.js';

const QUARANTINE_RETRY_MS = 30_000;
/** The shortest time between two reads of state that a newer process wrote. */
const NEWER_RETRY_MS = 1_000;
/** Records that this entity wrote last, kept so that the next message need not read them again. */
const RECORDS_KEPT_MAX = 64;
/** Memory must be checked against storage before it is used. */
const NEVER = -1;

/** The stored state of the entity can't be used. */
export class Unusable extends Error {
  override name = 'Unusable';
}

/**
 * The records that a batch needs. `all_kept`: all of them came from memory. `assumed`: records assumed to be absent,
 * which the commit must prove.
 */
type BatchRecords = { rows: QueryResult[]; all_kept: boolean; assumed: Fence[] };

/**
 * One entity in the memory of this process: its state at a version, and the records it wrote last. Knows whether they
 * may be used, and brings them up to date with storage (docs/architecture.md, "Memory and storage").
 */
export class EntityMemory {
  readonly place: EntityLocation;
  readonly kind: ActorKind;
  readonly #parts: RuntimeDeps;
  #entity: Entity | null = null;
  #version: StoredVersion = NO_VERSION;
  /** The count of invalidations at which memory was last checked against storage. */
  #checked_at = NEVER;
  /**
   * The newest version that was told, and the count of invalidations then; after another invalidation, storage may hold
   * an older version.
   */
  #told: { version: number; invalidations: number } | null = null;
  /** Records as of the present version, by collection and id; null for a dropped record. */
  #records: Map<string, Uint8Array | null> | null = null;
  #newer_until = 0;
  quarantined: { reason: string; since_ms: number } | null = null;

  constructor(place: EntityLocation, kind: ActorKind, parts: RuntimeDeps) {
    this.place = place;
    this.kind = kind;
    this.#parts = parts;
  }

  /** To be read only while memory holds the entity. */
  get entity(): Entity {
    return this.#entity as Entity;
  }

  get version(): StoredVersion {
    return this.#version;
  }

  /** Whether memory holds the newest version that was seen or told, and was not invalidated since. */
  isHeld(): boolean {
    const is_checked = this.#checked_at === this.#parts.invalidations();
    return this.#entity !== null && this.quarantined === null && is_checked && !this.#isBehind();
  }

  /** Whether no other process writes, or this process is told of all their writes. */
  isTrusted(): boolean {
    const { trust_memory, told } = this.#parts;
    return trust_memory || told?.isTrusted(this.place.partition) === true;
  }

  /** Whether memory holds the entity as it is stored. */
  isReady(): boolean {
    return this.isHeld() && this.isTrusted();
  }

  /** The same, once everything has been handled that was told before. */
  async isKnown(): Promise<boolean> {
    const { told } = this.#parts;
    if (told !== null && !told.is_handled) await told.handled();
    return this.isReady();
  }

  /** Whether memory holds what storage held when it was asked, or what a batch has saved or loaded since. */
  async isCurrent(): Promise<boolean> {
    const known = this.#version;
    const stored = (await this.#parts.store.probe(this.place)) ?? NO_VERSION;
    const { version, commit_id } = this.#version;
    if (stored.version < version) {
      if (this.#version !== known) return true;
      this.#parts.onRegress(this.place, version, stored.version);
    }
    return stored.version === version && stored.commit_id === commit_id;
  }

  #isBehind(): boolean {
    const told = this.#told;
    return told !== null && told.version > this.#version.version && told.invalidations === this.#parts.invalidations();
  }

  /** Notes that some process has committed this version. */
  tell({ version, commit_id }: EntityVersion): void {
    if (version > this.#version.version) {
      const invalidations = this.#parts.invalidations();
      if (this.#told?.invalidations !== invalidations || version > this.#told.version)
        this.#told = { version, invalidations };
    } else if (commit_id !== this.#version.commit_id && !this.#parts.isOwnCommit(commit_id)) {
      // It was loaded before this came, as a rule; or its header has expired and another process began it anew.
      this.#checked_at = NEVER;
    }
  }

  /** Brings memory up to date with storage if necessary; a refusal says why the entity can't be used. */
  async load(): Promise<Refusal | null> {
    const { store, metrics } = this.#parts;
    if (this.quarantined !== null) {
      if (this.#parts.now() - this.quarantined.since_ms < QUARANTINE_RETRY_MS) return QUARANTINED;
      this.releaseQuarantine();
    }
    const invalidations = this.#parts.invalidations();
    if (this.isReady()) return null;
    if (this.#entity !== null && !this.#isBehind() && (await this.isCurrent())) {
      this.#checked_at = invalidations;
      return null;
    }
    const began = performance.now();
    if (began < this.#newer_until) return NEWER;
    this.#records = null;
    try {
      const [stored] = await store.load([this.place]);
      metrics.load.observe({ kind: this.kind.kind }, (performance.now() - began) / 1000);
      this.#entity = stored ? readSnapshot(this.kind, stored.snapshot) : { state: null, marks: {} };
      this.#version = stored ? versionIn(stored) : NO_VERSION;
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      if (error instanceof NewerSchema) {
        this.#newer_until = began + NEWER_RETRY_MS;
        this.#parts.onNewer(this.place, error.schema);
        this.drop();
        return NEWER;
      }
      throw new Unusable(error instanceof Error ? error.message : String(error));
    }
    this.#checked_at = invalidations;
    return null;
  }

  /**
   * Notes that a commit has saved this decision. `invalidations`: their count before the commit; if it has risen, other
   * processes may have committed.
   */
  saved({ entity, effects }: BatchDecision, commit_id: string, invalidations: number): void {
    this.#entity = { ...entity, schema: writtenSchema(this.kind, entity) };
    this.#version = versionAfter(this.#version, commit_id);
    this.#checked_at = invalidations;
    this.#keepRecords(effects);
  }

  /** Notes that a commit was refused because storage holds this version. */
  conflicted(stored: number): void {
    const { version } = this.#version;
    if (stored < version) this.#parts.onRegress(this.place, version, stored);
    this.drop();
  }

  /** Drops the entity from memory; the next batch loads it. */
  drop(): void {
    this.#entity = null;
    this.#version = NO_VERSION;
    this.#records = null;
  }

  /** Forgets the records of an entity that has been quiet for a while; they are read again on demand. */
  forgetRecords(): void {
    this.#records = null;
  }

  quarantine(reason: string): void {
    const { metrics, log, now } = this.#parts;
    this.drop();
    if (this.quarantined === null) metrics.quarantined.inc({ kind: this.kind.kind });
    this.quarantined = { reason, since_ms: now() };
    log.error({ kind: this.kind.kind, id: this.place.address.id, reason }, 'entity quarantined');
  }

  /** Lifts the quarantine, so that the next message tries again. */
  releaseQuarantine(): void {
    if (this.quarantined === null) return;
    this.quarantined = null;
    this.#parts.metrics.quarantined.dec({ kind: this.kind.kind });
  }

  /** All records that a message needs; null if memory lacks one of them. */
  keptFor(message: unknown): QueryResult[] | null {
    const { kind } = this;
    const { state } = this.entity;
    const rows = this.#kept(kind.records(message, state));
    if (rows === null || kind.further === undefined) return rows;
    const known = new Set(rows.map(({ request }) => requestKey(request)));
    for (let step = 0; step < FURTHER_READS_MAX; step++) {
      const more = furtherRequests(kind, { message, state }, rows).filter((one) => !known.has(requestKey(one)));
      if (more.length === 0) break;
      const kept = this.#kept(more);
      if (kept === null) return null;
      for (const one of more) known.add(requestKey(one));
      rows.push(...kept);
    }
    return rows;
  }

  /**
   * The records that a batch needs: first those that its messages name, then those that they need in consequence.
   * Records that are expected to be absent are assumed to be absent, unless `reads_all` is set.
   */
  async recordsFor(messages: readonly unknown[], { reads_all }: { reads_all: boolean }): Promise<BatchRecords> {
    const { kind } = this;
    const { state } = this.entity;
    const rows: QueryResult[] = [];
    const assumed: Fence[] = [];
    const known = new Set<string>();
    let all_kept = true;
    const requestsOf = (message: unknown) => kind.records(message, state);
    const furtherOf = (message: unknown) => furtherRequests(kind, { message, state }, rows);
    for (let step = 0; step <= FURTHER_READS_MAX; step++) {
      const wanted = wantedBy(messages, step === 0 ? requestsOf : furtherOf, known);
      if (wanted.length === 0 && step > 0) break;
      const requests: RecordQuery[] = [];
      for (const request of wanted) {
        if (reads_all || !isExpectedAbsent(request) || this.#records?.has(recordKey(request.collection, request.id))) {
          requests.push(request);
          continue;
        }
        assumed.push({ fence: 'absent', collection: request.collection, id: request.id });
        rows.push({ request, value: null, rows: [] });
      }
      const kept = this.#kept(requests);
      if (kept === null) all_kept = false;
      rows.push(...(kept ?? (await this.#parts.store.query(this.place, requests))));
    }
    return { rows, all_kept, assumed };
  }

  /** The rows of these requests if memory has all of them; null if storage must be asked. */
  #kept(requests: RecordQuery[]): QueryResult[] | null {
    const rows: QueryResult[] = [];
    for (const request of requests) {
      const value = 'id' in request ? this.#records?.get(recordKey(request.collection, request.id)) : undefined;
      if (value === undefined) return null;
      rows.push({ request, value, rows: [] });
    }
    return rows;
  }

  /** Keeps the records that a commit has written: they are right as long as the version is this commit's. */
  #keepRecords(effects: StoredEffect[]): void {
    for (const effect of effects) {
      if (effect.effect === 'delete_collection') {
        this.#records = null;
        return;
      }
      if (effect.effect !== 'put_record' && effect.effect !== 'delete_record') continue;
      const key = recordKey(effect.collection, effect.id);
      this.#records ??= new Map();
      this.#records.delete(key);
      this.#records.set(key, effect.effect === 'put_record' ? effect.value : null);
    }
    if (this.#records === null) return;
    for (const key of this.#records.keys()) {
      if (this.#records.size <= RECORDS_KEPT_MAX) break;
      this.#records.delete(key);
    }
  }
}

/** Collects the records that messages ask for and that are not known yet, and marks them as known. */
function wantedBy(
  messages: readonly unknown[],
  asks: (message: unknown) => RecordQuery[],
  known: Set<string>,
): RecordQuery[] {
  const wanted: RecordQuery[] = [];
  for (const message of messages) {
    let requests: RecordQuery[];
    try {
      requests = asks(message);
    } catch {
      continue; // the decision meets the same fault, and its message is answered with it
    }
    for (const request of requests) {
      const key = requestKey(request);
      if (known.has(key)) continue;
      known.add(key);
      wanted.push(request);
    }
  }
  return wanted;
}

function isExpectedAbsent(request: RecordQuery): request is Extract<RecordQuery, { id: string }> {
  return 'id' in request && request.expected === 'absent';
}

function requestKey(request: RecordQuery): string {
  return 'id' in request ? recordKey(request.collection, request.id) : JSON.stringify(request);
}

function recordKey(collection: string, id: string): string {
  return `${collection} ${id}`;
}
