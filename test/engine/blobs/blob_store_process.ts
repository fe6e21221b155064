/** A blob store on a folder in a process of its own: it does what it is asked over IPC, and answers each under its number. */
import { buffer } from 'node:stream/consumers';
import { openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import { appendAll, chunkOf, expectationOf } from './blob_store_contract.js';
import { bytesNamed } from './segments.js';

export type BlobQuestion =
  | { ask: 'append'; name: string; bytes: number }
  | { ask: 'read' | 'remove'; key: string }
  | { ask: 'sweep'; older_than_ms: number; claimed: string[] };

const store = await openFolderBlobStore(process.argv[2] as string);

async function answerTo(question: BlobQuestion): Promise<unknown> {
  switch (question.ask) {
    case 'append': {
      const [key] = await appendAll(store, [chunkOf(bytesNamed(question.name, question.bytes))]);
      return key;
    }
    case 'read': {
      const blob = await store.open(question.key);
      return blob === null ? null : expectationOf(await buffer(blob.stream)).sha256_hex;
    }
    case 'remove':
      return store.remove([question.key]);
    case 'sweep': {
      let removed = 0;
      const claims = async (_: string, appended: readonly { place: string }[]) =>
        appended.map(({ place }) => question.claimed.some((key) => key.includes(`${place}-`)));
      for await (const count of store.sweepAppended(question.older_than_ms, claims)) removed += count;
      return removed;
    }
  }
}

process.on('message', async ({ number, question }: { number: number; question: BlobQuestion }) => {
  process.send?.({ number, answer: await answerTo(question) });
});
