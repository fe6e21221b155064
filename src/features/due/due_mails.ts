import { DUE_MAIL_INDEX } from '../../../actors/accounts/account_due_mail.js';
import { type Account, isOpen } from '../../../actors/accounts/account_state.js';
import { ownPrincipal } from '../../access/principal.js';
import { partitionOfId } from '../../domain/ids.js';
import { type Texts, textsIn } from '../../domain/language/texts.js';
import { permissionsOf } from '../../domain/permissions.js';
import { orNull } from '../../domain/refusals.js';
import type { DueMembersDeps } from '../../engine/jobs/due_members.js';
import { DueWorker } from '../../engine/jobs/due_worker.js';
import type { Mail } from '../../engine/mail/mailer.js';
import { sealMail } from '../../engine/mail/sealed_mail.js';
import { randomId } from '../../engine/random/random.js';
import { dateAt, dayBounds, type LocalClock } from '../../engine/time/time_zone.js';
import { clockOf } from '../accounts/account_clock.js';
import type { FeatureServices } from '../services.js';
import { type DueItem, dueItems } from './due_items.js';
import { nextMailMs, unsubscribeUrl } from './due_mail_settings.js';

/** Writes the daily mail of what is due. */

const EVERY_MS = 60_000;
const AT_ONCE = 2;
/** Tasks named in a mail. */
const LINES_MAX = 20;

type DueMailDeps = DueMembersDeps & Pick<FeatureServices, 'actors' | 'keys' | 'runtime'> & { base_url: () => string };
type Day = { date: string; until_ms: number; there: LocalClock };

export function dueMailWorker(deps: DueMailDeps): DueWorker {
  const work = {
    queue: DUE_MAIL_INDEX,
    every_ms: EVERY_MS,
    at_once: AT_ONCE,
    complaint: 'a mail of what is due could not be written; it is tried again',
  };
  return DueWorker.of(deps, work, ({ name }) => writeMail(deps, name));
}

/** The account's commit queues the mail and moves it to the next day at once, so that whoever is cut off writes it once. */
async function writeMail(deps: DueMailDeps, account_id: string): Promise<boolean> {
  const { actors } = deps;
  const now_ms = deps.now();
  const account = await orNull(actors.account(account_id).view(), 'NOT_FOUND');
  if (account?.due_mail === undefined || !isOpen(account)) return false;
  const { hour } = account.due_mail;
  const there = await clockOf(deps, account_id, undefined);
  const next_ms = nextMailMs(now_ms, { hour, there });
  const date = dateAt(now_ms, there);
  // The zone of the profile is another one than when this was noted.
  if (dateAt(next_ms, there) === date) {
    await actors.account(account_id).put_off_due_mail({ next_ms });
    return true;
  }
  const items = await itemsBy(deps, account, { date, until_ms: dayBounds(date, there).until_ms, there });
  const url = items.length === 0 ? null : unsubscribeUrl({ keys: deps.keys, base_url: deps.base_url() }, account);
  const mail = url === null ? null : dueMail(account, { items, date, there, url, base_url: deps.base_url() });
  const sealed = mail === null ? null : sealMail(deps.keys, mail);
  const mail_id = randomId({ partition: partitionOfId(account_id), now_ms });
  await actors
    .account(account_id)
    .queue_due_mail({ day: date, hour, next_ms, mail: sealed === null ? null : { mail_id, sealed } });
  return true;
}

/** The items due on that day or before. */
async function itemsBy(deps: DueMailDeps, account: Account, { date, until_ms }: Day): Promise<DueItem[]> {
  const permissions = permissionsOf(account.entitlements).filter((held) => held === 'insights:read');
  if (permissions.length === 0) return [];
  const items = await dueItems(deps, ownPrincipal(account, permissions));
  return items.filter((one) => (one.due_date === null ? one.due_at_ms < until_ms : one.due_date <= date));
}

function dueMail(
  { email, mail_language = 'en' }: Pick<Account, 'email' | 'mail_language'>,
  written: { items: DueItem[]; date: string; there: LocalClock; url: string; base_url: string },
): Mail {
  const { items, date, there, url, base_url } = written;
  const texts = textsIn(mail_language);
  const shown = items.slice(0, LINES_MAX);
  const more = items.length - shown.length;
  return {
    to: email,
    subject: texts.sayCount(items.length, { one: 'One task is due', other: '{n} tasks are due' }),
    text: [
      texts.say('This is due today or overdue:'),
      '',
      ...shown.map(
        (item) => `- ${item.text.replaceAll(/\s+/g, ' ')} (${whenText(item, { today: date, there, texts })})`,
      ),
      ...(more === 0 ? [] : [texts.say('and {n} more', { n: more })]),
      '',
      texts.say('All of it:'),
      `${base_url}/app/insights`,
      '',
      texts.say('If you want no more of these mails:'),
      url,
      '',
    ].join('\n'),
    unsubscribe_url: url,
  };
}

function whenText(
  { due_at_ms, due_date }: DueItem,
  { today, there, texts }: { today: string; there: LocalClock; texts: Texts },
): string {
  const day = due_date ?? dateAt(due_at_ms, there);
  if (day < today) return texts.say('since {day}', { day: texts.dayText(Date.parse(day)) });
  if (due_date !== null) return texts.say('today');
  return texts.say('today, {time}', { time: texts.timeText(due_at_ms, there.time_zone ?? 'UTC') });
}
