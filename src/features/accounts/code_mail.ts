import { durationInWords } from '../../domain/limit_text.js';
import { LIMITS } from '../../domain/limits.js';
import type { Mail } from '../../engine/mail/mailer.js';

/** The mail with a six-digit sign-in code. The code stands alone on its line, and not in the subject: previews show that. */
export function codeMail({ to, code }: { to: string; code: string }): Mail {
  return {
    to,
    code,
    subject: 'Your Spool sign-in code',
    text: [
      'Your code to sign in to Spool:',
      '',
      code,
      '',
      `It works once, for ${durationInWords(LIMITS.code_life_ms)}. Nobody from Spool will ever ask you for it.`,
      '',
      'If you did not try to sign in, ignore this mail: without the code nobody can.',
      '',
    ].join('\n'),
  };
}
