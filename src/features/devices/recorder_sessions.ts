import { z } from 'zod';
import { DEVICE_SESSIONS } from '../../../actors/devices/device_session.js';
import { type DeviceSession, endOf, recorderOf } from '../../../actors/devices/device_session_state.js';
import { type Page, type PageQuery, pageOf } from '../../access/cursors.js';
import type { DeviceIdentity, Principal } from '../../access/principal.js';
import { id, moment, momentOrNull, sessionEndReason } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { durationInWords } from '../../domain/limit_text.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { typedCode } from '../../domain/typed_code.js';
import { randomId } from '../../engine/random/random.js';
import type { EntityOf } from '../../engine/runtime/actors.js';
import { isJoinCode, joinCodeOf } from '../../engine/secrets/join_codes.js';
import { makeSecret, randomSeed } from '../../engine/secrets/tokens.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices } from '../services.js';
import { boundBy, openAccount, refuseAs, unboundAs } from './device_binding.js';
import { type OpenedPairingCode, openPairingCode } from './pairing_codes.js';

/** Recorder sessions: one account hosts, others take part, a shared recorder records. Rules H-025, H-026, H-033 to H-036. */

/** The same for an unknown session and a wrong code: neither reveals that the other is right. */
const NO_SESSION = refuse('NOT_FOUND', 'There is no such recorder session, or its join code is another one.');
const NO_OWN_SESSION = refuse('CONFLICT', 'A personal device has no session that could end.');

export const recorderSessionShape = z
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

export type RecorderSessionView = z.infer<typeof recorderSessionShape>;

/** Opens a recorder session, which the caller hosts. The claim is for a shared recorder and is shown this once. */
export async function hostSession(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  who: Principal,
  { expires_at, workspace_id }: { expires_at: string; workspace_id?: string | undefined },
): Promise<{ session: RecorderSessionView; claim: string } & OpenedPairingCode> {
  const { actors, keys, clock } = services;
  const expires_at_ms = scheduledEnd(expires_at, clock.now());
  const { account_id } = who;
  const drawn = () => randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const [session_id, claim_id, source_id] = [drawn(), drawn(), drawn()];
  const { text: claim, secret_hash } = makeSecret(keys, 'claim', claim_id);
  await actors.downstream.account(account_id).host_session(
    {
      session_id,
      workspace_id: workspace_id ?? null,
      expires_at_ms,
      join_seed: randomSeed(keys),
      claim: { claim_id, secret_hash, source_id },
    },
    who.fences,
  );
  const [session, code] = await Promise.all([
    viewDeviceSession(services, who, session_id),
    openPairingCode(services, claim_id),
  ]);
  return { session, claim, ...code };
}

/** A session that the caller hosts or takes part in. */
export async function viewDeviceSession(
  services: Pick<FeatureServices, 'actors' | 'keys'>,
  who: Principal,
  id: string,
): Promise<RecorderSessionView> {
  const session = await readSession(services, who, id);
  return sessionView(services, who, session);
}

/** Joins a session with its join code. A caller that belongs to it already gets the same answer. */
export async function joinSession(
  services: Pick<FeatureServices, 'actors' | 'keys'>,
  who: Principal,
  { id, join_code }: { id: string; join_code: string },
): Promise<RecorderSessionView> {
  const { actors, keys } = services;
  const before = await orNull(readSession(services, who, id), 'NOT_FOUND');
  if (before !== null) return sessionView(services, who, before);
  await actors.account(who.account_id).try_join({}, who.fences);
  const found = await orNull(actors.deviceSession(id).join_seed(), 'NOT_FOUND');
  if (found === null) throw new Refused(NO_SESSION);
  if (!isJoinCode(keys, { session_id: id, seed: found.join_seed }, typedCode(join_code))) throw new Refused(NO_SESSION);
  return change(services, who, id, (session, fences) => session.join({ by: who.account_id }, fences));
}

/** Leaves a session that the caller takes part in. */
export async function leaveSession(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  id: string,
): Promise<void> {
  await actors.downstream.deviceSession(id).leave({ by: account_id });
}

/** Postpones the end of a session that the caller hosts. */
export async function extendSession(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  who: Principal,
  { id, expires_at }: { id: string; expires_at: string },
): Promise<RecorderSessionView> {
  const expires_at_ms = scheduledEnd(expires_at, services.clock.now());
  return change(services, who, id, (session, fences) => session.extend({ by: who.account_id, expires_at_ms }, fences));
}

/** Ends a session that the caller hosts. */
export function endHostedSession(
  services: Pick<FeatureServices, 'actors' | 'keys'>,
  who: Principal,
  id: string,
): Promise<RecorderSessionView> {
  return change(services, who, id, (session, fences) => session.end({ by: who.account_id }, fences));
}

/** A page of the recorder sessions that the caller hosts or takes part in, newest first. */
export async function listDeviceSessions(
  services: Pick<FeatureServices, 'actors' | 'keys' | 'store'>,
  who: Principal,
  { limit, cursor }: PageQuery,
): Promise<Page<RecorderSessionView>> {
  const place = { owner: who.account_id, partition: partitionOfId(who.account_id) };
  const range = { after: cursor, descending: true, limit: limit + 1 };
  const page = pageOf(await services.store.list(place, DEVICE_SESSIONS, range), limit);
  const found = await Promise.all(
    page.rows.map(({ member }) => orNull(readSession(services, who, member), 'NOT_FOUND')),
  );
  const items = found.flatMap((session) => (session === null ? [] : [sessionView(services, who, session)]));
  return { items, cursor: page.cursor };
}

/** Asks a session to change; answers when all participants have been notified. */
async function change(
  services: Pick<FeatureServices, 'actors' | 'keys'>,
  who: Principal,
  id: string,
  ask: (session: EntityOf<'deviceSession'>, fences: Fence[]) => Promise<DeviceSession>,
): Promise<RecorderSessionView> {
  const session = await ask(services.actors.downstream.deviceSession(id), fencesAt(who, id));
  return sessionView(services, who, session);
}

/** A commit can be fenced only by credential epochs of its own partition: the host's, not a participant's. */
function fencesAt({ account_id, fences }: Principal, id: string): Principal['fences'] {
  return partitionOfId(id) === partitionOfId(account_id) ? fences : [];
}

function readSession({ actors }: Pick<FeatureServices, 'actors'>, who: Principal, id: string): Promise<DeviceSession> {
  return actors.deviceSession(id).view({ by: who.account_id });
}

function scheduledEnd(expires_at: string, now_ms: number): number {
  const expires_at_ms = Date.parse(expires_at);
  if (expires_at_ms > now_ms && expires_at_ms <= now_ms + LIMITS.session_ahead_ms_max) return expires_at_ms;
  const message = `must lie in the next ${durationInWords(LIMITS.session_ahead_ms_max)}`;
  throw new Refused(refuse('BAD_REQUEST', `expires_at ${message}.`, { details: [{ path: 'expires_at', message }] }));
}

function sessionView(
  { keys }: Pick<FeatureServices, 'keys'>,
  { account_id }: Principal,
  session: DeviceSession,
): RecorderSessionView {
  const recorder = recorderOf(session);
  const end = endOf(session);
  const { id, phase, host_account_id, join_seed: seed } = session;
  const may_join = phase.status === 'waiting' || phase.status === 'open';
  return {
    id,
    status: phase.status,
    host_account_id,
    device_id: recorder?.device_id ?? null,
    workspace_id: session.workspace_id,
    source_id: recorder?.source_id ?? null,
    participants: session.participants.map((participant) => ({
      account_id: participant.account_id,
      joined_at: new Date(participant.joined_at_ms).toISOString(),
    })),
    ...(account_id === host_account_id && may_join ? { join_code: joinCodeOf(keys, { session_id: id, seed }) } : {}),
    created_at: new Date(session.created_at_ms).toISOString(),
    started_at: momentOrNull(recorder?.started_at_ms ?? null),
    expires_at: new Date(session.expires_at_ms).toISOString(),
    ended_at: momentOrNull(end?.ended_at_ms ?? null),
    end_reason: end?.end_reason ?? null,
  };
}

export const sessionEndShape = z
  .strictObject({
    session_id: id.describe('The session that is over.'),
    ended_at: moment.describe('When it ended.'),
    end_reason: sessionEndReason,
  })
  .meta({ id: 'SessionEnd' });

/** Ends the session of the recorder itself; a repeat gets the same answer. A personal device has none: CONFLICT. */
export async function endOwnSession(
  services: Pick<FeatureServices, 'actors'>,
  who: DeviceIdentity,
  epoch: string,
): Promise<z.infer<typeof sessionEndShape>> {
  // A repeat finds it ended, which is no refusal here; a deleted account is one either way.
  const bound = await orNull(boundBy(services, who, epoch), 'DEVICE_UNBOUND');
  if (who.kind === 'personal') return refuseAs(services, who, NO_OWN_SESSION);
  const session = await services.actors.downstream
    .deviceSession(epoch)
    .end_by_recorder({ device_id: who.device_id }, bound?.fences ?? [])
    .catch(unboundAs(services, who));
  await openAccount(services, session.host_account_id);
  const end = endOf(session);
  if (end === null) throw new Error('a session that its recorder ended goes on');
  return { session_id: session.id, ended_at: new Date(end.ended_at_ms).toISOString(), end_reason: end.end_reason };
}
