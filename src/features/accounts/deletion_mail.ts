import type { Texts } from '../../domain/language/texts.js';
import type { Mail } from '../../engine/mail/mailer.js';

/** Tells the holder that the account was deleted, and until when it can be restored. */
export function deletionMail(of: { to: string; erase_at_ms: number; restore_url: string }, texts: Texts): Mail {
  const { to, erase_at_ms, restore_url } = of;
  return {
    to,
    subject: texts.say('Your Spool account was deleted'),
    text: [
      texts.say('The Spool account {email} was deleted.', { email: to }),
      '',
      texts.say('Its data will be erased on {time}. Until then you can have it back:', {
        time: texts.momentText(erase_at_ms),
      }),
      '',
      restore_url,
      '',
      texts.say('If it was not you who deleted it, restore it there, then sign out everywhere.'),
      '',
    ].join('\n'),
  };
}
