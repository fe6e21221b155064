import { z } from 'zod';
import { fittingPage } from '../../src/edge/mcp/fitting_page.js';

/** A page of a list as tools give it. */
export function listShape<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ items: z.array(item), cursor: z.string().nullable() });
}

/** The page of a route's list that fits into an answer of a tool. */
export function listed<Item, View>(
  limit: number,
  list: (limit: number) => Promise<{ items: Item[]; cursor: string | null }>,
  viewOf: (item: Item) => View | Promise<View>,
): Promise<{ items: View[]; cursor: string | null }> {
  return fittingPage(limit, async (asked) => {
    const page = await list(asked);
    return { items: await Promise.all(page.items.map(viewOf)), cursor: page.cursor };
  });
}
