import { z } from 'zod';
import { type Refusal, refuse } from '../domain/refusals.js';

/** Cursors of lists in an order: opaque to clients, strict to us. */
const position = z.tuple([z.number(), z.string().max(100)]);

export type Position = { order: number; member: string };

/** The page of a list to read: at most `limit` items after the cursor. */
export type PageQuery = { limit: number; cursor?: Position | undefined };

/** A page of a list; `cursor` continues after it, null on the last one. */
export type Page<Item> = { items: Item[]; cursor: string | null };

/** Encodes the position after which a list continues. */
export function writeCursor({ order, member }: Position): string {
  return Buffer.from(JSON.stringify([order, member])).toString('base64url');
}

/** The position in a cursor, or null for a cursor that this server did not write. */
function readCursor(cursor: string): Position | null {
  if (!/^[A-Za-z0-9_-]{1,300}$/.test(cursor)) return null;
  try {
    const [order, member] = position.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    return { order, member };
  } catch {
    return null;
  }
}

const OTHER_CURSOR = 'must be a cursor that this list returned';

/** The refusal of a cursor that another list has written. */
export function otherCursor(): Refusal {
  return refuse('BAD_REQUEST', `cursor ${OTHER_CURSOR}.`, { details: [{ path: 'cursor', message: OTHER_CURSOR }] });
}

/** Query of a list: its `cursor`, absent at the start. */
export const listCursor = z
  .string()
  .optional()
  .transform((cursor, context) => {
    if (cursor === undefined) return undefined;
    const found = readCursor(cursor);
    if (found === null) context.addIssue({ code: 'custom', message: OTHER_CURSOR });
    return found ?? undefined;
  })
  .describe('Where to continue: the cursor of the page before. Absent for the first page.');

/** A page of a list whose rows were asked for with one more than `limit`. */
export function pageOf<Row extends Position>(rows: Row[], limit: number): { rows: Row[]; cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, cursor: rows.length > limit && last !== undefined ? writeCursor(last) : null };
}

/**
 * A page of rows that are all in memory, in their order; it continues after the cursor's row, or after that row's
 * former place.
 */
export function pageOfAll<Row>(
  rows: readonly Row[],
  { idOf, limit, cursor }: PageQuery & { idOf: (row: Row) => string },
): { rows: Row[]; cursor: string | null } {
  const found = cursor === undefined ? -1 : rows.findIndex((row) => idOf(row) === cursor.member);
  const start = cursor === undefined ? 0 : found < 0 ? Math.max(0, cursor.order) : found + 1;
  const left = rows.slice(start).map((row, index) => ({ row, order: start + index, member: idOf(row) }));
  const page = pageOf(left, limit);
  return { rows: page.rows.map(({ row }) => row), cursor: page.cursor };
}
