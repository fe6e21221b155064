import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { isOpen } from '../../../actors/accounts/account_state.js';
import { began } from '../../../actors/recordings/imports.js';
import { type ClaimedImport, IMPORTS_INDEX, type MeasuredAudio } from '../../../actors/recordings/imports_state.js';
import { chunkId } from '../../domain/ids.js';
import { languageTag } from '../../domain/language_tag.js';
import { durationInWords } from '../../domain/limit_text.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, orNull, orRefused, unreachable } from '../../domain/refusals.js';
import type { TranscriptFile } from '../../domain/transcript_files/transcript_file.js';
import { audioFileKind, KIND_BYTES, undecodedName, undecodedTrack } from '../../engine/audio/audio_file.js';
import { decoderInput } from '../../engine/audio/decoder_input.js';
import { boxesOf } from '../../engine/audio/mp4_order.js';
import { type RecordedTime, recordedTime } from '../../engine/audio/recorded_time.js';
import type { ByteSource } from '../../engine/audio/wav.js';
import { importPieceKey } from '../../engine/blobs/blob_keys.js';
import type { BlobStore, TakeBody } from '../../engine/blobs/blob_store.js';
import { isStoreAway } from '../../engine/blobs/file_errors.js';
import { newClaimToken } from '../../engine/jobs/claim_token.js';
import { type DueMembersDeps, NotNow } from '../../engine/jobs/due_members.js';
import { DueWorker } from '../../engine/jobs/due_worker.js';
import { prolonging } from '../../engine/jobs/leases.js';
import type { Metrics } from '../../engine/metrics/metrics.js';
import { NoPlace } from '../../engine/pools/shared_pool.js';
import { ProcessFailed } from '../../engine/process/framed_process.js';
import type { Actors } from '../../engine/runtime/actors.js';
import { isFenceBroken } from '../../engine/runtime/runtime_refusals.js';
import type { AudioDecoders } from '../../engine/speech/audio_decoders.js';
import { type Fence, isRetryable } from '../../engine/store/store.js';
import type { Clock } from '../../engine/time/clock.js';
import type { ChunkProcessing } from './chunk_processing.js';
import { intend, uploadChunk } from './chunk_upload.js';
import { audioBytes, bytesOf, type HeldFile, hasText, ImportFailed, readText } from './import_bytes.js';
import { bringText } from './imported_text.js';
import { askRecordingEvents } from './stream_access.js';
import type { TranscriptReaders } from './transcript_reader.js';
import { ownerStatus, recordedInto } from './workspace_status.js';

const IMPORTS_AT_ONCE = 8; // ours: of one process and as many accounts; it decodes one file at a time

/** How often a process looks for work that other processes have left. */
const EVERY_MS = 15_000;
const DAY_MS = 24 * 3_600_000;
/** The only chunk of an imported recording. */
const CHUNK_NUMBER = 1;
/** The codec of a file that is a transcript; its container is the form. */
const TEXT = 'text';
const TEXT_LAYERS = ['transcripts.access'] as const;

type ImportMakerDeps = Omit<DueMembersDeps, 'log'> & {
  actors: Actors;
  blobs: BlobStore;
  clock: Clock;
  processing: ChunkProcessing;
  /** Whether somebody looks into what is said. */
  insights: boolean;
  decoders: Pick<AudioDecoders, 'measure'>;
  transcript_readers: Pick<TranscriptReaders, 'read'>;
  metrics: Metrics;
  log: Pick<Logger, 'error' | 'warn'>;
};

/** `interrupted`: the import is tried again, here or elsewhere, or was cancelled. */
type ImportOutcome = 'done' | 'failed' | 'interrupted';

/**
 * Makes recordings of fully uploaded files: decodes each once for its length, then stores it as the only chunk of a
 * stream. Every step may be repeated, so the loss of a worker leaves nothing half-made.
 */
export function importWorker(deps: ImportMakerDeps): DueWorker {
  const work = {
    queue: IMPORTS_INDEX,
    every_ms: EVERY_MS,
    at_once: IMPORTS_AT_ONCE,
    complaint: 'an import was interrupted; it goes on later',
  };
  const maker = new ImportMaker(deps);
  return DueWorker.of(deps, work, ({ name }, signal) => maker.workOn(name, signal));
}

class ImportMaker {
  readonly #deps: ImportMakerDeps;

  constructor(deps: ImportMakerDeps) {
    this.#deps = deps;
  }

  /** False if nothing was due. */
  async workOn(account_id: string, signal: AbortSignal): Promise<boolean> {
    const { actors, blobs } = this.#deps;
    const imports = actors.imports(account_id);
    const found = await imports.claim({ claim: newClaimToken() });
    switch (found.work) {
      case 'none':
        return false;
      case 'remove': {
        const { import_id, pieces } = found;
        await blobs.remove(
          Array.from({ length: pieces }, (_, piece) => importPieceKey(account_id, { import_id, piece })),
        );
        await imports.removed({ import_id });
        return true;
      }
      case 'process':
        await this.#process({ account_id, item: found.item, signal });
        return true;
      default:
        return unreachable(found);
    }
  }

  async #process(file: HeldFile): Promise<void> {
    const { imports, import_time, import_bytes_in_hand } = this.#deps.metrics;
    const { size_bytes } = file.item;
    const ended = import_time.startTimer();
    import_bytes_in_hand.inc(size_bytes);
    let outcome: ImportOutcome = 'interrupted';
    try {
      outcome = await this.#importFile(file);
    } finally {
      imports.inc({ outcome });
      ended({ outcome });
      import_bytes_in_hand.dec(size_bytes);
    }
  }

  async #importFile(file: HeldFile): Promise<ImportOutcome> {
    const { actors, log } = this.#deps;
    const { account_id, item, signal } = file;
    const imports = actors.imports(account_id);
    const held = heldBy(item);
    const prolong = () => imports.prolong({ ...held, lease_ms: LIMITS.import_lease_ms });
    try {
      await prolonging(prolong, async () => {
        await this.#record(file, item.stage.measured ?? (await this.#measured(file)));
        await imports.finish(held);
      });
      return 'done';
    } catch (error) {
      if (error instanceof ImportFailed) {
        const { code, message, retry } = error;
        if (retry) log.warn({ import_id: item.id, tries: item.stage.tries, code }, 'an import could not be made yet');
        const failed = await imports.fail({ ...held, code, message, retry }).catch(orRefused(null));
        return failed?.again === false ? 'failed' : 'interrupted';
      }
      // Another worker has it, or it was given up.
      if (isRefused(error, 'NOT_FOUND', 'CONFLICT') && !isFenceBroken(error)) return 'interrupted';
      const is_expected = signal.aborted || isRetryable(error) || isStoreAway(error) || isFenceBroken(error);
      if (is_expected || error instanceof NotNow) await imports.release(held).catch(orRefused(null));
      // Of anything else the lease ends: it was a try.
      if (!signal.aborted) throw is_expected ? new NotNow((error as Error).message) : error;
      return 'interrupted';
    }
  }

  /** Decodes a file and records its length; the file then becomes a recording. */
  async #measured(file: HeldFile): Promise<MeasuredAudio> {
    const measured = await this.#measure(file);
    await this.#deps.actors.imports(file.account_id).measured({ ...heldBy(file.item), measured });
    return measured;
  }

  async #measure(file: HeldFile): Promise<MeasuredAudio> {
    const { account_id, item, signal } = file;
    const size_bytes = audioBytes(item);
    const read = async (start: number, length: number) => {
      const pieces: Buffer[] = [];
      const range = { start, end: Math.min(size_bytes, start + length) };
      for await (const piece of this.#bytesOf(file, range)) pieces.push(piece);
      return Buffer.concat(pieces);
    };
    if ((await this.#hashOf(file, item.size_bytes)) !== item.sha256)
      throw new ImportFailed('CHECKSUM_MISMATCH', 'The bytes are not those of the announced sha256.');
    if (size_bytes === 0) return this.#measureText(file);
    const head = await read(0, KIND_BYTES);
    const kind = audioFileKind(head);
    const length_s_max = LIMITS.import_length_ms_max / 1_000 + 1;
    const options = { length_s: null, length_s_max };
    const length_s = await this.#deps.decoders
      .measure(() => decoderInput({ size_bytes, read }), options, { owner: account_id, signal })
      .catch((error: unknown) => {
        if (error instanceof ProcessFailed && error.code === 'NOT_DECODED') return null;
        if (error instanceof NoPlace) throw new NotNow(error.message);
        throw error instanceof ProcessFailed ? failureOf(error) : error;
      });
    if (length_s === null || kind === null) {
      const name = undecodedName(head) ?? (await trackName({ size_bytes, read }));
      const message =
        name === null
          ? 'The file is no audio that can be decoded.'
          : `The file is no audio that can be decoded: its codec is ${name}.`;
      throw new ImportFailed('UNSUPPORTED_AUDIO', message);
    }
    const length_ms = Math.round(length_s * 1_000);
    if (length_ms > LIMITS.import_length_ms_max) {
      const message = `The audio is longer than ${durationInWords(LIMITS.import_length_ms_max)}.`;
      throw new ImportFailed('TOO_LONG', message);
    }
    if (hasText(item)) await this.#readText(file, length_ms);
    const told = await recordedTime({ size_bytes, read });
    const recorded = told === null ? null : momentOf(told, item);
    return { length_ms: Math.max(1, length_ms), ...kind, ...(recorded !== null && { recorded }) };
  }

  async #hashOf(file: HeldFile, end: number): Promise<string> {
    const hash = createHash('sha256');
    for await (const piece of this.#bytesOf(file, { start: 0, end })) {
      file.signal.throwIfAborted();
      hash.update(piece);
    }
    return hash.digest('hex');
  }

  #bytesOf(file: HeldFile, range: { start: number; end: number }): AsyncGenerator<Buffer> {
    return bytesOf(this.#deps.blobs, file, range);
  }

  #readText(file: HeldFile, audio_ms: number | null): Promise<TranscriptFile> {
    return readText(this.#deps, file, { audio_ms });
  }

  async #measureText(file: HeldFile): Promise<MeasuredAudio> {
    const { item } = file;
    const { form, length_ms, recorded_ms } = await this.#readText(file, null);
    const is_known = recorded_ms !== null && recorded_ms > 0 && recorded_ms <= item.created_at_ms + DAY_MS;
    const recorded = is_known ? { recorded: { captured_at: new Date(recorded_ms).toISOString() } } : {};
    return { length_ms, codec: TEXT, container: form, ...recorded };
  }

  /** Publishes the lines of a transcript as the turns of its recording. */
  async #bring(
    file: HeldFile,
    { workspace_id, captured_at, audio_ms }: { workspace_id: string; captured_at: string; audio_ms: number | null },
  ): Promise<void> {
    const { account_id, item } = file;
    const { source_id, stage } = item;
    const text = await this.#readText(file, audio_ms);
    const owner = await ownerStatus(this.#deps, { account_id, workspace_id }, TEXT_LAYERS);
    if (owner.status !== 'open') throw new NotNow('transcripts are off for the account');
    const { stream_id: id } = stage;
    await bringText(
      this.#deps,
      {
        account_id,
        stream: { id, workspace_id, source_id, captured_at_ms: Date.parse(captured_at) },
        insights: this.#deps.insights,
        fences: [owner.fence, { fence: 'open', id: source_id }, { fence: 'open', id }],
      },
      { ...text, language: languageTag(text.language ?? undefined) ?? null },
    );
  }

  /** Stores the file as a recording; each step that was done before changes nothing. */
  async #record(file: HeldFile, measured: MeasuredAudio): Promise<void> {
    const { account_id, item } = file;
    const { actors } = this.#deps;
    const { source_id, stage } = item;
    const { stream_id } = stage;
    const { length_ms, codec, container } = measured;
    const size_bytes = audioBytes(item);
    const has_audio = size_bytes > 0;
    const { captured_at, utc_offset_min } = began({ ...item, stage: { ...stage, measured } }, length_ms);
    const { workspace_id, fences } = await this.#owner(account_id, item);
    const registered = {
      ...{ account_id, workspace_id, source_id, recorder: null, title: titleOf(item.name), end_ms: null },
      imported: true,
      // Its text comes with it.
      transcribed: hasText(item),
      captured_at,
      ...(utc_offset_min !== undefined && { utc_offset_min }),
    };
    const place = { stream_id, source_id, fences: [...fences, { fence: 'open' as const, id: stream_id }] };
    try {
      await askRecordingEvents({ actors }, place, (stream, silence, holds) =>
        stream.register({ ...registered, ...silence }, holds),
      );
      if (hasText(item)) await this.#bring(file, { workspace_id, captured_at, audio_ms: has_audio ? length_ms : null });
      if (has_audio) {
        const sha256 = size_bytes === item.size_bytes ? item.sha256 : await this.#hashOf(file, size_bytes);
        const intent = {
          ...{ source_chunk_ref: item.id, sequence: 0, codec, container, size_bytes, sha256 },
          ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: length_ms },
        };
        const { chunk } = await intend({ actors }, { stream_id, intent, fences });
        if (chunk.chunk_id !== chunkId(stream_id, CHUNK_NUMBER)) throw new Error('an import has more than one chunk');
        const uploadable = { chunk, stream: { id: stream_id }, number: CHUNK_NUMBER, fences, is_decoded: true };
        await uploadChunk(this.#deps, uploadable, this.#takeFile(file));
      }
      await askRecordingEvents({ actors }, place, (stream, silence, holds) =>
        stream.end({ end_ms: length_ms, ...silence }, holds),
      );
    } catch (error) {
      const is_deleted = async () => (await orNull(actors.stream(stream_id).view(), 'NOT_FOUND')) === null;
      if (!isRefused(error, 'NOT_FOUND') && !(isFenceBroken(error) && (await is_deleted()))) throw error;
      throw new ImportFailed('RECORDING_DELETED', 'The recording was deleted before it was whole.');
    }
  }

  /** Joins the pieces of the audio into one blob. */
  #takeFile(file: HeldFile): TakeBody {
    return async ({ size_bytes, sha256: sha256_hex, is_known, put }) => {
      if (is_known) return null;
      const result = await put(this.#bytesOf(file, { start: 0, end: size_bytes }), { size_bytes, sha256_hex });
      if (!result.ok) throw new Error(`the pieces of an import are not what they were: ${result.reason}`);
      return result;
    };
  }

  /**
   * The workspace of the recording while the account is open: the private one where the account belongs no more to the
   * one that was wanted. The import of a deleted account continues after its restoration.
   */
  async #owner(
    account_id: string,
    { workspace_id: wanted }: ClaimedImport,
  ): Promise<{ workspace_id: string; fences: Fence[] }> {
    const account = await orNull(this.#deps.actors.account(account_id).view(), 'UNAUTHORIZED');
    if (account === null || !isOpen(account)) throw new NotNow('the account is deleted');
    const fence = { fence: 'epoch' as const, account_id, epoch: 'account', value: account.epochs.account };
    const into = await orNull(recordedInto(this.#deps, account, wanted), 'NOT_FOUND', 'WORKSPACE_SHARING_REQUIRED');
    return { workspace_id: into ?? account.private_workspace.id, fences: [fence] };
  }
}

/** The codec of the audio track of a movie; null if the file is no movie. */
async function trackName(source: ByteSource): Promise<string | null> {
  const movie = (await boxesOf(source)).find(({ type }) => type === 'moov');
  return movie === undefined
    ? null
    : undecodedTrack(await source.read(movie.at, Math.min(movie.size_bytes, KIND_BYTES)));
}

function heldBy({ id: import_id, stage: { claim } }: ClaimedImport): { import_id: string; claim: string } {
  return { import_id, claim };
}

function failureOf(error: ProcessFailed): Error {
  // That says nothing of the file.
  if (error.code === 'STOPPED') return new NotNow(error.message);
  return new ImportFailed('DECODING_FAILED', error.message, true);
}

/**
 * The moment of a clock time. A time without a zone is taken in the zone of the sender. Null for a time more than a day
 * after the announcement.
 */
function momentOf(
  { ms, zone }: RecordedTime,
  { file_time, created_at_ms }: ClaimedImport,
): NonNullable<MeasuredAudio['recorded']> | null {
  const offset_min = zone === 'local' ? (file_time?.utc_offset_min ?? 0) : 0;
  const at_ms = ms - offset_min * 60_000;
  if (at_ms > created_at_ms + DAY_MS) return null;
  return { captured_at: new Date(at_ms).toISOString(), ...(typeof zone === 'number' && { utc_offset_min: zone }) };
}

/** Names that recorders and phones give: a word for a recording, with a number or a time. */
const GIVEN_BY_PROGRAM =
  /^(?:(?:new|neue|whatsapp) )?(?:recording|voice(?: memo| message| note| recording)?|memo|audio|aufnahme|sprach(?:memo|nachricht|aufnahme)|rec|ptt|aud|untitled|unbenannt)?(?:[\s_.:()-]*(?:\d|at|um|[ap]m|wa))*[)]?$/i;

/** The title of a recording: the file's name without its extension; null for a name that says nothing of what is in it. */
function titleOf(name: string): string | null {
  const title = name.replace(/(?<=.)\s*\.[A-Za-z0-9]{1,5}$/, '');
  return GIVEN_BY_PROGRAM.test(title) ? null : title;
}
