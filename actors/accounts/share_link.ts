import { refuse } from '../../src/domain/refusals.js';
import { DONE, defineActor, given, type MessageOf } from '../actor.js';
import { CANCEL_EXPIRY, scheduleExpiry } from '../expiry.js';

/** Parts that a link may show beside the text. */
export const LINK_PARTS = ['summary', 'audio'] as const;
export type LinkPart = (typeof LINK_PARTS)[number];

/** A link by which whoever holds it reads one recording until it ends. Its account decides whether it is valid. */
export type ShareLink = NewShareLink & {
  /** How often its page was opened, and when last. */
  opened: number;
  last_opened_at_ms: number | null;
};

export type NewShareLink = {
  account_id: string;
  stream_id: string;
  shows: LinkPart[];
  created_at_ms: number;
  expires_at_ms: number;
  /** The secret of its address is derived from these. */
  key_id: string;
  seed: Uint8Array;
};

export type ShareLinkMessage = MessageOf<typeof shareLink>;

const ENDED = refuse('NOT_FOUND', 'There is no such link.');

const live = given((state: ShareLink | null, { now_ms }) =>
  state === null || now_ms >= state.expires_at_ms ? ENDED : state,
);

export const shareLink = defineActor<ShareLink>()({
  kind: 'share_link',
  home: 'id',
  schema: 1,
  messages: {
    make(state, { link }: { link: NewShareLink }) {
      if (state !== null) return { reply: DONE };
      const next = { ...link, opened: 0, last_opened_at_ms: null };
      return { reply: DONE, next, effects: [scheduleExpiry(link.expires_at_ms)] };
    },

    view: { reads: true, decide: live((link) => ({ reply: link })) },

    count_opening: live((link, _: unknown, { now_ms }) => {
      return { reply: DONE, next: { ...link, opened: link.opened + 1, last_opened_at_ms: now_ms } };
    }),

    end(state) {
      return state === null ? { reply: DONE } : { reply: DONE, next: null, effects: [CANCEL_EXPIRY] };
    },

    run_out: () => ({ reply: DONE, next: null }),
  },
});
