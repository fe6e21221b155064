/** A blob store on a folder in a process of its own: it does what it is asked over IPC, and answers each under its number. */
import { buffer } from 'node:stream/consumers';
import { openFolderBlobStore } from '../../../src/engine/blobs/folder_blob_store.js';
import { expectationOf, streamOf } from './blob_store_contract.js';
import { bytesNamed, isRemoved } from './segments.js';

export type BlobQuestion =
  | { ask: 'put'; key: string; bytes: number }
  | { ask: 'read' | 'remove'; key: string }
  | { ask: 'sweep'; older_than_ms: number };

const store = await openFolderBlobStore(process.argv[2] as string);

async function answerTo(question: BlobQuestion): Promise<unknown> {
  if (question.ask === 'sweep') return store.sweepTemporary(question.older_than_ms);
  const { key } = question;
  if (question.ask === 'remove') return isRemoved(store, key);
  if (question.ask === 'put') {
    const bytes = bytesNamed(key, question.bytes);
    return (await store.put(key, streamOf(bytes), expectationOf(bytes))).ok;
  }
  const blob = await store.open(key);
  return blob === null ? null : expectationOf(await buffer(blob.stream)).sha256_hex;
}

process.on('message', async ({ number, question }: { number: number; question: BlobQuestion }) => {
  process.send?.({ number, answer: await answerTo(question) });
});
