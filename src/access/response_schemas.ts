import { z } from 'zod';
import { isDate } from '../domain/dates.js';
import { EVENT_TYPES } from '../domain/event_types.js';
import { isId } from '../domain/ids.js';
import { PERMISSIONS } from '../domain/permissions.js';

/**
 * Shapes of which answers are made. Objects of answers are strict: the tests hold every answer to its shape, so that no
 * member is added without being documented. Nobody else is held to it: clients pass over what they do not know.
 */

export const id = z.string().refine(isId).meta({ format: 'uuid' });

/** A time in UTC, with milliseconds. */
export const moment = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text)
  .meta({ format: 'date-time' });

/** A `moment`, described as the server's present time. */
export const serverNow = moment.describe('What time it is here.');

/** A time in ms in the form of `moment`; null stays null. */
export function momentOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A day of the calendar, such as 2026-12-07. */
export const date = z.string().refine(isDate).meta({ format: 'date' });

export const count = z.int().min(0);

/** A device keeps its kind for ever. */
export const deviceKind = z
  .enum(['personal', 'shared'])
  .describe('personal: bound to one account; shared: records for whoever hosts a session on it.');

/** The reason for which a recorder session has ended. */
export const sessionEndReason = z
  .enum(['host', 'recorder', 'expired', 'device_removed', 'account_deleted', 'never_started'])
  .describe('Who or what ended it; never_started: no recorder came in time.');

/** A permission of a credential. */
export const permission = z.enum(PERMISSIONS).meta({ id: 'Permission' });

/** The type of an event. */
export const eventType = z.enum(EVENT_TYPES).meta({ id: 'EventType' });

/** The cursor of a list that is always one page. */
export const no_cursor = z.null().describe('Null: there is no other page.');

/** A page of a list. `cursor` continues after it. */
export function pageShape<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    cursor: z.string().nullable().describe('What to pass as cursor for the next page; null on the last one.'),
  });
}
