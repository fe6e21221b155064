import type { Server as HttpsServer } from 'node:https';
import fastify, { type FastifyHttpsOptions, type FastifyInstance } from 'fastify';
import { HANDSHAKE_MS_MAX, HandshakeLimiter, type HandshakeLimits } from '../../edge/admission/handshake_limiter.js';
import { every } from '../../engine/time/periodic_timer.js';
import { SessionTickets, TICKET_LIFE_S } from '../../features/devices/session_tickets.js';
import type { Settings } from '../settings.js';
import type { ServerServices, Start } from './start.js';

const LOOK_EVERY_MS = 1_000;
const RETRY_MS = 60_000;
/** Connections that wait for their handshake, for each handshake that is done at once. */
const WAITING_PER_HANDSHAKE = 16;
/**
 * The share of all places that one network may have: in handshakes, where somebody may stall, and among those that
 * wait.
 */
const HANDSHAKES_SHARE = 1 / 4;
const WAITING_SHARE = 1 / 2;

/**
 * The listener of devices: TLS that asks for a certificate and refuses none, since a refused handshake gives a device
 * nothing; each request says why instead. Its own certificate is renewed while it runs, and connections that are open
 * stay. `options.https` holds what all listeners share.
 */
export async function openDeviceListener(
  services: ServerServices,
  options: FastifyHttpsOptions<HttpsServer>,
  { connections_max, primary, shutdown }: Pick<Start, 'primary' | 'shutdown'> & { connections_max: number },
): Promise<FastifyInstance> {
  const { connections, device_proxies, metrics, overload, settings } = services;
  const certificate = new ListenerCertificate(services);
  const app = fastify({
    ...options,
    https: {
      ...options.https,
      ...(await certificate.issue()),
      ...{ requestCert: true, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_MS_MAX },
    },
  });
  certificate.keepIn(app.server);
  shutdown.add(() => certificate.stop());
  const handshakes = new HandshakeLimiter(
    limitsOf(settings, { connections_max, processes: primary?.order.processes ?? 1 }),
    {
      is_overloaded: () => overload.shedding === 'all',
      is_exempt: (address) => device_proxies.has(address),
      refused: (cause) => metrics.overload_refusals.inc({ listener: 'device', cause }),
      peers: primary?.connections.of('device') ?? null,
    },
  );
  handshakes.install(app.server, metrics);
  app.server.prependListener('request', (_request, answer) => connections.answering(answer));
  return app as unknown as FastifyInstance;
}

/** The listener's own certificate, renewed when two thirds of its time are over. */
class ListenerCertificate {
  readonly #services: ServerServices;
  readonly #tickets: SessionTickets;
  #renew_at_ms = 0;
  #stopTicking: (() => void) | null = null;

  constructor(services: ServerServices) {
    this.#services = services;
    // By the clock that no test moves: other processes, and the devices themselves, go by it.
    this.#tickets = new SessionTickets(services.keys, services.clock.unmoved);
  }

  async issue() {
    const { authority, clock, settings } = this.#services;
    const own = await authority.issueListenerCertificate({ names: settings.device_names, now_ms: clock.unmoved() });
    this.#renew_at_ms = own.not_after_ms - (own.not_after_ms - own.not_before_ms) / 3;
    const { private_key_pem: key, certificate_pem: cert, ca_pem: ca } = own;
    const resuming = { sessionIdContext: 'spool-devices', sessionTimeout: TICKET_LIFE_S };
    return { key, cert, ca, minVersion: 'TLSv1.2' as const, ...resuming };
  }

  /** From now on the server has tickets, and a new certificate when that is due. */
  keepIn(server: HttpsServer): void {
    this.#tickets.install(server);
    this.#stopTicking = every(LOOK_EVERY_MS, () => void this.#renew(server));
  }

  stop(): void {
    this.#stopTicking?.();
  }

  async #renew(server: HttpsServer): Promise<void> {
    const { clock, log } = this.#services;
    if (clock.unmoved() < this.#renew_at_ms) return;
    this.#renew_at_ms = Number.POSITIVE_INFINITY; // until the look in progress says otherwise
    try {
      server.setSecureContext(await this.issue());
      this.#tickets.install(server);
    } catch (error) {
      this.#renew_at_ms = clock.unmoved() + RETRY_MS;
      log.error({ reason: (error as Error).message }, "the device listener's certificate could not be renewed");
    }
  }
}

/** Each of several processes does its part of the handshakes. */
function limitsOf(
  { device_connections_per_network, device_handshakes_max, rate_limits }: Settings,
  { connections_max, processes }: { connections_max: number; processes: number },
): HandshakeLimits {
  const unlimited = Number.POSITIVE_INFINITY;
  const handshakes_max = Math.ceil(device_handshakes_max / processes);
  const waiting_max = handshakes_max * WAITING_PER_HANDSHAKE;
  return {
    connections_max,
    connections_per_network_max: rate_limits ? device_connections_per_network : unlimited,
    handshakes_max,
    handshakes_per_network_max: rate_limits ? Math.ceil(handshakes_max * HANDSHAKES_SHARE) : unlimited,
    waiting_max,
    waiting_per_network_max: rate_limits ? waiting_max * WAITING_SHARE : unlimited,
  };
}
