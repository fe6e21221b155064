import { type Texts, textsIn } from '../../domain/language/texts.js';
import { LIMITS } from '../../domain/limits.js';
import type { Mail } from '../../engine/mail/mailer.js';

/** The mail with a six-digit sign-in code. The code stands alone on its line, and not in the subject: previews show that. */
export function codeMail({ to, code }: { to: string; code: string }, texts: Texts = textsIn('en')): Mail {
  return {
    to,
    code,
    subject: texts.say('Your Spool sign-in code'),
    text: [
      texts.say('Your code to sign in to Spool:'),
      '',
      code,
      '',
      texts.say('It works once, for {time}. Nobody from Spool will ever ask you for it.', {
        time: texts.durationText(LIMITS.code_life_ms),
      }),
      '',
      texts.say('If you did not try to sign in, ignore this mail: without the code nobody can.'),
      '',
    ].join('\n'),
  };
}
