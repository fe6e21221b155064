/** The peer for handshakes: node's own HTTPS listener that asks for a certificate. */
import https from 'node:https';
import { answer, settings } from './answering_server.mjs';

const { tls } = settings();
const server = https.createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (_request, response) =>
  response.end(),
);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
answer({ port: server.address().port }, { stop: async () => {} });
