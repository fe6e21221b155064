import { z } from 'zod';
import { DEVICE_SESSIONS, type DeviceSession, endOf, recorderOf } from '../../actors/devices/device_session.js';
import { listCursor, type Position, pageOf } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { listLimit, timestamp, uuid } from '../../src/access/request_schemas.js';
import { id, moment, pageShape, sessionEndReason } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { orNull, Refused, refuse } from '../../src/domain/refusals.js';
import type { EntityOf } from '../../src/engine/runtime/actors.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { isJoinCode, joinCodeOf, normalJoinCode } from '../../src/engine/secrets/join_codes.js';
import { makeSecret, randomSeed } from '../../src/engine/secrets/tokens.js';
import type { Fence } from '../../src/engine/store/store.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Recorder sessions as accounts see them: one hosts, others take part. Rules H-033 to H-036. */

export const MANAGES_DEVICES = ['devices:manage'] as const;
/** The same for an unknown session and a wrong code: neither reveals that the other is right. */
const NO_SESSION = refuse('NOT_FOUND', 'There is no such recorder session, or its join code is another one.');

const sessionShape = z
  .strictObject({
    id: id.describe('The binding_epoch of its recorder.'),
    status: z
      .enum(['waiting', 'open', 'draining', 'ended'])
      .describe('waiting: for a recorder. draining: over, while its recorder uploads what is left.'),
    host_account_id: id.describe('The account that hosts it: only this one may extend and end it.'),
    device_id: id.nullable().describe('Its recorder; null until one has redeemed the claim.'),
    workspace_id: id.describe('What its recordings belong to.'),
    source_id: id.nullable().describe('Where its streams come from; null until a recorder has redeemed the claim.'),
    participants: z
      .array(z.strictObject({ account_id: id.describe('Who takes part.'), joined_at: moment.describe('Since when.') }))
      .describe('The host is none of them.'),
    join_code: z.string().optional().describe('For the host alone, while somebody may join.'),
    created_at: moment,
    started_at: moment.nullable().describe('When a recorder redeemed the claim; null until then.'),
    expires_at: moment.describe('When it ends by itself.'),
    ended_at: moment.nullable().describe('When it ended; null until then.'),
    end_reason: sessionEndReason
      .nullable()
      .describe('Who or what ended it; null until then. never_started: no recorder came in time.'),
  })
  .meta({ id: 'RecorderSession' });

export type RecorderSessionView = z.infer<typeof sessionShape>;

export const DEVICE_SESSION_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/device-sessions',
    summary: 'Opens a recorder session, which the caller hosts.',
    notes: 'It waits ten minutes for a shared recorder to redeem the claim. `expires_at` lies at most 24 hours ahead.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    rate: 'claims',
    status: 201,
    body: z.object({
      expires_at: timestamp.describe('When it ends by itself, at most 24 hours ahead.'),
      workspace_id: uuid.optional().describe('What its recordings belong to; the private workspace when absent.'),
    }),
    answer: z.strictObject({
      session: sessionShape,
      claim: z.string().describe('What a shared recorder redeems, once and within ten minutes; shown this once.'),
    }),
    refusals: ['NOT_FOUND', 'CONFLICT'],
    async handler({ services, who, body }) {
      const { actors, keys, clock } = services;
      const expires_at_ms = scheduledEnd(body.expires_at, clock.now());
      const { account_id } = who;
      const drawn = () => randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
      const [session_id, claim_id, source_id] = [drawn(), drawn(), drawn()];
      const { text: claim, secret_hash } = makeSecret(keys, 'claim', claim_id);
      await actors.downstream.account(account_id).host_session(
        {
          session_id,
          workspace_id: body.workspace_id ?? null,
          expires_at_ms,
          join_seed: randomSeed(keys),
          claim: { claim_id, secret_hash, source_id },
        },
        who.fences,
      );
      const session = await viewSession(services, who, session_id);
      return { session: sessionView(services, who, session), claim };
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/device-sessions',
    summary: 'The recorder sessions that the account hosts or takes part in, newest first.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(sessionShape),
    handler: ({ services, who, query }) => listDeviceSessions(services, who, query),
  }),

  accountRoute({
    method: 'GET',
    path: '/device-sessions/:id',
    summary: 'A recorder session.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    answer: sessionShape,
    async handler({ services, who, params }) {
      const session = await viewSession(services, who, params.id as string);
      return sessionView(services, who, session);
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/device-sessions/:id/join',
    summary: 'Joins a recorder session with its join code.',
    notes: 'At most ten tries an hour. Whoever belongs to it already is answered all the same.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    body: z.object({
      join_code: z
        .string('must be the text of a join code')
        .max(64, 'must be a join code')
        .describe('What the host was shown; letter case and dashes do not matter.'),
    }),
    answer: sessionShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, params, body }) {
      const { actors, keys } = services;
      const id = params.id as string;
      const before = await orNull(viewSession(services, who, id), 'NOT_FOUND');
      if (before !== null) return sessionView(services, who, before);
      await actors.account(who.account_id).try_join({}, who.fences);
      const found = await orNull(actors.deviceSession(id).join_seed(), 'NOT_FOUND');
      if (found === null) throw new Refused(NO_SESSION);
      if (!isJoinCode(keys, { session_id: id, seed: found.join_seed }, normalJoinCode(body.join_code)))
        throw new Refused(NO_SESSION);
      return change(services, who, id, (session, fences) => session.join({ by: who.account_id }, fences));
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/device-sessions/:id/leave',
    summary: 'Leaves a recorder session.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    status: 204,
    refusals: ['CONFLICT'],
    async handler({ services: { actors }, who, params }) {
      return actors.downstream.deviceSession(params.id as string).leave({ by: who.account_id });
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/device-sessions/:id/extend',
    summary: 'Lets a recorder session end later.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    body: z.object({ expires_at: timestamp.describe('When it ends by itself, at most 24 hours ahead.') }),
    answer: sessionShape,
    refusals: ['CONFLICT'],
    async handler({ services, who, params, body }) {
      const expires_at_ms = scheduledEnd(body.expires_at, services.clock.now());
      return change(services, who, params.id as string, (session, fences) =>
        session.extend({ by: who.account_id, expires_at_ms }, fences),
      );
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/device-sessions/:id/end',
    summary: 'Ends a recorder session.',
    notes: 'Its recorder may still upload for 15 minutes what it has recorded.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    answer: sessionShape,
    async handler({ services, who, params }) {
      return change(services, who, params.id as string, (session, fences) =>
        session.end({ by: who.account_id }, fences),
      );
    },
  }),
];

/** A page of the recorder sessions that the caller hosts or takes part in, newest first. */
export async function listDeviceSessions(
  services: Services,
  who: Principal,
  { limit, cursor }: { limit: number; cursor?: Position | undefined },
): Promise<{ items: RecorderSessionView[]; cursor: string | null }> {
  const place = { owner: who.account_id, partition: partitionOfId(who.account_id) };
  const range = { after: cursor, descending: true, limit: limit + 1 };
  const page = pageOf(await services.store.list(place, DEVICE_SESSIONS, range), limit);
  const found = await Promise.all(
    page.rows.map(({ member }) => orNull(viewSession(services, who, member), 'NOT_FOUND')),
  );
  const items = found.flatMap((session) => (session === null ? [] : [sessionView(services, who, session)]));
  return { items, cursor: page.cursor };
}

/** Asks a session to change; the answer comes when all participants have been notified. */
async function change(
  services: Services,
  who: Principal,
  id: string,
  ask: (session: EntityOf<'deviceSession'>, fences: Fence[]) => Promise<DeviceSession>,
): Promise<unknown> {
  const session = await ask(services.actors.downstream.deviceSession(id), fencesAt(who, id));
  return sessionView(services, who, session);
}

/** A commit can only hold to credential epochs of its own partition: the host's, not a participant's. */
function fencesAt({ account_id, fences }: Principal, id: string): Principal['fences'] {
  return partitionOfId(id) === partitionOfId(account_id) ? fences : [];
}

function viewSession({ actors }: Services, who: Principal, id: string): Promise<DeviceSession> {
  return actors.deviceSession(id).view({ by: who.account_id });
}

function scheduledEnd(expires_at: string, now_ms: number): number {
  const expires_at_ms = Date.parse(expires_at);
  if (expires_at_ms > now_ms && expires_at_ms <= now_ms + LIMITS.session_ahead_ms_max) return expires_at_ms;
  const message = 'must lie in the next 24 hours';
  throw new Refused(refuse('BAD_REQUEST', `expires_at ${message}.`, { details: [{ path: 'expires_at', message }] }));
}

function sessionView({ keys }: Services, { account_id }: Principal, session: DeviceSession): RecorderSessionView {
  const recorder = recorderOf(session);
  const end = endOf(session);
  const { id, phase, host_account_id, join_seed: seed } = session;
  const may_join = phase.status === 'waiting' || phase.status === 'open';
  const iso = (at_ms: number) => new Date(at_ms).toISOString();
  return {
    id,
    status: phase.status,
    host_account_id,
    device_id: recorder?.device_id ?? null,
    workspace_id: session.workspace_id,
    source_id: recorder?.source_id ?? null,
    participants: session.participants.map((participant) => ({
      account_id: participant.account_id,
      joined_at: iso(participant.joined_at_ms),
    })),
    ...(account_id === host_account_id && may_join ? { join_code: joinCodeOf(keys, { session_id: id, seed }) } : {}),
    created_at: iso(session.created_at_ms),
    started_at: recorder === null ? null : iso(recorder.started_at_ms),
    expires_at: iso(session.expires_at_ms),
    ended_at: end === null ? null : iso(end.ended_at_ms),
    end_reason: end?.end_reason ?? null,
  };
}
