import { z } from 'zod';
import { whole } from '../../src/access/request_schemas.js';
import { namedLanguage } from '../../src/edge/pages/request_language.js';
import {
  calendarAddress,
  calendarAddressShape,
  endCalendarAddress,
  madeCalendarAddressShape,
  makeCalendarAddress,
} from '../../src/features/due/calendar_address.js';
import { changeDueMailSettings, dueMailSettings, dueMailShape } from '../../src/features/due/due_mail_settings.js';
import { accountRoute, type Route } from '../rows.js';

/** Ways in which what is due reaches people outside the app. docs/choices.md, "What is due". */

const OWN_APPS = { credential: 'app', permission: ['account:manage'], own_apps: true } as const;

export const DUE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/me/calendar',
    summary: 'Whether there is a calendar address, and when it was made and read.',
    ...OWN_APPS,
    answer: calendarAddressShape,
    handler: async ({ who }) => calendarAddress(who),
  }),

  accountRoute({
    method: 'POST',
    path: '/me/calendar',
    summary: 'Makes the address by which a calendar program reads what is due.',
    notes: 'Whoever has it reads the texts and times of what is open and due. The address before it ends.',
    ...OWN_APPS,
    status: 201,
    answer: madeCalendarAddressShape,
    handler: ({ services, who }) => makeCalendarAddress(services, who),
  }),

  accountRoute({
    method: 'DELETE',
    path: '/me/calendar',
    summary: 'Ends the calendar address.',
    ...OWN_APPS,
    status: 204,
    refusals: ['NOT_FOUND'],
    handler: ({ services, who }) => endCalendarAddress(services, who),
  }),

  accountRoute({
    method: 'GET',
    path: '/me/due-mail',
    summary: 'Whether a daily mail says what is due.',
    credential: 'account',
    permission: ['account:manage'],
    answer: dueMailShape,
    handler: async ({ who }) => dueMailSettings(who),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/me/due-mail',
    summary: 'Switches the daily mail of what is due, or moves it to another hour.',
    notes:
      'One mail a day at most, and none on days on which nothing is due or overdue. It names 20 tasks at most, and is in the language that this request names (`Accept-Language`), English or German; a request that names none leaves it as it is.',
    credential: 'account',
    permission: ['account:manage'],
    body: z.object({
      is_on: z.boolean().optional().describe('Whether the mail comes.'),
      hour: whole({ min: 0, max: 23 }).optional().describe("From which hour of the day on, by the profile's zone."),
    }),
    answer: dueMailShape,
    handler: ({ services, who, body, request }) =>
      changeDueMailSettings(services, who, body, { mail_language: namedLanguage(request) }),
  }),
];
