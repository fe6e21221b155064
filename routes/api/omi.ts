import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { LIMITS } from '../../src/domain/limits.js';
import { leftSignal } from '../../src/edge/http/body_arrival.js';
import { takeBytes } from '../../src/edge/http/taken_body.js';
import {
  endOmiAddress,
  madeOmiAddressShape,
  makeOmiAddress,
  omiAddress,
  omiAddressShape,
} from '../../src/features/omi/omi_address.js';
import { takeOmiBody } from '../../src/features/omi/omi_body.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, openRoute, type Route } from '../rows.js';

/** Conversations and audio of omi's app. Rules K-414 to K-419; docs/choices.md, "omi". */

const OWN_APPS = { credential: 'app', permission: ['account:manage'], own_apps: true } as const;
const UID_CHARS_MAX = 128;
const SAMPLE_RATE_DEFAULT = 16_000; // omi's own
const SAMPLE_RATES = { min: 8_000, max: 48_000 };
const RATE_RULE = `must be a whole number from ${SAMPLE_RATES.min} to ${SAMPLE_RATES.max}`;
const AUDIO_TYPE = /^application\/octet-stream\b/i;

const query = z.object({
  uid: z.string('must name a user of omi').min(1, 'must name a user of omi').max(UID_CHARS_MAX),
  sample_rate: z.coerce
    .number(RATE_RULE)
    .int(RATE_RULE)
    .min(SAMPLE_RATES.min, RATE_RULE)
    .max(SAMPLE_RATES.max, RATE_RULE)
    .default(SAMPLE_RATE_DEFAULT),
});

export const OMI_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/me/omi',
    summary: 'Whether there is an address for omi, and when it was made and used.',
    ...OWN_APPS,
    answer: omiAddressShape,
    handler: async ({ who }) => omiAddress(who),
  }),

  accountRoute({
    method: 'POST',
    path: '/me/omi',
    summary: 'Makes the address to which omi sends conversations and audio.',
    notes: 'Whoever has it adds recordings to the account, and reads nothing. The address before it ends.',
    ...OWN_APPS,
    status: 201,
    answer: madeOmiAddressShape,
    handler: ({ services, who }) => makeOmiAddress(services, who),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me/omi',
    summary: 'Ends the address for omi.',
    ...OWN_APPS,
    status: 204,
    refusals: ['NOT_FOUND'],
    handler: ({ services, who }) => endOmiAddress(services, who),
  }),

  // The reference leaves it out, since its form is omi's; docs/omi.md says what is taken.
  openRoute({
    method: 'POST',
    path: '/omi/:omi',
    params: { omi: PARAMETERS.omi },
    credential: 'none',
    status: 204,
    raw: true,
    body_bytes_max: LIMITS.omi_body_bytes_max,
    query,
    handler({ services, request, reply, params, query }) {
      const ends = { request, reply };
      const { body_budget } = services;
      return takeOmiBody(services, {
        ...query,
        secret: params.omi,
        is_audio: AUDIO_TYPE.test(request.headers['content-type'] ?? ''),
        idempotency_key: keyOf(request.headers),
        takeBytes: (owner) => takeBytes(ends, { body_budget, owner }),
        signal: leftSignal(ends),
      });
    },
  }),
];

function keyOf(headers: FastifyRequest['headers']): string | null {
  const key = headers['idempotency-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}
