import { z } from 'zod';
import { bindingEpoch } from '../../src/access/request_schemas.js';
import { endOwnSession, sessionEndShape } from '../../src/features/devices/recorder_sessions.js';
import { deviceRoute, type Route } from '../rows.js';

/**
 * A recorder's own end of its session: it is done, and what it has recorded stays with the host. Rules H-025 and H-026.
 */
export const DEVICE_SESSION_END_ROUTES: readonly Route[] = [
  deviceRoute({
    method: 'POST',
    path: '/device/session/end',
    summary: "Ends the recorder's own session.",
    notes: 'Whoever repeats it gets the same answer. A personal device has no session.',
    credential: 'device',
    priority: 'critical',
    body: z.object({ binding_epoch: bindingEpoch }),
    answer: sessionEndShape,
    refusals: ['ACCOUNT_DELETED', 'DEVICE_UNBOUND', 'CONFLICT'],
    handler: ({ services, who, body }) => endOwnSession(services, who, body.binding_epoch),
  }),
];
