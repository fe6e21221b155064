import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import fastify, { type FastifyInstance } from 'fastify';
import { LIMITS } from '../../domain/limits.js';
import { ConnectionLimiter } from '../../edge/admission/connection_limiter.js';
import type { DescriptorPlan } from '../../edge/admission/descriptor_limits.js';
import { OpenConnections } from '../../edge/admission/open_connections.js';
import { OperatorConnections } from '../../edge/admission/operator_connections.js';
import { Stalls } from '../../edge/admission/stalls.js';
import { mount } from '../../edge/http/listener.js';
import type { ListenerKind } from '../../edge/http/request_state.js';
import type { Route } from '../../edge/http/route.js';
import { LISTENER_OPTIONS, SERVER_OPTIONS } from '../../edge/http/server_options.js';
import { NetworkList } from '../../engine/limits/network_list.js';
import type { SupervisorLink } from '../supervised/supervisor_link.js';
import { openDeviceListener } from './device_listener.js';
import { boundAddress, LISTEN_BACKLOG, portProblem } from './listen_options.js';
import { returnConnections } from './returned_connections.js';
import type { Shutdown } from './shutdown.js';
import { DRAIN_MAX_MS, type ServerServices, type Start } from './start.js';

type ListenerName = ListenerKind['listener'];

const IDLE_LOOKS_EVERY_MS = 20;
const COMMON = { ...LISTENER_OPTIONS, return503OnClosing: false };

const LISTENERS: Record<ListenerName, ListenerKind> = {
  public: { listener: 'public', cbor: false, body_bytes_max: LIMITS.json_body_bytes_max },
  device: { listener: 'device', cbor: true, body_bytes_max: LIMITS.device_body_bytes_max },
  operator: { listener: 'operator', cbor: false, body_bytes_max: LIMITS.json_body_bytes_max },
};

/** The listeners of a server: opened together, drained together. */
export class Listeners {
  readonly #services: ServerServices;
  readonly #shutdown: Shutdown;
  readonly #supervised: SupervisorLink | null;
  readonly #stalls: Stalls;
  readonly #open: (() => Promise<void>)[] = [];

  constructor(services: ServerServices, { shutdown, supervised }: Pick<Start, 'shutdown' | 'supervised'>) {
    this.#services = services;
    this.#shutdown = shutdown;
    this.#supervised = supervised;
    this.#stalls = new Stalls(services);
  }

  /** Gives the ports that it ended up with. `onPort` gets each before any request is read. */
  async start(
    routes: Record<ListenerName, readonly Route[]>,
    descriptors: DescriptorPlan,
    onPort: (name: ListenerName, port: number) => void,
  ): Promise<Record<ListenerName, number>> {
    const apps = await this.#make(descriptors);
    for (const name of ['public', 'device', 'operator'] as const)
      mount(apps[name], this.#services, LISTENERS[name], routes[name]);
    const { ports } = this.#supervised?.order ?? {};
    for (const name of ['public', 'operator'] as const)
      apps[name].server.once('listening', () => onPort(name, ports?.[name] ?? portOf(apps[name])));
    this.#stalls.start();
    this.#shutdown.add(() => this.#stalls.stop());
    // Side by side: what stands still on each takes no longer than on one.
    this.#shutdown.add(() => Promise.all(this.#open.map((close) => close())));
    if (this.#supervised !== null) return this.#serveHanded(this.#supervised, apps);
    const { host, port, device_host, device_port, ops_host, ops_port } = this.#services.settings;
    return {
      operator: await this.#listen(apps, 'operator', { host: ops_host, port: ops_port, setting: 'OPS_PORT' }),
      device: await this.#listen(apps, 'device', { host: device_host, port: device_port, setting: 'DEVICE_PORT' }),
      public: await this.#listen(apps, 'public', { host, port, setting: 'PORT' }),
    };
  }

  async #make(descriptors: DescriptorPlan): Promise<Record<ListenerName, FastifyInstance>> {
    const { metrics, operator_connections, settings } = this.#services;
    const { trusted_proxies, rate_limits, connections_per_network } = settings;
    const open = fastify({
      ...COMMON,
      trustProxy: trusted_proxies.length > 0 ? [...trusted_proxies] : false,
      http: SERVER_OPTIONS,
    });
    // An operator's command may take longer than anything a client is answered.
    const operator = fastify({ ...COMMON, connectionTimeout: 0, http: SERVER_OPTIONS });
    const device = await openDeviceListener(
      this.#services,
      { ...COMMON, https: SERVER_OPTIONS },
      {
        connections_max: descriptors.device_connections,
        processes: this.#supervised?.order.processes ?? 1,
        shutdown: this.#shutdown,
      },
    );
    const proxies = new NetworkList(trusted_proxies);
    const limits = {
      connections_max: descriptors.public_connections,
      connections_per_network_max: rate_limits ? connections_per_network : Number.POSITIVE_INFINITY,
    };
    new ConnectionLimiter(limits, {
      is_exempt: (address) => proxies.has(address),
      refused: (cause) => metrics.overload_refusals.inc({ listener: 'public', cause }),
    }).install(open.server);
    new OperatorConnections(descriptors.operator_connections, {
      known: operator_connections,
      refused: () => metrics.overload_refusals.inc({ listener: 'operator', cause: 'connections' }),
    }).install(operator.server);
    return { public: open, device, operator };
  }

  async #listen(
    apps: Record<ListenerName, FastifyInstance>,
    listener: ListenerName,
    { host, port, setting }: { host: string; port: number; setting: string },
  ): Promise<number> {
    const app = apps[listener];
    this.#prepare(app, listener);
    await app.listen({ host: boundAddress(host), port, backlog: LISTEN_BACKLOG }).catch((error) => {
      throw portProblem(error, { port, setting });
    });
    return portOf(app);
  }

  /** Stands before and behind what Fastify does with connections and requests. */
  #prepare(app: FastifyInstance, listener: ListenerName): OpenConnections {
    const { draining, log, metrics } = this.#services;
    draining.install(app.server, listener);
    this.#stalls.install(app.server, listener);
    app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
    // Such as no descriptor being left for a connection: the next one may have one.
    app.server.on('error', (error) => log.error({ reason: error.message }, 'a connection could not be accepted'));
    const connections = new OpenConnections(app.server, (count) => metrics.connections.set({ listener }, count));
    this.#open.push(() => closeWithin(app, connections, DRAIN_MAX_MS));
    return connections;
  }

  /** Listens nowhere: a supervisor hands over each connection. */
  async #serveHanded(
    supervised: SupervisorLink,
    apps: Record<ListenerName, FastifyInstance>,
  ): Promise<Record<ListenerName, number>> {
    const { draining, metrics, processes, settings } = this.#services;
    const { ports } = supervised.order;
    const [of_apps, of_operators, of_devices] = (['public', 'operator', 'device'] as const).map((name) =>
      this.#prepare(apps[name], name),
    ) as [OpenConnections, OpenConnections, OpenConnections];
    for (const app of Object.values(apps)) {
      await app.ready();
      // With this node begins to look at how long heads and requests take.
      app.server.emit('listening');
    }
    supervised.serves({
      serve: (port, socket) => void apps[port].server.emit('connection', socket),
      count(refusals) {
        for (const { count, ...labels } of refusals) metrics.overload_refusals.inc(labels, count);
      },
      drain: () => draining.begin(),
      tell: (name, about) => processes.answer(name, about),
      async leave() {
        draining.replaced();
        const handed = [
          { app: apps.public, connections: of_apps },
          { app: apps.operator, connections: of_operators },
        ];
        await returnConnections(supervised, handed, of_devices, settings.drain_s * 1_000);
      },
    });
    return ports;
  }
}

function portOf({ server }: FastifyInstance): number {
  return (server.address() as AddressInfo).port;
}

/** Answers what is in progress, then closes what is left when the time is up. */
async function closeWithin(app: FastifyInstance, connections: OpenConnections, ms: number): Promise<void> {
  const late = setTimeout(() => connections.closeAll(), ms);
  // A connection that is kept falls idle with its last answer, after the listener has closed.
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_LOOKS_EVERY_MS);
  connections.closeSilent();
  await app.close();
  // A server that listens nowhere waits for none of them.
  while (connections.size > 0) await delay(IDLE_LOOKS_EVERY_MS);
  clearTimeout(late);
  clearInterval(sweep);
}
