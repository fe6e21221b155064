/**
 * Puts blobs into a folder until it is killed, `LANES` at a time; says each that was acknowledged, or why it was not.
 * Arguments: the folder, a name for its keys, bytes of a blob.
 */
import { openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import { expectationOf, streamOf } from './blob_store_contract.js';
import { bytesNamed } from './segments.js';

const LANES = 8;

const [folder, name, size] = process.argv.slice(2) as [string, string, string];
const store = await openFolderBlobStore(folder);
let count = 0;

async function putAll(): Promise<void> {
  for (;;) {
    const key = `p/s${count % 2}/${name}-${count++}`;
    const bytes = bytesNamed(key, Number(size));
    try {
      await store.put(key, streamOf(bytes), expectationOf(bytes));
      process.send?.({ key });
    } catch (error) {
      process.send?.({ failed: (error as NodeJS.ErrnoException).code });
      await new Promise(setImmediate);
    }
  }
}

await Promise.all(Array.from({ length: LANES }, putAll));
