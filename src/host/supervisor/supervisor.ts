import type { AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { connectionRoom, descriptorLimit } from '../../edge/admission/descriptor_limits.js';
import { NetworkList } from '../../engine/limits/network_list.js';
import { planForMachine } from '../server/admission.js';
import { boundAddress, LISTEN_BACKLOG, portProblem } from '../server/listen_options.js';
import { type OpenRedis, startOwnRedis } from '../server/redis.js';
import { Shutdown } from '../server/shutdown.js';
import { CannotStart } from '../server/start.js';
import { publicAddresses, type Settings } from '../settings.js';
import type { PortName, Report } from '../supervised/messages.js';
import { type Child, ChildFailed } from './child.js';
import { Children } from './children.js';
import { type AcceptorLimits, ConnectionAcceptor } from './connection_acceptor.js';
import { QueryRelay } from './query_relay.js';

/** Several processes that serve on the same ports. */
export type Supervisor = {
  base_url: string;
  ports: Record<PortName, number>;
  redis: OpenRedis['child'];
  pids: number[];
  /** Replaces the processes one by one; nobody is refused meanwhile. */
  roll(): Promise<void>;
  /** Says that it is not ready, serves on for DRAIN_S, then stops everything; Redis last. May be called twice. */
  close(): Promise<void>;
};

/**
 * Holds DATA_DIR, Redis and the ports, and starts the processes that serve. What was started is stopped again when a later
 * step fails.
 */
export async function startSupervisor(settings: Settings, log: Logger): Promise<Supervisor> {
  const shutdown = new Shutdown(log);
  try {
    return await startParts(settings, log, shutdown);
  } catch (error) {
    await shutdown.run();
    throw error instanceof ChildFailed ? new CannotStart(error.message) : error;
  }
}

async function startParts(settings: Settings, log: Logger, shutdown: Shutdown): Promise<Supervisor> {
  const own = settings.redis_url === null ? await startOwnRedis({ settings, log, shutdown }) : null;
  const limits = limitsOf(settings, log);
  const proxies = { public: settings.trusted_proxies, device: settings.device_proxies, operator: [] };
  const exempt = new Map(Object.entries(proxies).map(([port, networks]) => [port, new NetworkList(networks)]));
  const doors = new ConnectionAcceptor({
    log,
    limits,
    held_max: connectionRoom(descriptorLimit()),
    children: { choose: (...asked) => children.choose(...asked) },
    isExempt: (port, address) => exempt.get(port)?.has(address) ?? false,
    counted: (refusals) => children.choose('public', null)?.send({ do: 'count', refusals }),
  });
  const servers = { public: doors.make('public'), device: doors.make('device'), operator: doors.make('operator') };
  const ports = await listenAll(servers, settings);
  const questions = new QueryRelay(() => children.all.values());
  const hears = (child: Child, report: Report, socket: Parameters<ConnectionAcceptor['back']>[1]) => {
    if (report.says === 'took') doors.took(child, report.connection);
    if (report.says === 'closed') doors.closed(child, report.connections);
    if (report.says === 'back') doors.back(report.connection, socket);
    if (report.says === 'ask') questions.ask(child, report);
    if (report.says === 'told') questions.told(child, report);
  };
  const children = new Children({
    count: settings.processes,
    log,
    lock: own?.held.lock ?? null,
    drain_ms: settings.drain_s * 1_000,
    order: { processes: settings.processes, redis_socket: own?.child.socket_path ?? null, ports },
    events: {
      hears,
      serves: () => doors.serves(),
      gone(child) {
        doors.gone(child);
        questions.gone(child);
      },
    },
  });
  shutdown.add(() => children.stop());
  shutdown.add(() => doors.close());
  let is_draining = false;
  shutdown.add(async () => {
    if (!is_draining) return;
    children.sendAll({ do: 'drain' });
    await delay(settings.drain_s * 1_000);
  });
  await children.start();
  doors.serves();
  return {
    ports,
    redis: own?.child ?? null,
    roll: () => children.roll(),
    base_url: publicAddresses(settings, ports.public).base_url,
    pids: children.serving.map(({ pid }) => pid),
    close() {
      is_draining = true;
      return shutdown.run();
    },
  };
}

/** Of all processes together. */
function limitsOf(settings: Settings, log: Logger): Record<PortName, AcceptorLimits> {
  const { connections_per_network, device_connections_per_network, processes, rate_limits } = settings;
  const plan = planForMachine(settings, log, { processes });
  const unlimited = Number.POSITIVE_INFINITY;
  const ofNetwork = (max: number) => (rate_limits ? max : unlimited);
  return {
    public: {
      connections_max: plan.public_connections,
      connections_per_network_max: ofNetwork(connections_per_network),
    },
    device: {
      connections_max: plan.device_connections,
      connections_per_network_max: ofNetwork(device_connections_per_network),
    },
    operator: { connections_max: plan.operator_connections, connections_per_network_max: unlimited },
  };
}

/** Before any process serves: who comes meanwhile waits. */
async function listenAll(
  servers: Record<PortName, NetServer>,
  { host, port, device_host, device_port, ops_host, ops_port }: Settings,
): Promise<Record<PortName, number>> {
  return {
    operator: await listen(servers.operator, { host: ops_host, port: ops_port, setting: 'OPS_PORT' }),
    device: await listen(servers.device, { host: device_host, port: device_port, setting: 'DEVICE_PORT' }),
    public: await listen(servers.public, { host, port, setting: 'PORT' }),
  };
}

function listen(
  server: NetServer,
  { host, port, setting }: { host: string; port: number; setting: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(portProblem(error, { port, setting }));
    server.once('error', failed);
    server.listen({ host: boundAddress(host), port, backlog: LISTEN_BACKLOG }, () => {
      server.off('error', failed);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
