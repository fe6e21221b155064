import { z } from 'zod';
import { isOpen } from '../../../actors/accounts/account_state.js';
import { ownPrincipal, type Principal } from '../../access/principal.js';
import { moment, momentOrNull } from '../../access/response_schemas.js';
import { calendarDate, calendarText, calendarTime, escapedText } from '../../domain/calendar_text.js';
import { DAY_MS } from '../../domain/dates.js';
import { LIMITS } from '../../domain/limits.js';
import { permissionsOf } from '../../domain/permissions.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { isSecret, makeSecret, parseSecret } from '../../engine/secrets/tokens.js';
import type { FeatureServices } from '../services.js';
import { type DueItem, dueItems } from './due_items.js';

/** The address by which a calendar program reads what is due. docs/choices.md, "What is due". */

const SUFFIX = '.ics';
/** Readings are noted so often at most. */
const NOTED_EVERY_MS = 60 * 60_000;
const ENDED = refuse('NOT_FOUND', 'The address has ended, or there never was one.');
const NO_INSIGHTS = refuse('FORBIDDEN', 'You do not hold insights:read yourself.');

const made = {
  made_at: moment.nullable().describe('When the address was made; null where there is none.'),
  last_read_at: moment.nullable().describe('When it was read last, to the hour; null while it never was.'),
};

export const calendarAddressShape = z.strictObject(made).meta({ id: 'CalendarAddress' });
export const madeCalendarAddressShape = z
  .strictObject({ url: z.string().describe('The address. It is told only now.'), ...made })
  .meta({ id: 'MadeCalendarAddress' });

type CalendarAddressView = z.infer<typeof calendarAddressShape>;

export function calendarAddress({ account: { calendar } }: Pick<Principal, 'account'>): CalendarAddressView {
  return {
    made_at: momentOrNull(calendar?.made_at_ms ?? null),
    last_read_at: momentOrNull(calendar?.read_at_ms ?? null),
  };
}

/** Makes the address of the caller; the one before ends. */
export async function makeCalendarAddress(
  { actors, addresses, keys }: Pick<FeatureServices, 'actors' | 'addresses' | 'keys'>,
  who: Principal,
): Promise<z.infer<typeof madeCalendarAddressShape>> {
  if (!who.permissions.includes('insights:read')) throw new Refused(NO_INSIGHTS);
  const { text, secret_hash } = makeSecret(keys, 'calendar', who.account_id);
  const calendar = await actors.account(who.account_id).make_calendar({ secret_hash }, who.fences);
  const url = `${addresses().base_url}/calendar/${text}${SUFFIX}`;
  return { url, ...calendarAddress({ account: { ...who.account, calendar } }) };
}

export async function endCalendarAddress(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Pick<Principal, 'account_id' | 'fences'>,
): Promise<void> {
  await actors.account(account_id).end_calendar({}, fences);
}

/** The account behind the last part of an address. NOT_FOUND where that has ended, as where there never was one. */
export async function calendarReader(
  { actors, keys }: Pick<FeatureServices, 'actors' | 'keys'>,
  name: string,
): Promise<Principal> {
  const parsed = name.endsWith(SUFFIX) ? parseSecret('calendar', name.slice(0, -SUFFIX.length)) : null;
  const account = parsed === null ? null : await orNull(actors.account(parsed.id).view(), 'NOT_FOUND');
  if (parsed === null || account?.calendar === undefined || !isOpen(account)) throw new Refused(ENDED);
  if (!isSecret(keys, 'calendar', parsed, account.calendar.secret_hash)) throw new Refused(ENDED);
  const permissions = permissionsOf(account.entitlements).filter((held) => held === 'insights:read');
  if (permissions.length === 0) throw new Refused(ENDED);
  return ownPrincipal(account, permissions);
}

/** The calendar of what is due, as text; what comes next is in it first. */
export async function calendarOf(
  services: Pick<FeatureServices, 'actors' | 'clock' | 'runtime' | 'store'>,
  reader: Principal,
): Promise<string> {
  const now_ms = services.clock.now();
  const { calendar } = reader.account;
  if (calendar !== undefined && now_ms - (calendar.read_at_ms ?? 0) >= NOTED_EVERY_MS)
    await services.actors.account(reader.account_id).calendar_read({ secret_hash: calendar.secret_hash });
  const items = await dueItems(services, reader);
  const begins_ms = now_ms - DAY_MS;
  const coming = items.filter(({ due_at_ms }) => due_at_ms >= begins_ms);
  const past = items.filter(({ due_at_ms }) => due_at_ms < begins_ms).reverse();
  const shown = [...coming, ...past].slice(0, LIMITS.calendar_events_max);
  const head = ['METHOD:PUBLISH', 'X-WR-CALNAME:Spool', 'REFRESH-INTERVAL;VALUE=DURATION:PT1H', 'X-PUBLISHED-TTL:PT1H'];
  return calendarText('Due', [...head, ...shown.flatMap(eventOf)]);
}

function eventOf({ id, text, due_at_ms, due_date, changed_at_ms }: DueItem): string[] {
  // Without an end, a day is one whole day.
  const time =
    due_date === null
      ? [`DTSTART:${calendarTime(due_at_ms)}`, 'DURATION:PT30M']
      : [`DTSTART;VALUE=DATE:${calendarDate(due_date)}`];
  return [
    ...['BEGIN:VEVENT', `UID:${id}@spool`, `DTSTAMP:${calendarTime(changed_at_ms)}`, ...time],
    ...[`SUMMARY:${escapedText(text)}`, 'TRANSP:TRANSPARENT', 'END:VEVENT'],
  ];
}
