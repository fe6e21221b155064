/** The peer for uploads: tus over the same TLS, files in a folder. It has no checksum; `is_synced` says whether it syncs. */
import { open } from 'node:fs/promises';
import https from 'node:https';
import { join } from 'node:path';
import { FileStore } from '@tus/file-store';
import { Server } from '@tus/server';
import { answer, settings } from './answering_server.mjs';

const { folder, tls, is_synced } = settings();

/** Syncs a file that was written, and the folder, before it is said to be there. */
class SyncedStore extends FileStore {
  async write(readable, id, offset) {
    const end = await super.write(readable, id, offset);
    for (const path of [join(folder, id), folder]) {
      const file = await open(path, 'r');
      await file.sync();
      await file.close();
    }
    return end;
  }
}

const datastore = new (is_synced ? SyncedStore : FileStore)({ directory: folder });
const tus = new Server({ path: '/files', datastore, relativeLocation: true });
const server = https.createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (request, response) =>
  tus.handle(request, response),
);
server.keepAliveTimeout = 72_000;
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
answer({ port: server.address().port }, { stop: async () => {} });
