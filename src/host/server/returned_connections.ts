import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { OpenConnections } from '../../edge/admission/open_connections.js';
import type { SupervisorLink } from '../supervised/supervisor_link.js';
import { DRAIN_MAX_MS } from './start.js';

const LOOK_EVERY_MS = 20;

type ReturnedListener = { app: FastifyInstance; connections: OpenConnections };

/**
 * Gives connections back to the supervisor as they fall idle, until none is left or the time is up. Those of devices can go
 * nowhere, since their TLS ends here: they have `devices_ms` to end with an answer.
 */
export async function returnConnections(
  supervised: SupervisorLink,
  listeners: readonly ReturnedListener[],
  devices: OpenConnections,
  devices_ms: number,
): Promise<void> {
  const began = performance.now();
  for (;;) {
    for (const { app, connections } of listeners) giveBackIdle(supervised, app.server, connections);
    const passed_ms = performance.now() - began;
    const is_empty = listeners.every(({ connections }) => connections.size === 0);
    const devices_left = devices.size > 0 && passed_ms < devices_ms;
    if (!devices_left && (is_empty || passed_ms > DRAIN_MAX_MS)) return;
    await delay(LOOK_EVERY_MS);
  }
}

/** Only node knows which connections have no request under way, not even a part of one, and it only offers to close them. */
function giveBackIdle(supervised: SupervisorLink, server: Server, connections: OpenConnections): void {
  const open: Socket[] = [...connections];
  for (const socket of open) {
    const giveBack = () => {
      Reflect.deleteProperty(socket, 'destroy');
      // Of an answer that is not all sent, the rest is still here.
      if (socket.writableLength === 0) supervised.giveBack(socket);
      return socket;
    };
    socket.destroy = giveBack;
  }
  server.closeIdleConnections();
  for (const socket of open) Reflect.deleteProperty(socket, 'destroy');
}
