import type { FastifyRequest } from 'fastify';
import { accessRefusal } from '../../src/access/access.js';
import { type AccessDeps, accountDeleted, type Principal, principalOf } from '../../src/access/principal.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { sendEvents } from '../../src/edge/http/event_stream.js';
import { liveEventShape } from '../../src/features/transcripts/live_shapes.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** The text of a recording while it is recorded. Rules K-170 to K-173. */

const ACCESS = { permission: ['turns:read'] } as const;
const REVISION_RULE = 'must be the id of an event: a whole number';

export const LIVE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/live',
    params: { id: PARAMETERS.stream },
    summary: 'What is said in a stream, as it is recorded.',
    notes:
      'Turns come as they are published and changed. With the built-in engine, preliminary lines come before them, of audio behind the last turn. It ends with the event `end`, or without one when the server or the credential ends: then come again with `Last-Event-ID`. An account has at most ten open.',
    credential: 'account',
    ...ACCESS,
    answer: 'events',
    events: liveEventShape,
    refusals: ['TOO_MANY_REQUESTS'],
    handler({ services, who, params, request, reply }) {
      const revision = revisionSeen(request);
      const stream_id = params.id;
      const again = () => callerNow(services, request);
      return sendEvents({ request, reply }, services, (signal) =>
        services.live_text.read({ stream_id, account_id: who.account_id, who: again, revision, signal }),
      );
    },
  }),
];

/** Null without the header. Throws BAD_REQUEST. */
function revisionSeen({ headers }: FastifyRequest): number | null {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return null;
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) return Number(id);
  const details = [{ path: 'Last-Event-ID', message: REVISION_RULE }];
  throw new Refused(refuse('BAD_REQUEST', `The header Last-Event-ID ${REVISION_RULE}.`, { details }));
}

/** The present caller behind a request's credential. Throws Refused once the credential no longer holds. */
async function callerNow(services: AccessDeps, request: FastifyRequest): Promise<Principal> {
  const who = await principalOf(services, request, 'rest');
  const refusal = accountDeleted(who.account) ?? accessRefusal(who, ACCESS);
  if (refusal !== null) throw new Refused(refusal);
  return who;
}
