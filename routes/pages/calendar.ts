import { createHash } from 'node:crypto';
import { isRefused } from '../../src/domain/refusals.js';
import { leftSignal } from '../../src/edge/http/body_arrival.js';
import { judgeConditions } from '../../src/edge/http/preconditions.js';
import { sendEnded } from '../../src/edge/pages/ended_page.js';
import { calendarOf, calendarReader } from '../../src/features/due/calendar_address.js';
import { PARAMETERS } from '../path_parameters.js';
import { openRoute, type Route } from '../rows.js';

/** The calendar of what is due, for whoever has its address. */

export const CALENDAR_PAGE_ROUTES: readonly Route[] = [
  openRoute({
    method: 'GET',
    path: '/calendar/:calendar',
    params: { calendar: PARAMETERS.calendar },
    credential: 'none',
    dialect: 'page',
    rate: 'links_opened',
    async handler({ services, request, reply, params }) {
      reply.header('X-Robots-Tag', 'noindex, nofollow, noarchive');
      try {
        const reader = await calendarReader(services, params.calendar);
        const signal = leftSignal({ request, reply });
        const text = await services.account_requests.run(reader.account_id, () => calendarOf(services, reader), {
          signal,
        });
        const tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
        reply.header('Cache-Control', 'private, no-cache').header('ETag', tag).header('Referrer-Policy', 'no-referrer');
        if (judgeConditions(request.headers, tag) === 'not_modified') return reply.code(304).send();
        reply.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; sandbox");
        return reply.type('text/calendar; charset=utf-8').send(text);
      } catch (error) {
        if (!isRefused(error, 'NOT_FOUND')) throw error;
        return sendEnded(
          { request, reply },
          {
            heading: 'This calendar has ended',
            text: 'Whoever it belongs to has ended its address, or made another one.',
          },
        );
      }
    },
  }),
];
