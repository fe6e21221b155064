import type { Readable } from 'node:stream';
import { Readable as Stream } from 'node:stream';
import { z } from 'zod';
import type { Asker, Export, ExportStage } from '../../../actors/accounts/exports_state.js';
import type { Principal } from '../../access/principal.js';
import { count, id, moment } from '../../access/response_schemas.js';
import { Refused, refuse } from '../../domain/refusals.js';
import { archiveKey } from '../../engine/blobs/blob_keys.js';
import type { ByteContent } from '../../engine/blobs/blob_store.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices as Services } from '../services.js';

/** What exports look like, and how their archives are given out. docs/choices.md, "Files and exports". */

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
        code: z.string().describe('Why, for programs, such as SIGNED_OUT.'),
        message: z.string().describe('The same for people.'),
      })
      .nullable()
      .describe('Why there is none; null unless it failed.'),
  })
  .meta({ id: 'Export' });

export function exportView({ id, audio, files, created_at_ms, stage }: Export): z.infer<typeof exportShape> {
  const { status } = stage;
  const is_ready = status === 'ready';
  return {
    ...{ id, status, audio, files, created_at: new Date(created_at_ms).toISOString() },
    ...(status === 'running' ? { progress: stage.progress } : {}),
    bytes: is_ready ? stage.bytes : null,
    sha256: is_ready ? stage.sha256 : null,
    expires_at: is_ready ? new Date(stage.expires_at_ms).toISOString() : null,
    failure: status === 'failed' ? { code: stage.code, message: stage.message } : null,
  };
}

/** The credential that asks, so that an export ends with it. */
export function askerOf({ kind, credential_id, fences }: Principal): Asker {
  if (kind === 'personal_access_token') throw new Error('a personal access token gets no export');
  return { epochs: fences.flatMap(epochOf), credential: { kind, id: credential_id } };
}

function epochOf(fence: Fence): Asker['epochs'] {
  return fence.fence === 'epoch'
    ? [{ epoch: fence.epoch as Asker['epochs'][number]['epoch'], value: fence.value }]
    : [];
}

/** The bytes of an archive, and as which it is saved. Refuses where there is none. */
export function archiveContent(
  { blobs }: Pick<Services, 'blobs'>,
  account_id: string,
  { id: export_id, created_at_ms, stage }: Export,
): ByteContent & { file_name: string } {
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

/** What of which parts lies in a range of an archive. */
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
