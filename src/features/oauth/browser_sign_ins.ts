import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccountPage, Goal } from '../../../actors/oauth/browser_sign_in.js';
import { Refused } from '../../domain/refusals.js';
import type { Answer } from '../../edge/http/route.js';
import { ACCOUNT_PAGES } from '../../edge/pages/account_pages.js';
import { randomId, randomPartition } from '../../engine/runtime/random.js';
import { randomSeed } from '../../engine/secrets/tokens.js';
import type { FeatureServices as Services } from '../services.js';
import { tieToBrowser } from './cookies.js';
import { leave } from './redirect.js';

/** Where the pages of a sign-in lie, by what it leads to: an address says for which of our pages it is. */
export const SIGN_IN_PATHS: Record<'client' | AccountPage, string> = {
  client: '/oauth/sign-in',
  restore: `${ACCOUNT_PAGES.restore.path}/sign-in`,
  invitations: `${ACCOUNT_PAGES.invitations.path}/sign-in`,
};

export function signInPath(goal: Goal, id: string): string {
  return `${SIGN_IN_PATHS[goal.to === 'client' ? 'client' : goal.page]}/${id}`;
}

/** Begins a sign-in in this browser and leads to its first page. `signed_in`: a session that it may continue with. */
export async function beginSignIn(
  services: Services,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  goal: Goal,
  signed_in: { session_id: string; email: string } | null,
): Promise<Answer> {
  // Each is kept for an hour, whoever asks for it.
  const limited = await services.rates.refusalOf('sign_ins_begun', request.ip);
  if (limited !== null) throw new Refused(limited);
  const { actors, keys, clock } = services;
  const id = randomId({ partition: randomPartition(), now_ms: clock.now() });
  const browser = tieToBrowser(services, { request, reply }, id);
  await actors.browserSignIn(id).open({ sign_in: { goal, browser, ...randomSeed(keys) }, signed_in });
  return leave(reply, signInPath(goal, id));
}
