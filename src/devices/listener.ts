import type { Server as HttpsServer } from 'node:https';
import fastify, { type FastifyHttpsOptions, type FastifyInstance } from 'fastify';
import { HandshakeLimiter } from '../admission/handshake_limiter.js';
import type { Services } from '../services.js';
import { SessionTickets, TICKET_LIFE_S } from './session_tickets.js';

const LOOK_EVERY_MS = 1_000;
const RETRY_MS = 60_000;
/** Connections that wait for their handshake, for each handshake that is done at once. */
const WAITING_PER_HANDSHAKE = 16;
/** What one network may have of all places: in handshakes, where somebody may stall, and among those that wait. */
const HANDSHAKES_SHARE = 1 / 4;
const WAITING_SHARE = 1 / 2;

/**
 * The listener of devices: TLS that asks for a certificate and refuses none, since a refused handshake tells a device
 * nothing; each request says why instead. Its own certificate is renewed while it runs, and connections that are open
 * stay. `options.https` holds what all listeners share.
 */
export async function openDeviceListener(
  services: Services,
  options: FastifyHttpsOptions<HttpsServer>,
  { connections_max, stops }: { connections_max: number; stops: (() => unknown)[] },
): Promise<FastifyInstance> {
  const { authority, clock, connections, device_proxies, keys, log, metrics, overload, settings } = services;
  let renew_at_ms = 0;
  const identity = async () => {
    const own = await authority.issueListenerCertificate({ names: settings.device_names, now_ms: clock.unmoved() });
    renew_at_ms = own.not_after_ms - (own.not_after_ms - own.not_before_ms) / 3;
    const { private_key_pem: key, certificate_pem: cert, ca_pem: ca } = own;
    const resuming = { sessionIdContext: 'spool-devices', sessionTimeout: TICKET_LIFE_S };
    return { key, cert, ca, minVersion: 'TLSv1.2' as const, ...resuming };
  };
  const app = fastify({
    ...options,
    https: {
      ...options.https,
      ...(await identity()),
      requestCert: true,
      rejectUnauthorized: false,
    },
  });
  const server = app.server;
  // By the clock that no test moves: other processes, and the devices themselves, go by it.
  const tickets = new SessionTickets(keys, clock.unmoved);
  tickets.install(server);
  const renewal = setInterval(() => {
    if (clock.unmoved() < renew_at_ms) return;
    renew_at_ms = Number.POSITIVE_INFINITY; // until the look under way says otherwise
    identity()
      .then((renewed) => {
        server.setSecureContext(renewed);
        tickets.install(server);
      })
      .catch((error: Error) => {
        renew_at_ms = clock.unmoved() + RETRY_MS;
        log.error({ reason: error.message }, "the device listener's certificate could not be renewed");
      });
  }, LOOK_EVERY_MS);
  stops.push(() => clearInterval(renewal));

  const { device_connections_per_network, device_handshakes_max, rate_limits } = settings;
  const unlimited = Number.POSITIVE_INFINITY;
  const waiting_max = device_handshakes_max * WAITING_PER_HANDSHAKE;
  const door = new HandshakeLimiter(
    {
      connections_max,
      connections_per_network_max: rate_limits ? device_connections_per_network : unlimited,
      handshakes_max: device_handshakes_max,
      handshakes_per_network_max: rate_limits ? Math.ceil(device_handshakes_max * HANDSHAKES_SHARE) : unlimited,
      waiting_max,
      waiting_per_network_max: rate_limits ? waiting_max * WAITING_SHARE : unlimited,
    },
    {
      is_overloaded: () => overload.shedding === 'all',
      is_exempt: (address) => device_proxies.has(address),
      refused: (cause) => metrics.overload_refusals.inc({ listener: 'device', cause }),
    },
  );
  door.guard(server, metrics);
  server.prependListener('request', (_request, answer) => connections.answering(answer));
  return app as unknown as FastifyInstance;
}
