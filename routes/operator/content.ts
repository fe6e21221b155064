import { contentShape, readContentForStaff } from '../../src/features/insights/context/content_for_staff.js';
import { operatorRoute, type Route } from '../rows.js';

/** The health of transcripts and insights: engines, workers, recent outcomes, and removals; without any text. */
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
