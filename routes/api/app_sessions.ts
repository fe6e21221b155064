import { z } from 'zod';
import { emailAddress } from '../../src/access/request_schemas.js';
import { durationInWords } from '../../src/domain/limit_text.js';
import { LIMITS } from '../../src/domain/limits.js';
import { typedCode } from '../../src/domain/typed_code.js';
import { requestLanguage } from '../../src/edge/pages/request_language.js';
import {
  codeSentShape,
  endSession,
  refreshSession,
  sendSignInCode,
  sessionShape,
  signInWithCode,
} from '../../src/features/accounts/app_sessions.js';
import { accountRoute, openRoute, type Route } from '../rows.js';

/** Sign-in by emailed code, and sessions of first-party apps. docs/rules.md, "Sign-in and sessions". */

const SIX_DIGITS = 'must be six digits';
const CAPTCHA_TOKEN = 'Where a CAPTCHA is configured: the token that its widget gave.';

export const AUTH_ROUTES: readonly Route[] = [
  openRoute({
    method: 'POST',
    path: '/auth/otp',
    summary: 'Sends a six-digit code to an email address.',
    notes: 'The answer is the same whether or not there is an account. Signing in with the code makes one.',
    credential: 'none',
    rate: 'codes_sent',
    body: z.object({
      email: emailAddress,
      captcha_token: z.string('must be text').max(4_096).optional().describe(CAPTCHA_TOKEN),
    }),
    answer: codeSentShape,
    handler: ({ services, body, request }) =>
      sendSignInCode(services, { ...body, ip: request.ip, language: requestLanguage(request) }),
  }),

  openRoute({
    method: 'POST',
    path: '/auth/verify-otp',
    summary: 'Signs in with an emailed code.',
    notes: `A code counts once. Codes that were tried too often, or are older than ${durationInWords(LIMITS.code_life_ms)}, count no more.`,
    credential: 'none',
    rate: 'codes_checked',
    body: z.object({
      email: emailAddress,
      token: z
        .string(SIX_DIGITS)
        .transform(typedCode)
        .refine((code) => /^\d{6}$/.test(code), SIX_DIGITS)
        .describe('The code of the mail, six digits.'),
    }),
    answer: sessionShape,
    refusals: ['UNAUTHORIZED'],
    handler: ({ services, body: { email, token: code }, request }) =>
      signInWithCode(services, { email, code, ip: request.ip }),
  }),

  openRoute({
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Gives a session new tokens.',
    notes: 'Both stored tokens are replaced by those of the answer.',
    credential: 'none',
    body: z.object({
      refresh_token: z.string('must be text').max(4_096).describe('The last one that the session was given.'),
    }),
    answer: sessionShape,
    refusals: ['UNAUTHORIZED'],
    handler: ({ services, body }) => refreshSession(services, body.refresh_token),
  }),

  accountRoute({
    method: 'POST',
    path: '/auth/logout',
    summary: 'Ends the session that calls.',
    credential: 'session',
    deleted_too: true,
    status: 204,
    handler: ({ services, who }) => endSession(services, who),
  }),
];
