import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { LIMITS } from '../../src/domain/limits.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { leftSignal } from '../../src/edge/http/body_arrival.js';
import type { Exchange } from '../../src/edge/http/request_state.js';
import { takeBytes } from '../../src/edge/http/taken_body.js';
import {
  endOmiAddress,
  madeOmiAddressShape,
  makeOmiAddress,
  omiAddress,
  omiAddressShape,
  omiSender,
} from '../../src/features/omi/omi_address.js';
import { takeOmiAudio } from '../../src/features/omi/omi_audio.js';
import { readConversation } from '../../src/features/omi/omi_conversation.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, openRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

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
    handler: ({ services, request, reply, params, query }) =>
      takeOmi(services, { request, reply }, { secret: params.omi, ...query }),
  }),
];

type OmiBody = z.output<typeof query> & { secret: string };

/** Whose address it is comes first: only then a body is read. It takes one of the places of requests of that account. */
async function takeOmi(services: Services, ends: Exchange, { secret, uid, sample_rate }: OmiBody): Promise<void> {
  const { headers } = ends.request;
  const who = await omiSender(services, { secret, uid });
  const { account_id } = who;
  const wait_s = await services.rates.take('omi_bodies', account_id);
  if (wait_s !== null) throw new Refused(tooMany(wait_s));
  const bytes = await takeBytes(ends, { body_budget: services.body_budget, owner: account_id });
  const signal = leftSignal(ends);
  await services.account_requests.run(
    account_id,
    async () => {
      if (AUDIO_TYPE.test(headers['content-type'] ?? '')) {
        if (bytes.length === 0) return;
        const idempotency_key = keyOf(headers);
        return takeOmiAudio(services, who, { bytes, sample_rate, idempotency_key });
      }
      const conversation = readConversation(bytes);
      if (conversation !== null) await services.omi_conversations.take(services, who, { conversation, signal });
    },
    { signal },
  );
}

function keyOf(headers: FastifyRequest['headers']): string | null {
  const key = headers['idempotency-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}

function tooMany(wait_s: number) {
  return refuse('TOO_MANY_REQUESTS', `Too much comes to this address; wait ${wait_s} seconds.`, {
    retry_after_s: wait_s,
  });
}
