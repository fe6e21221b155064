import { momentOf } from '../language/formats.js';

/** The filters that the address of a search holds, as the API takes them. */

const PAGE_ITEMS = 20;

export function searchQuery(q: string, query: URLSearchParams) {
  const given = (name: string) => query.get(name) ?? undefined;
  const day = (name: string, time: string) => {
    const text = query.get(name);
    return text === null || !/^\d{4}-\d\d-\d\d$/.test(text)
      ? undefined
      : new Date(momentOf(`${text}T${time}`)).toISOString();
  };
  return {
    ...{ q, limit: PAGE_ITEMS, kind: query.has('recording') ? undefined : given('kind'), contact_id: given('who') },
    ...{ from: day('from', '00:00:00'), to: day('to', '23:59:59.999') },
    stream_id: given('recording'),
    sort: query.get('sort') === 'recent' ? ('recent' as const) : undefined,
    fuzzy: query.get('alike') === '1' ? ('1' as const) : undefined,
  };
}
