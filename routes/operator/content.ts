import { contentShape, readContentForStaff } from '../../src/features/insights/context/content_for_staff.js';
import { operatorRoute, type Route } from '../rows.js';

/**
 * Health of content processing: who makes text and suggestions of recordings, how that goes, and what is removed.
 * Without any text.
 */
export const STAFF_CONTENT_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/content',
    summary:
      'Who transcribes recordings and looks into conversations, what waits, what fails, and what retention removes.',
    credential: 'operator',
    answer: contentShape,
    handler: ({ services }) => readContentForStaff(services),
  }),
];
