import { LIMITS } from '../../domain/limits.js';
import { isRefused } from '../../domain/refusals.js';
import { type ArchivePart, type ImportPiece, placeOfAccountKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import type { Actors } from '../../engine/runtime/actors.js';

type AccountBytesDeps = { actors: Actors; blobs: BlobStore };

/** Bytes stored beside audio: files, parts of archives, and pieces of imports. Reads the keys of one partition. */
export class AccountBytes {
  readonly #deps: AccountBytesDeps;
  /** The archives of the last account: one account may have many parts. */
  #kept: { account_id: string; attempts: Record<string, number> | null } | null = null;

  constructor(deps: AccountBytesDeps) {
    this.#deps = deps;
  }

  /**
   * Removes the blob of a key if no file, export or import claims it, unless it is young; returns the number of removed
   * blobs, or null for another key.
   */
  async removeUnclaimed(key: string): Promise<0 | 1 | null> {
    const place = placeOfAccountKey(key);
    if (place === null) return null;
    if (await this.#isClaimed(place)) return 0;
    return (await this.#deps.blobs.removeOlder(key, LIMITS.audio_orphan_age_ms)) === 'removed' ? 1 : 0;
  }

  #isClaimed(place: NonNullable<ReturnType<typeof placeOfAccountKey>>): Promise<boolean> {
    if ('file_id' in place) return this.#isFile(place);
    if ('import' in place) return this.#isOfImport(place.account_id, place.import);
    return this.#isOfArchive(place.account_id, place.archive);
  }

  async #isOfImport(account_id: string, { import_id }: ImportPiece): Promise<boolean> {
    const found = await this.#deps.actors.imports(account_id).keeping().catch(unreadable);
    return found === 'unusable' || (found?.kept ?? []).includes(import_id);
  }

  /** Whether the file exists: a file that awaits its bytes may get them at any moment. */
  async #isFile({ account_id, file_id }: { account_id: string; file_id: string }): Promise<boolean> {
    const file = await this.#deps.actors.files(account_id).view({ file_id }).catch(unreadable);
    return file !== null;
  }

  async #isOfArchive(account_id: string, { export_id, attempt }: ArchivePart): Promise<boolean> {
    if (this.#kept?.account_id !== account_id) {
      const found = await this.#deps.actors.exports(account_id).keeping().catch(unreadable);
      this.#kept = { account_id, attempts: found === 'unusable' ? null : (found?.kept ?? {}) };
    }
    const { attempts } = this.#kept;
    return attempts === null || attempts[export_id] === attempt;
  }
}

/** For `catch`: null if there is no entity; `unusable` for a quarantined entity: its bytes are left alone. */
function unreadable(error: unknown): null | 'unusable' {
  if (isRefused(error, 'NOT_FOUND')) return null;
  if (isRefused(error, 'INTERNAL')) return 'unusable';
  throw error;
}
