import type { Language } from '../../src/domain/language/texts.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type Decision, DONE, type Effect, messagesOf } from '../actor.js';
import { dueIndexEffects } from '../job.js';
import { type Account, type DueMailSetting, ofAccount, updated } from './account_state.js';

/** The daily mail of what is due. docs/choices.md, "What is due". */

/** The index of a partition's accounts that want the mail, by when the next one is to be written. */
export const DUE_MAIL_INDEX = { owner: 'due_mails', index: 'due' } as const;

/**
 * `next_ms`: when the next mail is to be written. `mail_language`: undefined leaves it as it is. The first setting brings the
 * seed that its links are derived from.
 */
type DueMailChange = Pick<DueMailSetting, 'is_on' | 'hour' | 'key_id' | 'seed'> & {
  next_ms: number;
  mail_language: Language | undefined;
};
/** `hour`: that it was written for. `mail`: null where nothing is due. */
type WrittenMail = {
  day: string;
  hour: number;
  next_ms: number;
  mail: { mail_id: string; sealed: Uint8Array } | null;
};

export const dueMailMessages = messagesOf<Account>()({
  set_due_mail: ofAccount((state, asked: DueMailChange, { self }): Decision<Account, Account> => {
    const { next_ms, mail_language = state.mail_language, ...change } = asked;
    const before = state.due_mail;
    const { is_on, hour } = change;
    const is_same =
      before === undefined
        ? !is_on && hour === LIMITS.due_mail_hour
        : before.is_on === is_on && before.hour === hour && state.mail_language === mail_language;
    if (is_same) return { reply: state };
    const { key_id, seed, last_day } = before ?? { ...change, last_day: null };
    const next: Account = { ...state, mail_language, due_mail: { is_on, hour, key_id, seed, last_day } };
    return { reply: next, next, effects: [updated(self, ['due_mail']), ...noted(self, is_on ? next_ms : null)] };
  }),

  /** Whoever has the link of a mail wants no more of them. */
  unsubscribe_due_mail: ofAccount((state, _: unknown, { self }): Decision<Account, typeof DONE> => {
    const { due_mail } = state;
    if (due_mail === undefined || !due_mail.is_on) return { reply: DONE };
    const next = { ...state, due_mail: { ...due_mail, is_on: false } };
    return { reply: DONE, next, effects: [updated(self, ['due_mail']), ...noted(self, null)] };
  }),

  /** Queues the mail of a day, once, and notes when the next one is to be written. */
  queue_due_mail: ofAccount(
    (state, { day, hour, next_ms, mail }: WrittenMail, { self, now_ms }): Decision<Account, typeof DONE> => {
      const { due_mail } = state;
      if (due_mail === undefined || !due_mail.is_on) return { reply: DONE, effects: noted(self, null) };
      // It was set anew meanwhile.
      if (due_mail.hour !== hour) return { reply: DONE };
      const effects = noted(self, next_ms);
      if (due_mail.last_day !== null && due_mail.last_day >= day) return { reply: DONE, effects };
      const next = { ...state, due_mail: { ...due_mail, last_day: day } };
      if (mail !== null)
        effects.push({ effect: 'enqueue_mail', ...mail, give_up_at_ms: now_ms + LIMITS.mail_retried_ms });
      return { reply: DONE, next, effects };
    },
  ),

  /** It is too early, or the account does not want the mail. */
  put_off_due_mail: ofAccount(
    (state, { next_ms }: { next_ms: number | null }, { self }): Decision<Account, typeof DONE> => {
      const is_on = state.due_mail?.is_on === true;
      return { reply: DONE, effects: noted(self, is_on ? next_ms : null) };
    },
  ),
});

export function noted(account_id: string, next_ms: number | null): Effect[] {
  return dueIndexEffects({ ...DUE_MAIL_INDEX, member: account_id }, { is_ms: next_ms });
}
