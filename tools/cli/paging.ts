import type { GivenOptions, OptionRow } from './command.js';

/** Options of commands that list page by page. */
export const PAGE_OPTIONS: Record<string, OptionRow> = {
  limit: { value: 'N', says: 'how many, 1 to 100; 25 when not given' },
  cursor: { value: 'CURSOR', says: 'continue after an earlier page' },
};

/** The query that asks for that page. */
export function pageQuery(options: GivenOptions): { limit?: number; cursor?: string } {
  const cursor = options.text('cursor');
  return { ...limitQuery(options), ...(cursor === undefined ? {} : { cursor }) };
}

/** The query that asks for so many. */
export function limitQuery(options: GivenOptions): { limit?: number } {
  const limit = options.text('limit');
  // What is no number is for the server to say.
  return limit === undefined ? {} : { limit: limit as unknown as number };
}

/** The lines below a page that is not the last. */
export function moreOf(cursor: string | null): string[] {
  return cursor === null ? [] : ['', `There are more: --cursor ${cursor}`];
}
