import type { Texts } from '../../domain/language/texts.js';
import { LIMITS } from '../../domain/limits.js';
import type { Mail } from '../../engine/mail/mailer.js';

/** Tells the holder that an endpoint was disabled because its deliveries kept failing. */
export function endpointDisabledMail(
  of: { to: string; host: string; endpoint_id: string; failures: number },
  texts: Texts,
): Mail {
  const { to, host, endpoint_id, failures } = of;
  return {
    to,
    subject: texts.say('A webhook endpoint was disabled'),
    text: [
      texts.say('Spool no longer delivers events to your endpoint at {host}.', { host }),
      '',
      texts.say(
        '{failures} deliveries in a row have failed, so it was disabled, and what was still outstanding was cancelled.',
        { failures },
      ),
      '',
      texts.say('Endpoint: {endpoint_id}', { endpoint_id }),
      '',
      texts.say(
        'Its recent deliveries say what went wrong. When it works again, set it active: events from then on are delivered.',
      ),
      texts.say('What it has missed can be read from the account events of the last {time}.', {
        time: texts.durationText(LIMITS.event_kept_ms),
      }),
      '',
    ].join('\n'),
  };
}
