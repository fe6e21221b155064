import type { AttemptedDelivery, Delivery, Endpoint, Event } from '../../../kits/typescript/src/api.js';
import { type PlainText, say, sayCount } from '../../language/say.js';

/** Texts on the health of an endpoint, and on why it gets nothing. They know only what the API says. */

/** So many deliveries in a row that failed disable an endpoint. */
const FAILURES_MAX = 10;
/** So many tries in a row that failed in a way that may pass, and it gets one delivery at a time. */
const PROBED_AFTER = 5;
/** Recorded, and delivered to nobody. */
const NEVER_DELIVERED: readonly string[] = ['account.created', 'account.deleted'];

type Attempt = AttemptedDelivery['attempts'][number];
export type Health = { tone: 'good' | 'caution' | 'problem'; text: string };

/** In a few words; `newest` is its newest delivery, null where there is none or it is not known yet. */
export function shortHealth(
  { status, failure_count, last_success_at, disabled_reason }: Endpoint,
  newest: Delivery | null,
): string {
  if (status === 'disabled') return disabled_reason === null ? say('Switched off') : say('Failed too often');
  if (status === 'paused') return say('Gets nothing for now');
  if (failure_count > 0)
    return say('{failures} of {max} failures in a row', { failures: failure_count, max: FAILURES_MAX });
  if (isTriedInVain(newest)) return say('The last delivery was not accepted yet');
  return last_success_at === null ? say('Nothing delivered yet') : say('Works');
}

/** Whether it was sent, was not taken, and is sent again. */
export function isTriedInVain(delivery: Delivery | null): boolean {
  return delivery?.status === 'pending' && delivery.attempt_count > 0;
}

export type KnownHealth = {
  endpoint: Endpoint;
  /** The newest first. */
  deliveries: readonly Delivery[];
  /** The last try of the newest delivery that was tried; null where none was. */
  last_attempt: Attempt | null;
  /** The account's last events, the newest first. */
  events: readonly Pick<Event, 'type' | 'occurred_at'>[];
  timeText: (at: string) => string;
};

/** One sentence or two: whether it works, or why it gets nothing and what to do. */
export function healthOf(known: KnownHealth): Health {
  const { endpoint, last_attempt, timeText } = known;
  const because = last_attempt === null ? '' : say('The last attempt: {what}.', { what: attemptWords(last_attempt) });
  if (endpoint.status === 'disabled') {
    return endpoint.disabled_reason === null
      ? { tone: 'problem', text: say('It gets nothing because it is switched off. Activate it to go on.') }
      : {
          tone: 'problem',
          text: sentences(
            say('It gets nothing: {count} deliveries in a row failed, so it was disabled.', { count: FAILURES_MAX }),
            because,
            say('Fix the receiver, then activate it.'),
          ),
        };
  }
  if (endpoint.status === 'paused') {
    return {
      tone: 'caution',
      text: say('It gets nothing because it is paused. What is waiting is sent once it is active again.'),
    };
  }
  const waiting = known.deliveries.filter(({ status }) => status === 'pending' || status === 'leased');
  const tried = waiting.filter(({ attempt_count }) => attempt_count > 0);
  const tries = tried.reduce((sum, { attempt_count }) => sum + attempt_count, 0);
  const next_at = waiting.flatMap(({ next_attempt_at }) => next_attempt_at ?? []).sort()[0];
  const when = next_at === undefined ? '' : say('The next attempt is at {time}.', { time: timeText(next_at) });
  if (tries >= PROBED_AFTER) {
    return {
      tone: 'problem',
      text: sentences(
        say('It does not accept what is sent, so one delivery at a time is tried until one succeeds.'),
        because,
        when,
      ),
    };
  }
  if (tried.length > 0)
    return {
      tone: 'caution',
      text: sentences(say('What was sent was not accepted, and is sent again.'), because, when),
    };
  if (endpoint.failure_count > 0) {
    const left = FAILURES_MAX - endpoint.failure_count;
    return {
      tone: 'caution',
      text: sentences(
        sayCount(left, {
          one: 'It refuses what is sent. After {n} more failure in a row it is disabled.',
          other: 'It refuses what is sent. After {n} more failures in a row it is disabled.',
        }),
        because,
      ),
    };
  }
  if (waiting.length > 0) return { tone: 'good', text: say('A delivery is on its way to it.') };
  return known.deliveries.length === 0 ? unfed(known) : { tone: 'good', text: worksText(endpoint, timeText) };
}

function sentences(...parts: string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

function worksText({ last_success_at }: Endpoint, timeText: KnownHealth['timeText']): string {
  return last_success_at === null
    ? say('It is active. Earlier attempts do not count.')
    : say('It works: the last delivery succeeded at {time}.', { time: timeText(last_success_at) });
}

/** Nothing was ever sent to it: nothing happened, or nothing that it asked for. */
function unfed({ endpoint, events, timeText }: KnownHealth): Health {
  const since = events.filter(
    ({ type, occurred_at }) => occurred_at > endpoint.created_at && !NEVER_DELIVERED.includes(type),
  );
  const [newest] = since;
  if (newest === undefined) {
    return {
      tone: 'caution',
      text: say('It has got nothing yet: nothing has happened in your account since it was created.'),
    };
  }
  const wanted = since.some(({ type }) => endpoint.topics.length === 0 || (endpoint.topics as string[]).includes(type));
  return wanted
    ? { tone: 'good', text: say('A delivery is on its way to it.') }
    : {
        tone: 'caution',
        text: say(
          'It has got nothing yet: what has happened since it was created is of types that it is not subscribed to, such as {type} at {time}.',
          { type: newest.type, time: timeText(newest.occurred_at) },
        ),
      };
}

const ERRORS: Record<string, PlainText> = {
  timeout: 'no answer within ten seconds',
  dns: 'its name could not be found, or leads to no address on the internet',
  address_blocked: 'its address is in a private network, where this server may not send',
  connection_refused: 'the connection was refused',
  connection_lost: 'the connection broke off',
  unreachable: 'it could not be reached',
  certificate_expired: 'its certificate has expired',
  certificate_name: 'its certificate is for another name',
  certificate_untrusted:
    'its certificate is not trusted: it is self-signed, or the server does not send the certificates between it and its authority',
  tls: 'no secure connection could be made',
  bad_answer: 'its answer was not HTTP',
  network: 'the network failed',
  interrupted: 'this server went down in the meantime, so it is not known whether it arrived',
};

/** The outcome of one attempt, in words. */
export function attemptWords({ status_code, status_text, error }: Attempt): string {
  if (status_code !== null)
    return say('it answered {status}', { status: [status_code, status_text ?? ''].join(' ').trim() });
  if (error === null) return say('under way');
  const words = ERRORS[error];
  return words === undefined ? error : say(words);
}

export const DELIVERY_WORDS = {
  pending: ['caution', 'Waiting'],
  leased: ['plain', 'In progress'],
  succeeded: ['good', 'Delivered'],
  failed: ['wrong', 'Failed'],
  cancelled: ['plain', 'Cancelled'],
} as const satisfies Record<Delivery['status'], readonly [string, string]>;
