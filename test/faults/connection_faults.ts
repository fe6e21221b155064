import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { answerOf } from '../driver/history.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import { STALLS, type Stall, StalledConnections } from '../fixtures/stalled_connections.js';
import { ENTITY_KINDS, Load } from './load.js';
import type { Trial } from './trial.js';

/** Faults 18 and 19: connections that stand still, and more of them than a process may have files open. */

/** More than there are handshakes at once, from so many networks that these could have all of them. */
const STALLED_HANDSHAKES = 300;
const NETWORKS = [2, 3, 4, 5];
const SERVED_MAX_MS = 9_000;
/** Heads, handshakes and bodies have ten seconds, and what is said of them two more. */
const CLOSED_AFTER_MS = 15_000;
const LEFT_MS = 1_000;
/** Those that wait for their next request: one of each network on each port. */
const WAITING = NETWORKS.length * 3;
const STOPPED_MAX_MS = 16_000;
const OPEN_FILES = [200, 1_024];
const IDLE_CONNECTIONS = 1_100;
const ACCEPTED_MAX_MS = 3_000;
const LEAST = 30;

type Ports = { public: number; device: number; operator: number };

const portsOf = (server: SpoolProcess): Ports => ({
  public: Number(new URL(server.base_url).port),
  device: Number(new URL(server.device_url).port),
  operator: Number(new URL(server.operator_url).port),
});

/** Every state in which a connection can stand still, on each port. */
async function stallAll(stalled: StalledConnections, ports: Ports, credentials: { cert: string; key: string }) {
  for (const stall of Object.keys(STALLS) as Stall[]) {
    for (const network of NETWORKS) {
      const from = `127.0.0.${network}`;
      await stalled.plain(ports.public, stall, { from });
      await stalled.plain(ports.operator, stall, { from });
      await stalled.secure(ports.device, stall, { from, credentials });
    }
  }
}

/** Fault 18. */
export async function connectionsStall(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const stalled = new StalledConnections();
  trial.teardown(() => stalled.leave());
  const load = await Load.open(rig, trial.random);
  const { credentials } = await rig.device();
  const { certificate_pem: cert, private_key_pem: key } = credentials;
  const ports = portsOf(rig.first);
  /** Somebody who has no connection yet; bound to nobody, which it is told. */
  const newDeviceIsServed = async () => {
    const device = new DeviceClient(rig.first.device_url, credentials);
    const began = performance.now();
    const { status } = await answerOf(device.ask('POST', '/device/heartbeat'));
    device.close();
    const took_ms = performance.now() - began;
    trial.must(
      status === 403 && took_ms < SERVED_MAX_MS,
      `a new device is answered ${status} after ${Math.round(took_ms)} ms`,
    );
  };
  await load.run(
    (async () => {
      await stallAll(stalled, ports, { cert, key });
      await Promise.all(
        Array.from({ length: STALLED_HANDSHAKES }, (_, n) =>
          stalled.plain(ports.device, n % 2 === 0 ? 'silent' : 'half a handshake', {
            from: `127.0.0.${NETWORKS[n % NETWORKS.length]}`,
          }),
        ),
      );
      trial.tries += 1;
      await newDeviceIsServed();
      await pause(trial.size.seconds * 1_000);
      await newDeviceIsServed();
    })(),
  );
  const open = () => rig.first.metric('spool_connections');
  // What the server still holds of them falls away when they leave; all others stay as they are.
  await pause(CLOSED_AFTER_MS);
  const beside_them = await open();
  stalled.leave();
  await pause(LEFT_MS);
  const held = beside_them - (await open());
  trial.must(held <= WAITING, `${held} connections were held, though nothing moved on them`);

  await stallAll(stalled, ports, { cert, key });
  trial.tries += 1;
  const began = performance.now();
  const code = await rig.first.stop();
  const took_ms = Math.round(performance.now() - began);
  trial.notes.push(`stopped after ${(took_ms / 1_000).toFixed(1)} s beside ${stalled.size} such connections`);
  trial.must(code === 0 && took_ms < STOPPED_MAX_MS, `SIGTERM ended it with ${code} after ${took_ms} ms`);
  stalled.leave();
  await rig.first.start();
  await trial.settle(rig, load, { kinds: ENTITY_KINDS });
}

/** Fault 19. */
export async function descriptorsUsedUp(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const crowd = new StalledConnections();
  trial.teardown(() => crowd.leave());
  const filesOf = () => readdirSync(`/proc/${rig.first.pid}/fd`).length;
  const load = await Load.open(rig, trial.random);
  for (const open_files of OPEN_FILES) {
    rig.first.open_files = open_files;
    await rig.first.restart();
    const { pid } = rig.first;
    const ports = portsOf(rig.first);
    const come = async (count: number) => {
      const all = [ports.public, ports.device, ports.operator];
      const one = (n: number) => crowd.plain(all[n % 3] as number, 'silent', { from: `127.0.1.${n % 250}` });
      await Promise.all(Array.from({ length: count }, (_, n) => one(n)));
    };
    let most = 0;
    await load.run(
      (async () => {
        await come(IDLE_CONNECTIONS);
        // The kernel has taken them; the server comes to them one by one.
        for (const end_ms = performance.now() + ACCEPTED_MAX_MS; performance.now() < end_ms; await pause(50))
          most = Math.max(most, filesOf());
        crowd.leave();
        // What bounds on connections do not foresee: the limit itself is lowered to what is open.
        await pause(1_000);
        execFileSync('prlimit', ['--pid', String(pid), `--nofile=${filesOf()}:${open_files}`]);
        await come(60);
        await pause((trial.size.seconds * 1_000) / 2);
        crowd.leave();
        execFileSync('prlimit', ['--pid', String(pid), `--nofile=${open_files}:${open_files}`]);
        await rig.back();
      })(),
    );
    trial.notes.push(`${most} of ${open_files} files were open beside ${IDLE_CONNECTIONS} idle connections`);
    trial.must(most > open_files / 3, `only ${most} files were open: the crowd was not there`);
    trial.must(most < open_files - 10, `only ${open_files - most} of ${open_files} files were left`);
    trial.must(rig.first.pid === pid && rig.first.is_running, 'the process has ended');
    trial.tries += 1;
  }
  rig.first.open_files = undefined;
  await rig.first.restart();
  await trial.settle(rig, load, { kinds: ENTITY_KINDS, least: LEAST });
}
