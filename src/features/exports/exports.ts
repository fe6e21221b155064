import type { Readable } from 'node:stream';
import { Readable as Stream } from 'node:stream';
import { z } from 'zod';
import { type Account, isOpen } from '../../../actors/accounts/account_state.js';
import { isUnderWay } from '../../../actors/accounts/exports.js';
import type { Export, ExportStage } from '../../../actors/accounts/exports_state.js';
import { type Page, type PageQuery, pageOfAll } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { isEnabled } from '../../domain/permissions.js';
import { orRefused, Refused, refuse } from '../../domain/refusals.js';
import { archiveKey } from '../../engine/blobs/blob_keys.js';
import type { ByteContent } from '../../engine/blobs/blob_store.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import { randomId } from '../../engine/random/random.js';
import type { Fence } from '../../engine/store/store.js';
import { accountNamed } from '../accounts/account_of_email.js';
import type { FeatureServices } from '../services.js';

/** All of an account's data as one archive: asked for, listed and given out. docs/export.md; docs/choices.md, "Files and exports". */

const CLOSED_ACCOUNT = refuse('CONFLICT', 'A deleted account is not exported.');
const HIDDEN = refuse('FORBIDDEN', 'It holds a layer of content that is switched off for the account by now.');
const EXPIRED = refuse('CONTENT_EXPIRED', 'This export is kept no longer; ask for another.');
const NOT_READY = refuse('CONFLICT', 'The export is not ready.');
const LOST = refuse('NOT_FOUND', 'The bytes of this export are not there.');

export const exportWishes = z
  .object({
    audio: z.boolean('must be true or false').default(false).describe('With the audio of all recordings.'),
    files: z.boolean('must be true or false').default(false).describe("With the account's files."),
  })
  .default({ audio: false, files: false });

export const exportShape = z
  .strictObject({
    id,
    status: z
      .enum(['pending', 'running', 'ready', 'failed', 'expired'])
      .describe('ready: it can be saved. expired: it was, and is kept no longer.'),
    audio: z.boolean().describe('Whether it holds audio.'),
    files: z.boolean().describe('Whether it holds files.'),
    created_at: moment,
    progress: z
      .strictObject({ records: count.describe('Read so far.'), bytes: count.describe('Written so far.') })
      .optional()
      .describe('While it runs.'),
    bytes: count.nullable().describe('How large it is; null until it is ready.'),
    sha256: z.string().nullable().describe('Of those bytes, in hexadecimal.'),
    expires_at: moment.nullable().describe('Until then it is kept; null until it is ready.'),
    failure: z
      .strictObject({
        code: z.string().describe('Why, for programs, such as ACCOUNT_DELETED.'),
        message: z.string().describe('The same for people.'),
      })
      .nullable()
      .describe('Why there is none; null unless it failed.'),
  })
  .meta({ id: 'Export' });

export type ExportView = z.infer<typeof exportShape>;

/**
 * The exports that a request covers: those that an account asked for, or those that staff asked for, which the account
 * does not see.
 */
export type ExportScope = {
  account: Account;
  by: Export['by'];
  fences: Fence[];
};

/** The exports of the caller's account. */
export function ownExports({ kind, account, fences }: Principal): ExportScope {
  if (kind === 'personal_access_token') throw new Error('a personal access token gets no export');
  return { account, by: 'account', fences };
}

/** The exports that staff asked for, of the account that they name by its id or its email. They hold all layers. */
export async function staffExports(services: Pick<FeatureServices, 'actors'>, named: string): Promise<ExportScope> {
  const account = await accountNamed(services, named);
  return { account, by: 'staff', fences: [] };
}

/**
 * Asks for an archive, which is made in the background. The export goes on after a sign-out; deleting the account ends
 * it.
 */
export async function requestExport(
  { actors, clock, exports }: Pick<FeatureServices, 'actors' | 'clock'> & { exports: DueWorker },
  { account, by, fences }: ExportScope,
  { audio, files }: z.infer<typeof exportWishes>,
): Promise<ExportView> {
  if (!isOpen(account)) throw new Refused(CLOSED_ACCOUNT);
  const export_id = randomId({ partition: partitionOfId(account.id), now_ms: clock.now() });
  const asked = { export_id, by, audio, files, account_epoch: account.epochs.account };
  const requested = await actors.exports(account.id).request(asked, fences);
  exports.offer(account.id);
  return exportView(requested);
}

/** A page of exports, newest first. */
export async function listExports(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account, by }: ExportScope,
  query: PageQuery,
): Promise<Page<ExportView>> {
  const found = await actors.exports(account.id).list({ by });
  const page = pageOfAll(found.exports, { limit: query.limit, cursor: query.cursor, idOf: ({ id }) => id });
  return { items: page.rows.map(exportView), cursor: page.cursor };
}

/** Exports in progress of all accounts, by accounts and staff. */
export async function exportsUnderWay({
  actors,
  exports,
}: Pick<FeatureServices, 'actors'> & { exports: DueWorker }): Promise<
  { account_id: string; by: Export['by']; export: ExportView }[]
> {
  const found = await Promise.all(
    (await exports.due.list()).map(async (account_id) => {
      const lists = await Promise.all(
        (['account', 'staff'] as const).map((by) => actors.exports(account_id).list({ by }).catch(orRefused(null))),
      );
      const all = lists.flatMap((list) => list?.exports ?? []);
      return all.filter(isUnderWay).map((one) => ({ account_id, by: one.by, export: exportView(one) }));
    }),
  );
  return found.flat();
}

/** The view of an export. */
export async function viewExport(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account, by }: ExportScope,
  export_id: string,
): Promise<ExportView> {
  const found = await actors.exports(account.id).view({ export_id, by });
  return exportView(found);
}

/** Deletes an export, or stops it. */
export async function deleteExport(
  { actors, exports }: Pick<FeatureServices, 'actors'> & { exports: DueWorker },
  { account, by, fences }: ExportScope,
  export_id: string,
): Promise<void> {
  await actors.exports(account.id).delete({ export_id, by }, fences);
  exports.offer(account.id);
}

function exportView({ id, audio, files, created_at_ms, stage }: Export): ExportView {
  const { status } = stage;
  const is_ready = status === 'ready';
  return {
    id,
    status,
    audio,
    files,
    created_at: new Date(created_at_ms).toISOString(),
    ...(status === 'running' ? { progress: stage.progress } : {}),
    bytes: is_ready ? stage.bytes : null,
    sha256: is_ready ? stage.sha256 : null,
    expires_at: is_ready ? new Date(stage.expires_at_ms).toISOString() : null,
    failure: status === 'failed' ? { code: stage.code, message: stage.message } : null,
  };
}

/**
 * The bytes of an archive, and the name and type to save them under. FORBIDDEN if the account asked for it and has
 * since switched off a layer that it holds; CONTENT_EXPIRED once it has expired; CONFLICT until it is ready.
 */
export async function exportArchive(
  { actors, blobs }: Pick<FeatureServices, 'actors' | 'blobs'>,
  { account, by }: ExportScope,
  export_id: string,
): Promise<ByteContent & { file_name: string }> {
  const account_id = account.id;
  const { created_at_ms, stage } = await actors.exports(account_id).view({ export_id, by });
  const layers = stage.status === 'ready' && by === 'account' ? stage.layers : [];
  if (layers.some((layer) => !isEnabled(account.entitlements, layer))) throw new Refused(HIDDEN);
  if (stage.status === 'expired') throw new Refused(EXPIRED);
  if (stage.status !== 'ready') throw new Refused(NOT_READY);
  const file_name = `spool-export-${new Date(created_at_ms).toISOString().slice(0, 10)}.zip`;
  return {
    size_bytes: stage.bytes,
    etag: stage.sha256,
    content_type: 'application/zip',
    file_name,
    async open(range = { start: 0, end: stage.bytes - 1 }): Promise<Readable> {
      const parts = rangesOf(stage, range);
      const open = (at: PartRange) =>
        blobs.open(archiveKey(account_id, { export_id, attempt: stage.attempt, part: at.part }), at);
      const [first] = parts;
      const begun = first === undefined ? null : await open(first);
      if (begun === null) throw new Refused(LOST);
      return Stream.from(
        (async function* () {
          yield* begun.stream;
          for (const at of parts.slice(1)) {
            const blob = await open(at);
            if (blob === null) throw new Error('a part of an archive is not there');
            yield* blob.stream;
          }
        })(),
        { objectMode: false },
      );
    },
  };
}

type PartRange = { part: number; start: number; end: number };

/** The ranges of the parts that make up a range of an archive. */
function rangesOf(
  { part_bytes }: Extract<ExportStage, { status: 'ready' }>,
  { start, end }: { start: number; end: number },
): PartRange[] {
  const [first, last] = [Math.floor(start / part_bytes), Math.floor(end / part_bytes)];
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const part = first + index;
    const begins = part * part_bytes;
    return { part, start: Math.max(0, start - begins), end: Math.min(part_bytes, end - begins + 1) - 1 };
  });
}
