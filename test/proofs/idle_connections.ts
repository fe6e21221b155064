import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { parseArgs } from 'node:util';
import { type BindingView, DeviceClient } from '../../src/tools/client/device_client.js';
import { SpoolProcess } from '../fixtures/spool_process.js';

/**
 * Thousands of idle device connections: what each costs the server, and whether a working device notices.
 * `npm run prove -- idle_connections [--connections 3000] [--seconds 20]`
 */
const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { connections: { type: 'string', default: '3000' }, seconds: { type: 'string', default: '20' } },
});
const connections = Number(values.connections);
const seconds = Number(values.seconds);
const AT_ONCE = 50;
const KIB_MAX = 70;

const folder = mkdtempSync(join(tmpdir(), 'spool-idle-'));
const server = new SpoolProcess(folder, {}, { is_measured: true });
const sockets: tls.TLSSocket[] = [];
try {
  await server.ready();
  const operator = server.operator();
  const app = server.client();
  await app.signIn('idle@x.test', () => operator.readCode('idle@x.test'));
  const { claim } = await app.ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
  const { device_id: _, ...credentials } = await operator.provision('personal');
  const device = new DeviceClient(server.device_url, credentials);
  await device.ask<BindingView>('POST', '/device/claims/redeem', { claim });
  const { hostname: host, port } = new URL(server.device_url);
  const identity = {
    host,
    port: Number(port),
    key: credentials.private_key_pem,
    cert: credentials.certificate_pem + credentials.ca_pem,
    ca: credentials.ca_pem,
  };

  const rss_kib = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]);
  const beats = async (for_ms: number) => {
    const took: number[] = [];
    for (const until = performance.now() + for_ms; performance.now() < until; ) {
      const began = performance.now();
      await device.ask('POST', '/device/heartbeat');
      took.push(performance.now() - began);
    }
    took.sort((a, b) => a - b);
    return {
      count: took.length,
      p50_ms: took[took.length >> 1] ?? 0,
      p99_ms: took[Math.floor(took.length * 0.99)] ?? 0,
    };
  };
  const show = (what: string, { count, p50_ms, p99_ms }: Awaited<ReturnType<typeof beats>>) =>
    console.log(`${what}: ${count} heartbeats, p50 ${p50_ms.toFixed(2)} ms, p99 ${p99_ms.toFixed(2)} ms`);

  await beats(3_000);
  show('alone', await beats((seconds * 1000) / 2));
  const before = rss_kib();
  while (sockets.length < connections) {
    const batch = Array.from({ length: Math.min(AT_ONCE, connections - sockets.length) }, () => tls.connect(identity));
    await Promise.all(
      batch.map(
        (socket) => new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject)),
      ),
    );
    sockets.push(...batch);
  }
  const open = rss_kib();
  show(`beside ${connections} idle connections`, await beats((seconds * 1000) / 2));
  const after = rss_kib();
  const each_kib = (after - before) / connections;
  console.log(
    `server memory: ${before} KiB alone, ${open} KiB with all open, ${after} KiB after ${seconds / 2} s: ${each_kib.toFixed(1)} KiB a connection (goal ${KIB_MAX})`,
  );
  const alive = sockets.filter((socket) => !socket.destroyed).length;
  console.log(`connections still open: ${alive} of ${connections}`);
  process.exitCode = alive === connections && each_kib <= KIB_MAX ? 0 : 1;
  for (const client of [device, app, operator]) client.close();
} finally {
  for (const socket of sockets) socket.destroy();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
