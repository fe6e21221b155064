import { LIMITS } from '../../src/domain/limits.js';
import { refuse } from '../../src/domain/refusals.js';
import { type Decision, DONE, type Effect, messagesOf } from '../actor.js';
import { type Account, type LivingLink, ofAccount } from './account_state.js';
import type { NewShareLink, ShareLinkMessage } from './share_link.js';

const TOO_MANY = refuse(
  'CONFLICT',
  `An account has at most ${LIMITS.links_per_account_max} links to recordings; end one first.`,
);
const NO_LINK = refuse('NOT_FOUND', 'There is no such link.');

/** The links to recordings of an account: which are valid. docs/choices.md, "Links to recordings". */
export const linkMessages = messagesOf<Account>()({
  add_link: ofAccount((state, { link_id, link }: NewLink, { now_ms }): Decision<Account, { created_at_ms: number }> => {
    const living = livingLinks(state, now_ms);
    if (living.some(({ id }) => id === link_id)) return { reply: { created_at_ms: link.created_at_ms } };
    if (living.length >= LIMITS.links_per_account_max) return { reply: TOO_MANY };
    const { stream_id, expires_at_ms } = link;
    const made = { ...link, account_id: state.id };
    return {
      reply: { created_at_ms: link.created_at_ms },
      next: { ...state, links: [...living, { id: link_id, stream_id, expires_at_ms }] },
      effects: [notifyLink(link_id, { type: 'make', link: made })],
    };
  }),

  /** Ends links; those that are not there any more are passed over, if one at least is. */
  end_links: ofAccount((state, { link_ids }: { link_ids: string[] }, { now_ms }): Decision<Account, typeof DONE> => {
    const living = livingLinks(state, now_ms);
    const ended = living.filter(({ id }) => link_ids.includes(id));
    if (ended.length === 0) return { reply: NO_LINK };
    const links = living.filter((link) => !ended.includes(link));
    return { reply: DONE, next: { ...state, links }, effects: endLinks(ended) };
  }),
});

type NewLink = { link_id: string; link: Omit<NewShareLink, 'account_id'> };

export function livingLinks({ links }: Pick<Account, 'links'>, now_ms: number): LivingLink[] {
  return links.filter(({ expires_at_ms }) => now_ms < expires_at_ms);
}

export function endLinks(links: readonly LivingLink[]): Effect[] {
  return links.map(({ id }) => notifyLink(id, { type: 'end' }));
}

function notifyLink(id: string, message: ShareLinkMessage): Effect {
  return { effect: 'notify', to: { kind: 'share_link', id }, message };
}
