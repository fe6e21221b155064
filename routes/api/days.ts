import { z } from 'zod';
import { LIMITS } from '../../src/domain/limits.js';
import { timeZone } from '../../src/features/insights/context/profile.js';
import { dayShape, readDay } from '../../src/features/insights/reading/day.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** A day of an account. Rule K-186; docs/choices.md, "Insights". */

export const DAY_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/days/:date',
    params: { date: PARAMETERS.day },
    summary: 'A day: what was recorded, decided and promised, and what is due.',
    notes: `Of the account's own recordings, in all of its workspaces; \`date\` is a day such as 2026-12-07. At most ${LIMITS.day_recordings_max} recordings, and ${LIMITS.day_items_max} items of each list; \`complete\` says whether that is all.`,
    credential: 'account',
    all_of: ['turns:read', 'insights:read'],
    query: z.object({
      time_zone: timeZone
        .optional()
        .describe("By whose clocks the day begins and ends; the profile's zone when absent, or else UTC."),
    }),
    answer: dayShape,
    refusals: ['BAD_REQUEST'],
    handler: ({ services, who, params, query }) => readDay(services, who, { date: params.date, ...query }),
  }),
];
