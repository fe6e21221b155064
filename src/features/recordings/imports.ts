import pMap from 'p-map';
import { z } from 'zod';
import { pieceBytes, receivedBytes, wrongOffset } from '../../../actors/recordings/import_records.js';
import type { Import } from '../../../actors/recordings/imports_state.js';
import { type Page, type PageQuery, pageOf } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import type { capturedAt } from '../../access/request_schemas.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { LIMITS } from '../../domain/limits.js';
import { isRefused, orNull, Refused, refuse } from '../../domain/refusals.js';
import { importPieceKey } from '../../engine/blobs/blob_keys.js';
import type { TakeBody } from '../../engine/blobs/blob_store.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import { randomId } from '../../engine/random/random.js';
import type { FeatureServices } from '../services.js';
import { ownSource } from './sources.js';
import { recordedInto } from './workspace_status.js';

/** Audio files that become recordings: announced, uploaded in pieces, listed and cancelled. Rules K-150 to K-157. */

const LISTED_AT_ONCE = 32;
const DEFAULT_SOURCE_NAME = 'Imported files';
const HAS_FAILED = refuse('CONFLICT', 'The import has failed; delete it and begin anew.');

export const importShape = z
  .strictObject({
    id,
    import_ref: z.string().describe("The caller's own name for it."),
    status: z
      .enum(['uploading', 'processing', 'done', 'failed'])
      .describe('uploading: pieces are still to come. processing: all have come. done: it is the recording stream_id.'),
    name: z.string().describe('The name of the file.'),
    size_bytes: count.describe('How many bytes it has.'),
    sha256: z.string().describe('Of those bytes, in hexadecimal.'),
    transcript_bytes: count
      .nullable()
      .describe('How many of the last bytes are a transcript of the audio before them; null for none.'),
    captured_at: moment
      .nullable()
      .describe('When its recording began: as it was announced, or, once it is done, as it was found; null before.'),
    captured_at_by: z
      .enum(['caller', 'metadata', 'file_name', 'file_time', 'announcement'])
      .nullable()
      .describe(
        'What says so. metadata: the file. file_name: its name. file_time: file_modified_at, less the length. announcement: when it was announced, less the length. Null until that is known.',
      ),
    source_id: id.describe('Where the recording comes from.'),
    received_bytes: count.describe('How many bytes have come: the next piece begins there.'),
    piece_bytes: count.describe('How many bytes each piece but the last has.'),
    upload_path: z.string().describe('Where to PUT the pieces.'),
    stream_id: id.nullable().describe('The recording; null until it is done.'),
    error: z
      .strictObject({
        code: z
          .string()
          .describe(
            'Why, for programs: CHECKSUM_MISMATCH, UNSUPPORTED_AUDIO, TOO_LONG, TRANSCRIPT_UNREADABLE, UPLOAD_EXPIRED, RECORDING_DELETED, CONTENT_MISSING, DECODING_FAILED, GIVEN_UP.',
          ),
        message: z.string().describe('The same for people.'),
      })
      .nullable()
      .describe('Why there is no recording; null unless it failed.'),
    created_at: moment,
  })
  .meta({ id: 'Import' });

export type ImportView = z.infer<typeof importShape>;

type NewImport = Pick<Import, 'import_ref' | 'name' | 'size_bytes' | 'sha256'> & {
  transcript_bytes?: number | undefined;
  captured_at?: z.infer<typeof capturedAt> | undefined;
  file_modified_at?: z.infer<typeof capturedAt> | undefined;
  source_id?: string | undefined;
  workspace_id?: string | undefined;
};

/**
 * Announces a file. The same reference gets the same import; after its recording was deleted, the import begins anew.
 */
export async function announceImport(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  who: Principal,
  {
    captured_at,
    file_modified_at: file_time,
    source_id: named_source,
    workspace_id: wanted,
    ...announcement
  }: NewImport,
): Promise<ImportView> {
  const { transcript_bytes, ...file } = announcement;
  const announced = { ...file, ...(transcript_bytes !== undefined && { transcript_bytes }) };
  const { actors, clock } = services;
  const { account_id, fences } = who;
  if (named_source !== undefined) await ownSource(services, { account_id, id: named_source });
  const workspace_id = await recordedInto(services, who.account, wanted);
  const source_id = named_source ?? (await defaultSource(services, who));
  const import_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const time = captured_at ?? { captured_at: null };
  const registered = { ...announced, ...time, ...(file_time && { file_time }), id: import_id, source_id, workspace_id };
  const found = await actors.imports(account_id).register(registered, fences);
  if (found.stage.status !== 'done') return importView(found);
  const stream = await orNull(actors.stream(found.stage.stream_id).view(), 'NOT_FOUND');
  if (stream !== null) return importView(found);
  return importView(await actors.imports(account_id).register({ ...registered, instead_of: found.id }, fences));
}

/** Stores a piece of a file. A piece that was stored before is only compared by its hash. */
export async function uploadImportPiece(
  { actors, blobs, clock, imports }: Pick<FeatureServices, 'actors' | 'blobs' | 'clock'> & { imports: DueWorker },
  { account_id, fences }: Principal,
  { import_id, offset, sha256, takeBody }: { import_id: string; offset: number; sha256: string; takeBody: TakeBody },
): Promise<ImportView> {
  const known = await actors.imports(account_id).view({ import_id });
  if (known.stage.status === 'failed') throw new Refused(HAS_FAILED);
  const refused = wrongOffset(known, offset);
  if (refused !== null) throw new Refused(refused);
  const key = importPieceKey(account_id, { import_id, piece: offset / LIMITS.import_piece_bytes });
  const is_known = offset < receivedBytes(known);
  await takeBody({
    size_bytes: pieceBytes(known, offset),
    sha256,
    is_known,
    put: (...body) => blobs.put(key, ...body),
  });
  if (is_known) return importView(await actors.imports(account_id).view({ import_id }));
  const stream_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  try {
    const received = await actors.imports(account_id).received({ import_id, offset, stream_id }, fences);
    if (received.stage.status === 'waiting') imports.offer(account_id);
    return importView(received);
  } catch (error) {
    // It was given up while the piece came: nobody would know of these bytes.
    if (isRefused(error, 'NOT_FOUND')) await blobs.remove([key]);
    throw error;
  }
}

/** A page of the account's imports, newest first. */
export async function listImports(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  { limit, cursor, status }: PageQuery & { status?: 'open' | undefined },
): Promise<Page<ImportView>> {
  const after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
  const range = { after, descending: true, limit: limit + 1 };
  const found = await actors.imports(account_id).list({ range, only_open: status === 'open' });
  const page = pageOf(
    found.imports.map(({ id: member, order, value }) => ({ member, order, value })),
    limit,
  );
  return { items: page.rows.map(({ value }) => importView(value)), cursor: page.cursor };
}

export const importJobShape = z.strictObject({
  account_id: id.describe('Whose recording it becomes.'),
  import_id: id.describe('The import.'),
  status: z.enum(['waiting', 'processing']).describe('processing: a worker has it.'),
  size_bytes: count.describe('How many bytes the file has.'),
  tries: count.describe('How often a worker has begun it.'),
  created_at: moment,
});

/** The fully uploaded imports of all accounts that are no recordings yet. */
export async function importsUnderWay({
  actors,
  imports,
}: Pick<FeatureServices, 'actors'> & { imports: DueWorker }): Promise<z.infer<typeof importJobShape>[]> {
  const range = { descending: true, limit: LIMITS.imports_open_max };
  const found = await pMap(
    await imports.due.list(),
    async (account_id) => {
      const listed = await actors.imports(account_id).list({ range, only_open: true });
      return listed.imports.flatMap(({ value }) => importJobView(account_id, value) ?? []);
    },
    { concurrency: LISTED_AT_ONCE },
  );
  return found.flat();
}

function importJobView(account_id: string, item: Import): z.infer<typeof importJobShape> | null {
  const { id: import_id, stage, size_bytes, created_at_ms } = item;
  if (stage.status !== 'waiting' && stage.status !== 'processing') return null;
  const { status, tries } = stage;
  return { account_id, import_id, status, size_bytes, tries, created_at: new Date(created_at_ms).toISOString() };
}

/** An import of the account. */
export async function viewImport(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  import_id: string,
): Promise<ImportView> {
  return importView(await actors.imports(account_id).view({ import_id }));
}

/** Cancels an import that is no recording yet, or forgets one that has ended; its recording stays. */
export async function deleteImport(
  { actors, imports }: Pick<FeatureServices, 'actors'> & { imports: DueWorker },
  { account_id, fences }: Principal,
  import_id: string,
): Promise<void> {
  await actors.imports(account_id).delete({ import_id }, fences);
  imports.offer(account_id);
}

/** The account's source of imports that name none; a new one if that was deleted. */
async function defaultSource(
  { actors, clock }: Pick<FeatureServices, 'actors' | 'clock'>,
  { account_id, fences }: Principal,
): Promise<string> {
  const new_source_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const create = async (more: { instead_of?: string }) => {
    const { source_id } = await actors.imports(account_id).default_source({ new_source_id, ...more }, fences);
    const source = { account_id, device_id: null, name: DEFAULT_SOURCE_NAME };
    return { source_id, source: await actors.source(source_id).create(source, fences) };
  };
  const known = await create({});
  if (known.source.status === 'kept') return known.source_id;
  const { source_id } = await create({ instead_of: known.source_id });
  return source_id;
}

function importView(item: Import): ImportView {
  const { id, import_ref, stage, name, size_bytes, sha256, source_id, created_at_ms } = item;
  const announced = item.captured_at === null ? null : { captured_at: item.captured_at, by: 'caller' as const };
  const known = stage.status === 'done' ? stage.began : announced;
  return {
    id,
    import_ref,
    status: stage.status === 'waiting' ? 'processing' : stage.status,
    name,
    size_bytes,
    sha256,
    transcript_bytes: item.transcript_bytes ?? null,
    captured_at: known?.captured_at ?? null,
    captured_at_by: known?.by ?? null,
    source_id,
    received_bytes: receivedBytes(item),
    piece_bytes: LIMITS.import_piece_bytes,
    upload_path: `/audio/imports/${id}/content`,
    stream_id: stage.status === 'done' ? stage.stream_id : null,
    error: stage.status === 'failed' ? { code: stage.code, message: stage.message } : null,
    created_at: new Date(created_at_ms).toISOString(),
  };
}
