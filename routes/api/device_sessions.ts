import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, timestamp, uuid } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { countInWords, durationInWords } from '../../src/domain/limit_text.js';
import { LIMITS } from '../../src/domain/limits.js';
import { MANAGES_DEVICES } from '../../src/features/devices/devices.js';
import { pairingCode, pairingCodeEnd } from '../../src/features/devices/pairing_codes.js';
import {
  endHostedSession,
  extendSession,
  hostSession,
  joinSession,
  leaveSession,
  listDeviceSessions,
  recorderSessionShape,
  viewDeviceSession,
} from '../../src/features/devices/recorder_sessions.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

const sessionEnd = timestamp.describe(
  `When it ends by itself, at most ${durationInWords(LIMITS.session_ahead_ms_max)} ahead.`,
);

/** Recorder sessions as accounts see them: one hosts, others take part. Rules H-033 to H-036. */
export const DEVICE_SESSION_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'POST',
    path: '/device-sessions',
    summary: 'Opens a recorder session, which the caller hosts.',
    notes: `It waits ${durationInWords(LIMITS.session_wait_ms)} for a shared recorder to redeem the claim. \`expires_at\` lies at most ${durationInWords(LIMITS.session_ahead_ms_max)} ahead.`,
    credential: 'account',
    permission: MANAGES_DEVICES,
    rate: 'claims',
    status: 201,
    body: z.object({
      expires_at: sessionEnd,
      workspace_id: uuid.optional().describe('What its recordings belong to; the private workspace when absent.'),
    }),
    answer: z.strictObject({
      session: recorderSessionShape,
      claim: z
        .string()
        .describe(
          `What a shared recorder redeems, once and within ${durationInWords(LIMITS.session_wait_ms)}; shown this once.`,
        ),
      code: pairingCode,
      code_expires_at: pairingCodeEnd,
    }),
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handler: ({ services, who, body }) => hostSession(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/device-sessions',
    summary: 'The recorder sessions that the account hosts or takes part in, newest first.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(recorderSessionShape),
    handler: ({ services, who, query }) => listDeviceSessions(services, who, query),
  }),

  accountRoute({
    method: 'GET',
    path: '/device-sessions/:id',
    params: { id: PARAMETERS.recorder_session },
    summary: 'A recorder session.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    answer: recorderSessionShape,
    handler: ({ services, who, params }) => viewDeviceSession(services, who, params.id),
  }),

  accountRoute({
    method: 'POST',
    path: '/device-sessions/:id/join',
    params: { id: PARAMETERS.recorder_session },
    summary: 'Joins a recorder session with its join code.',
    notes: `At most ${countInWords(LIMITS.join_tries_max)} tries in ${durationInWords(LIMITS.join_tries_window_ms)}. Whoever belongs to it already is answered all the same.`,
    credential: 'account',
    permission: MANAGES_DEVICES,
    body: z.object({
      join_code: z
        .string('must be the text of a join code')
        .max(64, 'must be a join code')
        .describe('What the host was shown; letter case and dashes do not matter.'),
    }),
    answer: recorderSessionShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    handler: ({ services, who, params, body }) =>
      joinSession(services, who, { id: params.id, join_code: body.join_code }),
  }),

  accountRoute({
    method: 'POST',
    path: '/device-sessions/:id/leave',
    params: { id: PARAMETERS.recorder_session },
    summary: 'Leaves a recorder session.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    status: 204,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params }) => leaveSession(services, who, params.id),
  }),

  accountRoute({
    method: 'POST',
    path: '/device-sessions/:id/extend',
    params: { id: PARAMETERS.recorder_session },
    summary: 'Lets a recorder session end later.',
    credential: 'account',
    permission: MANAGES_DEVICES,
    body: z.object({ expires_at: sessionEnd }),
    answer: recorderSessionShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, params, body }) =>
      extendSession(services, who, { id: params.id, expires_at: body.expires_at }),
  }),

  accountRoute({
    method: 'POST',
    path: '/device-sessions/:id/end',
    params: { id: PARAMETERS.recorder_session },
    summary: 'Ends a recorder session.',
    notes: `Its recorder may still upload for ${durationInWords(LIMITS.session_drain_ms)} what it has recorded.`,
    credential: 'account',
    permission: MANAGES_DEVICES,
    answer: recorderSessionShape,
    handler: ({ services, who, params }) => endHostedSession(services, who, params.id),
  }),
];
