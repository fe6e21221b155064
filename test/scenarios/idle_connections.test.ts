import tls from 'node:tls';
import type { Test } from 'tap';
import type { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';

const AT_ONCE = 50;

type Size = { connections: number; seconds: number; kib_max: number };

scenario<Size>({
  title: 'idle device connections stay open, cost the server little, and a working device does not notice',
  smoke: { connections: 100, seconds: 0.5, kib_max: Infinity },
  full: { connections: 3_000, seconds: 20, kib_max: 70 },
  run: idleConnections,
});

async function idleConnections(t: Test, { connections, seconds, kib_max }: Size): Promise<void> {
  const servers = await Servers.open(t, { storage: 'own', is_measured: true });
  const { first: server } = servers;
  const sockets: tls.TLSSocket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const app = servers.client((await servers.signIn('idle@x.test')).access_token);
  t.teardown(() => app.close());
  const { devices, credentials } = await servers.boundDevice(app);
  const [device] = devices as [DeviceClient];
  const { hostname: host, port } = new URL(server.device_url);
  const identity = {
    host,
    port: Number(port),
    key: credentials.private_key_pem,
    cert: credentials.certificate_pem + credentials.ca_pem,
    ca: credentials.ca_pem,
  };

  const rss_kib = () => server.memory_mib * 1_024;
  const beats = async (for_s: number) => {
    const took: number[] = [];
    for (const until = performance.now() + for_s * 1_000; performance.now() < until; ) {
      const began = performance.now();
      await device.ask('POST', '/device/heartbeat');
      took.push(performance.now() - began);
    }
    took.sort((a, b) => a - b);
    const [p50_ms = 0, p99_ms = 0] = [0.5, 0.99].map((share) => took[Math.floor(took.length * share)]);
    return `${took.length} heartbeats, p50 ${p50_ms.toFixed(2)} ms, p99 ${p99_ms.toFixed(2)} ms`;
  };

  await beats(seconds / 6); // warm
  t.comment(`alone: ${await beats(seconds / 2)}`);
  const before = rss_kib();
  while (sockets.length < connections) {
    const batch = Array.from({ length: Math.min(AT_ONCE, connections - sockets.length) }, () => tls.connect(identity));
    sockets.push(...batch);
    await Promise.all(
      batch.map(
        (socket) => new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject)),
      ),
    );
  }
  const open = rss_kib();
  t.comment(`beside ${connections} idle connections: ${await beats(seconds / 2)}`);
  const after = rss_kib();
  const each_kib = (after - before) / connections;
  t.comment(`server memory: ${before} KiB alone, ${open} KiB with all open, ${after} KiB after ${seconds / 2} s`);
  t.ok(each_kib <= kib_max, `${each_kib.toFixed(1)} KiB a connection (goal ${kib_max})`);
  t.equal(sockets.filter((socket) => !socket.destroyed).length, connections, 'all are still open');
}
