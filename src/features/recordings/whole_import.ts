import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Principal } from '../../access/principal.js';
import { fileName } from '../../access/request_schemas.js';
import { LIMITS } from '../../domain/limits.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import type { FeatureServices } from '../services.js';
import { announceImport, type ImportView, uploadImportPiece } from './imports.js';

/**
 * `read`: bytes between two offsets. `name`: as its sender calls it; null where it has no name. `import_ref`: its SHA-256 where
 * absent.
 */
export type WholeFile = {
  name: string | null;
  size_bytes: number;
  read(from: number, to: number): AsyncIterable<Buffer>;
  import_ref?: string;
  source_id?: string;
};

const NAMES = fileName(LIMITS.file_name_chars_max);
const NO_NAME = 'Dictation';

/** Imports a file that is here already. The same bytes again are the same import. */
export async function importWhole(
  services: Pick<FeatureServices, 'actors' | 'blobs' | 'clock'> & { imports: DueWorker },
  who: Principal,
  { name, size_bytes, read, import_ref, source_id }: WholeFile,
): Promise<ImportView> {
  const sha256 = await hashOf(read(0, size_bytes));
  const named = NAMES.safeParse(name ?? NO_NAME);
  const announced = {
    ...{ import_ref: import_ref ?? sha256, name: named.success ? named.data : NO_NAME, size_bytes, sha256 },
    ...(source_id !== undefined && { source_id }),
  };
  let item = await announceImport(services, who, announced);
  while (item.status === 'uploading') {
    const { id: import_id, received_bytes: offset, piece_bytes } = item;
    const end = Math.min(offset + piece_bytes, size_bytes);
    const sha256_hex = await hashOf(read(offset, end));
    item = await uploadImportPiece(services, who, {
      import_id,
      offset,
      sha256: sha256_hex,
      takeBody: async ({ size_bytes: bytes, put }) => {
        const result = await put(Readable.from(read(offset, end)), { size_bytes: bytes, sha256_hex });
        if (!result.ok) throw new Error(`a piece of a file is not what it was: ${result.reason}`);
        return result;
      },
    });
  }
  return item;
}

async function hashOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of bytes) hash.update(piece);
  return hash.digest('hex');
}
