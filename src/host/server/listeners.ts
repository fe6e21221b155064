import { type AddressInfo, Server as NetServer } from 'node:net';
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
import { openDeviceListener } from './device_listener.js';
import { boundAddress, LISTEN_BACKLOG, portProblem } from './listen_options.js';
import type { OpenPorts } from './open_ports.js';
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
  readonly #primary: Start['primary'];
  readonly #stalls: Stalls;
  readonly #open: { app: FastifyInstance; connections: OpenConnections }[] = [];

  constructor(services: ServerServices, { shutdown, primary }: Pick<Start, 'shutdown' | 'primary'>) {
    this.#services = services;
    this.#shutdown = shutdown;
    this.#primary = primary;
    this.#stalls = new Stalls(services);
  }

  /** Returns the ports on which the listeners are open; they are noted before any request is read. */
  async start(
    routes: Record<ListenerName, readonly Route[]>,
    descriptors: DescriptorPlan,
    open_ports: OpenPorts,
  ): Promise<Record<ListenerName, number>> {
    const apps = await this.#make(descriptors);
    for (const name of ['public', 'device', 'operator'] as const)
      mount(apps[name], this.#services, LISTENERS[name], routes[name]);
    for (const name of ['public', 'operator'] as const)
      apps[name].server.once('listening', () => open_ports.note(name, portOf(apps[name])));
    this.#stalls.start();
    this.#shutdown.add(() => this.#stalls.stop());
    // Side by side: what stands still on each takes no longer than on one.
    this.#shutdown.add(() => Promise.all(this.#open.map(closeInTime)));
    const { host, port, device_host, device_port, ops_host, ops_port } = this.#services.settings;
    return {
      operator: await this.#listen(apps, 'operator', { host: ops_host, port: ops_port, setting: 'OPS_PORT' }),
      device: await this.#listen(apps, 'device', { host: device_host, port: device_port, setting: 'DEVICE_PORT' }),
      public: await this.#listen(apps, 'public', { host, port, setting: 'PORT' }),
    };
  }

  /**
   * Accepts no more connections, and waits up to this time until each connection has ended with an answer: no client
   * sees a connection break.
   */
  async leave(max_ms: number): Promise<void> {
    this.#services.draining.replaced();
    // The close of HTTP would close idle connections, on which a request may be under way.
    for (const { app } of this.#open) NetServer.prototype.close.call(app.server);
    const until = performance.now() + max_ms;
    const isOpen = () => this.#open.some(({ connections }) => connections.size > 0);
    while (isOpen() && performance.now() < until) await delay(IDLE_LOOKS_EVERY_MS);
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
        primary: this.#primary,
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
      peers: this.#primary?.connections.of('public') ?? null,
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
  #prepare(app: FastifyInstance, listener: ListenerName): void {
    const { draining, log, metrics } = this.#services;
    draining.install(app.server);
    this.#stalls.install(app.server, listener);
    app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
    // Such as no descriptor being left for a connection: the next one may have one.
    app.server.on('error', (error) => log.error({ reason: error.message }, 'a connection could not be accepted'));
    const connections = new OpenConnections(app.server, (count) => metrics.connections.set({ listener }, count));
    this.#open.push({ app, connections });
  }
}

function portOf({ server }: FastifyInstance): number {
  return (server.address() as AddressInfo).port;
}

/** Answers what is in progress, then closes what is left when the time is up. */
async function closeInTime({
  app,
  connections,
}: {
  app: FastifyInstance;
  connections: OpenConnections;
}): Promise<void> {
  const late = setTimeout(() => connections.closeAll(), DRAIN_MAX_MS);
  // A connection that is kept falls idle with its last answer, after the listener has closed.
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_LOOKS_EVERY_MS);
  connections.closeSilent();
  await app.close();
  clearTimeout(late);
  clearInterval(sweep);
}
