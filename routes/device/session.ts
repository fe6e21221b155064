import { z } from 'zod';
import { endOf } from '../../actors/devices/device_session.js';
import { bindingEpoch } from '../../src/access/request_schemas.js';
import { id, moment, sessionEndReason } from '../../src/access/response_schemas.js';
import { orNull, refuse } from '../../src/domain/refusals.js';
import { boundBy, openAccount, refuseAs, unboundAs } from '../../src/features/devices/device_binding.js';
import { deviceRoute, type Route } from '../rows.js';

/**
 * A recorder's own end of its session: it is done, and what it has recorded stays with the host. Rules H-025 and H-026.
 */

const NO_SESSION = refuse('CONFLICT', 'A personal device has no session that could end.');

const sessionEndShape = z
  .strictObject({
    session_id: id.describe('The session that is over.'),
    ended_at: moment.describe('When it ended.'),
    end_reason: sessionEndReason,
  })
  .meta({ id: 'SessionEnd' });

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
    async handler({ services, who, body: { binding_epoch: epoch } }) {
      // A repeat finds it ended, which is no refusal here; a deleted account is one either way.
      const bound = await orNull(boundBy(services, who, epoch), 'DEVICE_UNBOUND');
      if (who.kind === 'personal') return refuseAs(services, who, NO_SESSION);
      const session = await services.actors.downstream
        .deviceSession(epoch)
        .end_by_recorder({ device_id: who.device_id }, bound?.fences ?? [])
        .catch(unboundAs(services, who));
      await openAccount(services, session.host_account_id);
      const end = endOf(session);
      if (end === null) throw new Error('a session that its recorder ended goes on');
      return { session_id: session.id, ended_at: new Date(end.ended_at_ms).toISOString(), end_reason: end.end_reason };
    },
  }),
];
