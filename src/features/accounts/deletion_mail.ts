import type { Mail } from '../../engine/mail/mailer.js';

/** Tells the holder that the account was deleted, and until when it can be restored. */
export function deletionMail(of: { to: string; erase_at_ms: number; restore_url: string }): Mail {
  const { to, erase_at_ms, restore_url } = of;
  return {
    to,
    subject: 'Your Spool account was deleted',
    text: [
      `The Spool account ${to} was deleted.`,
      '',
      `Its data will be erased on ${utcText(erase_at_ms)}. Until then you can have it back:`,
      '',
      restore_url,
      '',
      'If it was not you who deleted it, restore it there, then sign out everywhere.',
      '',
    ].join('\n'),
  };
}

/** Such as "3 February 2026, 08:30 UTC". */
export function utcText(ms: number): string {
  const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(ms);
  return `${date}, ${new Date(ms).toISOString().slice(11, 16)} UTC`;
}
