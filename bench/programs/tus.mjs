/** The peer for uploads: tus over the same TLS, files in a folder. It has neither checksum nor fsync. */
import https from 'node:https';
import { FileStore } from '@tus/file-store';
import { Server } from '@tus/server';
import { answer, settings } from './answering.mjs';

const { folder, tls } = settings();
const tus = new Server({ path: '/files', datastore: new FileStore({ directory: folder }), relativeLocation: true });
const server = https.createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (request, response) =>
  tus.handle(request, response),
);
server.keepAliveTimeout = 72_000;
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
answer({ port: server.address().port }, { stop: async () => {} });
