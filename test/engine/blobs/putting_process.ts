/**
 * Appends chunks to a folder until it is killed, `LANES` at a time; says the key of each that was acknowledged, and the
 * name that its bytes are of, or why it was not. Arguments: the folder, a name, bytes of a chunk.
 */
import { openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import { appendAll, chunkOf } from './blob_store_contract.js';
import { bytesNamed } from './segments.js';

const LANES = 8;

const [folder, prefix, size] = process.argv.slice(2) as [string, string, string];
const store = await openFolderBlobStore(folder);
let count = 0;

async function putAll(): Promise<void> {
  for (;;) {
    const name = `${prefix}-${count++}`;
    try {
      const [key] = await appendAll(store, [chunkOf(bytesNamed(name, Number(size)))]);
      process.send?.({ key, name, size: Number(size) });
    } catch (error) {
      process.send?.({ failed: (error as NodeJS.ErrnoException).code });
      await new Promise(setImmediate);
    }
  }
}

await Promise.all(Array.from({ length: LANES }, putAll));
