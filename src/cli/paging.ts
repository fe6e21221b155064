import type { GivenOptions, Option } from './command.js';

/** Options of commands that list page by page. */
export const PAGE_OPTIONS: Record<string, Option> = {
  limit: { value: 'N', says: 'how many, 1 to 100; 25 when not given' },
  cursor: { value: 'CURSOR', says: 'go on after an earlier page' },
};

/** The query that asks for that page. */
export function pageQuery(options: GivenOptions): { limit?: number; cursor?: string } {
  const [limit, cursor] = [options.text('limit'), options.text('cursor')];
  // What is no number is for the server to say.
  return {
    ...(limit === undefined ? {} : { limit: limit as unknown as number }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

/** What stands below a page that is not the last. */
export function moreOf(cursor: string | null): string[] {
  return cursor === null ? [] : ['', `There are more: --cursor ${cursor}`];
}
