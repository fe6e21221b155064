import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAuthority } from '../../certs/authority.js';

/** `ca_file`: what a server must trust that sends there. */
export type WebhookReceiver = { url: string; ca_file: string; close(): Promise<void> };

/** Takes webhooks on this machine. The first try is refused, so that one delivery shows two. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const folder = mkdtempSync(join(tmpdir(), 'spool-demo-webhooks-'));
  // Ctrl-C ends the process without `close`.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const authority = await openAuthority(join(folder, 'authority'), Date.now());
  const names = ['localhost', '127.0.0.1'];
  const { private_key_pem, certificate_pem, ca_pem } = await authority.issueListenerCertificate({
    ...{ names, now_ms: Date.now() },
  });
  const ca_file = join(folder, 'ca.pem');
  writeFileSync(ca_file, ca_pem);
  let is_first = true;
  const server = createServer({ key: private_key_pem, cert: certificate_pem + ca_pem }, (request, response) => {
    const status = is_first ? 503 : 204;
    is_first = false;
    request.resume().once('end', () => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/spool`,
    ca_file,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
