import type { GivenOptions, Option } from './command.js';

/** Options of commands that list page by page. */
export const PAGE_OPTIONS: Record<string, Option> = {
  limit: { value: 'N', says: 'how many, 1 to 100; 25 when not given' },
  cursor: { value: 'CURSOR', says: 'go on after an earlier page' },
};

/** The query that asks for that page. */
export function pageQuery(options: GivenOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of Object.keys(PAGE_OPTIONS)) {
    const value = options.text(name);
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

/** What stands below a page that is not the last. */
export function moreOf(cursor: string | null): string[] {
  return cursor === null ? [] : ['', `There are more: --cursor ${cursor}`];
}
