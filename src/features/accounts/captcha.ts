import { Refused, refuse } from '../../domain/refusals.js';
import type { FeatureServices as Services } from '../services.js';

const CAPTCHA_AWAY = refuse('UNAVAILABLE', 'The CAPTCHA cannot be checked at the moment.', {
  retry_after_s: 10,
});

const DEADLINE_MS = 5_000;
const ANSWER_BYTES_MAX = 16 * 1024;

/**
 * Whether a CAPTCHA was passed, by the configured provider in the common `siteverify` form; without a provider everybody
 * passes. UNAVAILABLE while the provider does not answer.
 */
export async function passesCaptcha(
  { captcha_url, captcha_secret }: Services['settings'],
  { token, ip }: { token: string | undefined; ip: string },
): Promise<boolean> {
  if (captcha_url === null) return true;
  if (token === undefined || token === '') return false;
  const form = new URLSearchParams({ secret: captcha_secret ?? '', response: token, remoteip: ip });
  try {
    const answer = await fetch(captcha_url, {
      method: 'POST',
      body: form,
      redirect: 'error',
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const text = answer.status >= 500 ? null : await answer.text();
    if (text !== null && text.length <= ANSWER_BYTES_MAX) {
      return (JSON.parse(text) as { success?: unknown }).success === true;
    }
  } catch {
    // As one that does not answer.
  }
  throw new Refused(CAPTCHA_AWAY);
}
