import { refuse } from '../../domain/refusals.js';

/** What is said while the provider does not answer. */
export const CAPTCHA_AWAY = refuse('UNAVAILABLE', 'The CAPTCHA cannot be checked at the moment.', {
  retry_after_s: 10,
});

const DEADLINE_MS = 5_000;
const ANSWER_BYTES_MAX = 16 * 1024;

/** What a CAPTCHA provider said of a token; `away` when it said nothing. */
export type CaptchaVerdict = 'passed' | 'failed' | 'away';

/** Asks the configured provider in the common `siteverify` form; without one everybody passes. */
export async function checkCaptcha(
  { captcha_url, captcha_secret }: { captcha_url: string | null; captcha_secret: string | null },
  { token, network }: { token: string | undefined; network: string },
): Promise<CaptchaVerdict> {
  if (captcha_url === null) return 'passed';
  if (token === undefined || token === '') return 'failed';
  const form = new URLSearchParams({ secret: captcha_secret ?? '', response: token, remoteip: network });
  try {
    const answer = await fetch(captcha_url, {
      method: 'POST',
      body: form,
      redirect: 'error',
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (answer.status >= 500) return 'away';
    const text = await answer.text();
    if (text.length > ANSWER_BYTES_MAX) return 'away';
    return (JSON.parse(text) as { success?: unknown }).success === true ? 'passed' : 'failed';
  } catch {
    return 'away';
  }
}
