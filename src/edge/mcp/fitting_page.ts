import { LIMITS } from '../../domain/limits.js';

type ToolPage = { items: unknown[]; cursor: string | null };

/** A page of at most `limit` items that is small enough for the answer of a tool; its cursor goes on where it ends. */
export async function fittingPage<Found extends ToolPage>(
  limit: number,
  list: (limit: number) => Promise<Found>,
): Promise<Found> {
  for (let asked = limit; ; ) {
    const page = await list(asked);
    const fitting = Math.max(1, fittingCount(page.items));
    if (fitting >= page.items.length) return page;
    asked = fitting; // which is less: what changes meanwhile can not make this endless
  }
}

/** The number of these, from the first one on, that fit into an answer. */
export function fittingCount(items: readonly unknown[]): number {
  let bytes = 0;
  for (const [at, item] of items.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > LIMITS.tool_items_bytes_max) return at;
  }
  return items.length;
}
