/** The least that stores an upload durably: hash, write, fsync, rename; one request, and no metadata. */
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answer, settings } from './answering_server.mjs';

const open = promisify(fs.open);
const write = promisify(fs.write);
const sync = promisify(fs.fdatasync);
const close = promisify(fs.close);
const rename = promisify(fs.rename);

const { folder, tls } = settings();
const server = https.createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', async () => {
    const bytes = Buffer.concat(pieces);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const draft = join(folder, `.${randomUUID()}`);
    const file = await open(draft, 'wx', 0o600);
    await write(file, bytes, 0, bytes.length, null);
    await sync(file);
    await close(file);
    await rename(draft, join(folder, randomUUID()));
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ sha256 }));
  });
});
server.keepAliveTimeout = 72_000;
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
answer({ port: server.address().port }, { stop: async () => {} });
