import { durationInWords } from '../../domain/limit_text.js';
import { LIMITS } from '../../domain/limits.js';
import type { Mail } from '../../engine/mail/mailer.js';

/** Tells the holder that an endpoint was disabled because its deliveries kept failing. */
export function endpointDisabledMail(of: { to: string; host: string; endpoint_id: string; failures: number }): Mail {
  const { to, host, endpoint_id, failures } = of;
  return {
    to,
    subject: 'A webhook endpoint was disabled',
    text: [
      `Spool no longer delivers events to your endpoint at ${host}.`,
      '',
      `${failures} deliveries in a row have failed, so it was disabled, and what was still outstanding was cancelled.`,
      '',
      `Endpoint: ${endpoint_id}`,
      '',
      'Its recent deliveries say what went wrong. When it works again, set it active: events from then on are delivered.',
      `What it has missed can be read from the account events of the last ${durationInWords(LIMITS.event_kept_ms)}.`,
      '',
    ].join('\n'),
  };
}
