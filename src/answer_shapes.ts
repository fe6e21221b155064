import { z } from 'zod';
import { EVENT_TYPES } from './vocabulary/event_types.js';
import { isId } from './vocabulary/ids.js';
import { PERMISSIONS } from './vocabulary/permissions.js';

/**
 * What answers are made of. Objects of answers are strict: the tests hold every answer to its shape, so that no member
 * is added without being documented. Nobody else is held to it: clients pass over what they do not know.
 */

export const id = z.string().refine(isId).meta({ format: 'uuid' });

/** A time in UTC, with milliseconds. */
export const moment = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text)
  .meta({ format: 'date-time' });

/** That form of a time in ms; null stays null. */
export function momentOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

export const count = z.int().min(0);

/** What a credential may do. */
export const permission = z.enum(PERMISSIONS).meta({ id: 'Permission' });

/** What may have happened. */
export const eventType = z.enum(EVENT_TYPES).meta({ id: 'EventType' });

/** A page of a list. `cursor` goes on behind it. */
export function pageShape<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    cursor: z.string().nullable().describe('What to pass as cursor for the next page; null on the last one.'),
  });
}
