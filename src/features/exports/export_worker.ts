import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { isOpen } from '../../../actors/accounts/account_state.js';
import { type Archived, EXPORTS_INDEX, type RunningExport } from '../../../actors/accounts/exports_state.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, orNull, orRefused, unreachable } from '../../domain/refusals.js';
import { accountFolder, archiveKey, placeOfAccountKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore } from '../../engine/blobs/blob_store.js';
import { newClaimToken } from '../../engine/jobs/claim_token.js';
import type { DueMembersDeps } from '../../engine/jobs/due_members.js';
import { DueWorker } from '../../engine/jobs/due_worker.js';
import { persisting, prolonging } from '../../engine/jobs/leases.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import type { Actors } from '../../engine/runtime/actors.js';
import { isFenceBroken } from '../../engine/runtime/runtime_refusals.js';
import type { Fence } from '../../engine/store/store.js';
import type { MissingAudio } from '../recordings/missing_audio.js';
import type { AccountReader } from './account_reader.js';
import { Archive } from './archive.js';
import { ExportContents } from './export_contents.js';
import { type ExportReaders, exportReaders, layersOf } from './export_principal.js';

const EXPORTS_AT_ONCE = 2; // ours: of one process

/** Exports that other processes have left are found after this time at the latest. */
const EVERY_MS = 15_000;

type ExportMakerDeps = DueMembersDeps & {
  actors: Actors;
  blobs: BlobStore;
  lost_audio: Pick<MissingAudio, 'read'>;
  reader: AccountReader;
  metrics: Metrics;
  log: Pick<Logger, 'error' | 'warn'>;
};

const DELETED = { code: 'ACCOUNT_DELETED', message: 'The account was deleted meanwhile.', retry: false };

/** Another worker makes the export by now, or the account is deleted: this worker stops. */
class ExportLost extends Error {
  override name = 'ExportLost';
  constructor(readonly why: 'deleted' | 'taken') {
    super(why);
  }
}

type Making = { account_id: string; item: RunningExport; readers: ExportReaders; signal: AbortSignal };

/**
 * Makes exports, a few at a time: reads an account page by page and stores the archive in parts as it grows. After the
 * loss of a worker its lease ends; the next worker begins anew and stores its parts under other names.
 */
export function exportWorker(deps: ExportMakerDeps): DueWorker {
  const work = {
    queue: EXPORTS_INDEX,
    every_ms: EVERY_MS,
    at_once: EXPORTS_AT_ONCE,
    complaint: 'an export was interrupted; it goes on later',
  };
  const maker = new ExportMaker(deps);
  return DueWorker.of(deps, work, ({ name }, signal) => maker.workOn(name, signal));
}

class ExportMaker {
  readonly #deps: ExportMakerDeps;

  constructor(deps: ExportMakerDeps) {
    this.#deps = deps;
  }

  async workOn(account_id: string, signal: AbortSignal): Promise<void> {
    const exports = this.#deps.actors.exports(account_id);
    const found = await exports.claim({ claim: newClaimToken() });
    switch (found.work) {
      case 'none':
        return;
      case 'remove':
        await this.#removeParts(account_id, (export_id) => export_id === found.export_id);
        await exports.removed({ export_id: found.export_id });
        return;
      case 'make':
        return this.#make(account_id, found.export, signal);
      default:
        return unreachable(found);
    }
  }

  async #make(account_id: string, item: RunningExport, signal: AbortSignal): Promise<void> {
    const { actors, metrics, log } = this.#deps;
    const { id: export_id, stage } = item;
    const held = { export_id, claim: stage.claim };
    try {
      const account = await orNull(actors.account(account_id).view(), 'UNAUTHORIZED');
      if (account === null || !isOpen(account)) throw new ExportLost('deleted');
      await this.#removeParts(account_id, (id, attempt) => id === export_id && attempt !== stage.attempt);
      await this.#archive({ account_id, item, readers: exportReaders(account, item), signal });
      metrics.exports.inc({ outcome: 'ready' });
    } catch (error) {
      if (signal.aborted) {
        await actors.exports(account_id).release(held).catch(orRefused(null)); // its lease ends by itself
      } else if (error instanceof ExportLost) {
        if (error.why === 'taken') return;
        metrics.exports.inc({ outcome: 'account_deleted' });
        await actors.exports(account_id).fail({ ...held, ...DELETED });
      } else {
        metrics.exports.inc({ outcome: 'interrupted' });
        log.warn({ export_id, tries: stage.tries }, 'an export could not be made; it is tried again');
        throw error;
      }
    }
  }

  /** Makes the archive and stores it, while this worker holds the export. */
  async #archive({ account_id, item, readers, signal }: Making): Promise<void> {
    const { actors, blobs, lost_audio, reader, now } = this.#deps;
    const { id: export_id, stage } = item;
    const exports = actors.exports(account_id);
    const held = { export_id, claim: stage.claim };
    const fences: Fence[] = [{ fence: 'epoch', account_id, epoch: 'account', value: stage.account_epoch }];
    const progress = { records: 0, bytes: 0 };
    const archive = new Archive(now());
    const stop = () => archive.destroy(new Error('the server stops'));
    signal.addEventListener('abort', stop, { once: true });
    const stillMine = async () => {
      const prolonged = { ...held, progress: { ...progress }, lease_ms: LIMITS.export_lease_ms };
      await exports.prolong(prolonged, fences).catch((error: unknown) => this.#lost(error));
    };
    const prolong = () => stillMine().catch((error) => archive.destroy(error as Error));
    const onRecord = () => {
      progress.records += 1;
    };
    const contents = new ExportContents({
      ...{ reader, blobs, now, readers, wanted: item, onRecord },
      chunkBytes: (chunk_id) => lost_audio.read(chunk_id),
    });
    try {
      await stillMine();
      const archived = await prolonging(prolong, async () => {
        const filled = contents.fill(archive).catch((error) => {
          archive.destroy(error as Error);
          throw error;
        });
        const [made] = await Promise.all([this.#store(archive, { account_id, item, progress }), filled]);
        return { ...made, layers: layersOf(readers, item) };
      });
      await stillMine();
      const finish = () => exports.finish({ ...held, archived }, fences);
      await persisting(finish, signal).catch((error: unknown) => this.#lost(error));
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Stores an archive in parts of equal length while it is made. */
  async #store(
    archive: Archive,
    { account_id, item, progress }: { account_id: string; item: RunningExport; progress: { bytes: number } },
  ): Promise<Omit<Archived, 'layers'>> {
    const part_bytes = LIMITS.export_part_bytes;
    const whole = createHash('sha256');
    let part = 0;
    for await (const bytes of inParts(archive.bytes, part_bytes)) {
      whole.update(bytes);
      const key = archiveKey(account_id, { export_id: item.id, attempt: item.stage.attempt, part });
      const sha256_hex = createHash('sha256').update(bytes).digest('hex');
      const put = await this.#deps.blobs.put(key, onePiece(bytes), { size_bytes: bytes.length, sha256_hex });
      if (!put.ok) throw new Error(`a part of an archive could not be stored: ${put.reason}`);
      progress.bytes += bytes.length;
      part += 1;
    }
    return { bytes: progress.bytes, sha256: whole.digest('hex'), part_bytes };
  }

  /** Throws the error that a refusal means for an export. */
  #lost(error: unknown): never {
    if (isFenceBroken(error)) throw new ExportLost('deleted');
    throw isRefused(error, 'NOT_FOUND', 'CONFLICT') ? new ExportLost('taken') : error;
  }

  async #removeParts(account_id: string, which: (export_id: string, attempt: number) => boolean): Promise<void> {
    const { blobs } = this.#deps;
    for await (const key of blobs.list(accountFolder('exports', account_id))) {
      const place = placeOfAccountKey(key);
      if (place === null || !('archive' in place)) continue;
      const { export_id, attempt } = place.archive;
      if (which(export_id, attempt)) await blobs.remove([key]);
    }
  }
}

async function* inParts(stream: AsyncIterable<Buffer>, part_bytes: number): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream) {
    let rest = piece;
    while (length + rest.length >= part_bytes) {
      const end = part_bytes - length;
      yield Buffer.concat([...pieces, rest.subarray(0, end)]);
      rest = rest.subarray(end);
      [pieces, length] = [[], 0];
    }
    if (rest.length === 0) continue;
    pieces.push(rest);
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(pieces);
}

async function* onePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
