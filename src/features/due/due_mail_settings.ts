import { z } from 'zod';
import { type Account, isOpen } from '../../../actors/accounts/account_state.js';
import type { Principal } from '../../access/principal.js';
import { beginOf, DAY_MS, HOUR_MS } from '../../domain/dates.js';
import type { Language } from '../../domain/language/texts.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { deriveToken, isGenuine, parseToken, randomSeed } from '../../engine/secrets/tokens.js';
import { dateAt, type LocalClock, momentThere } from '../../engine/time/time_zone.js';
import { clockOf } from '../accounts/account_clock.js';
import type { FeatureServices } from '../services.js';

/** Whether an account gets a daily mail of what is due. docs/choices.md, "What is due". */

const UNKNOWN = refuse('NOT_FOUND', 'There is no such address.');

export const dueMailShape = z
  .strictObject({
    is_on: z.boolean().describe('Whether a mail comes on days on which something is due or overdue.'),
    hour: z.int().min(0).max(23).describe("From which hour of the day on, by the profile's zone, or UTC."),
  })
  .meta({ id: 'DueMailSettings' });

type DueMailSettings = z.infer<typeof dueMailShape>;

export function dueMailSettings({ account: { due_mail } }: { account: Pick<Account, 'due_mail'> }): DueMailSettings {
  return { is_on: due_mail?.is_on ?? false, hour: due_mail?.hour ?? LIMITS.due_mail_hour };
}

/** `mail_language`: of the mails from now on; undefined leaves it as it is. */
export async function changeDueMailSettings(
  { actors, clock, keys }: Pick<FeatureServices, 'actors' | 'clock' | 'keys'>,
  who: Principal,
  change: { [Name in keyof DueMailSettings]?: DueMailSettings[Name] | undefined },
  { mail_language }: { mail_language: Language | undefined },
): Promise<DueMailSettings> {
  const before = dueMailSettings(who);
  const { is_on = before.is_on, hour = before.hour } = change;
  const there = await clockOf({ actors }, who.account_id, undefined);
  const next_ms = nextMailMs(clock.now(), { hour, there });
  const asked = { is_on, hour, next_ms, mail_language, ...randomSeed(keys) };
  const account = await actors.account(who.account_id).set_due_mail(asked, who.fences);
  return dueMailSettings({ account });
}

/** The first moment after now at which that hour begins there. */
export function nextMailMs(now_ms: number, { hour, there }: { hour: number; there: LocalClock }): number {
  const today = beginOf(dateAt(now_ms, there)) + hour * HOUR_MS;
  const at_ms = momentThere(today, there);
  return at_ms > now_ms ? at_ms : momentThere(today + DAY_MS, there);
}

/** The address that ends the mails; null where the server key that it rests on is gone. */
export function unsubscribeUrl(
  { keys, base_url }: Pick<FeatureServices, 'keys'> & { base_url: string },
  { id, due_mail }: Pick<Account, 'id' | 'due_mail'>,
): string | null {
  if (due_mail === undefined || !keys.keyIds().includes(due_mail.key_id)) return null;
  return `${base_url}/unsubscribe/${deriveToken(keys, 'unsubscribe', { ...due_mail, id, counter: 0 })}`;
}

/** The account behind the last part of such an address, and whether it still gets mails. NOT_FOUND for any other. */
export async function unsubscribing(
  { actors, keys }: Pick<FeatureServices, 'actors' | 'keys'>,
  token: string,
): Promise<{ account_id: string; is_on: boolean }> {
  const parsed = parseToken('unsubscribe', token);
  const account = parsed === null ? null : await orNull(actors.account(parsed.id).view(), 'NOT_FOUND');
  if (parsed === null || account?.due_mail === undefined || !isGenuine(keys, 'unsubscribe', parsed, account.due_mail))
    throw new Refused(UNKNOWN);
  return { account_id: account.id, is_on: account.due_mail.is_on && isOpen(account) };
}
