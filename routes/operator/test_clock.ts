import { z } from 'zod';
import { whole } from '../../src/access/request_schemas.js';
import { serverNow } from '../../src/access/response_schemas.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { operatorRoute, type Route } from '../rows.js';

const HOUR_MS = 3_600_000;
const ADVANCE_MAX_MS = 10 * 365 * 24 * HOUR_MS;

/** The clock, for tests and demonstrations. */
export const TEST_CLOCK_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'POST',
    path: '/ops/clock',
    summary: 'Moves the clock forward, where `TEST_CLOCK=1` allows it.',
    credential: 'operator',
    body: z.object({ advance_ms: whole({ min: 0, max: ADVANCE_MAX_MS }).describe('How far, in ms.') }),
    answer: z.strictObject({ now: serverNow }),
    refusals: ['NOT_FOUND'],
    async handler({ services, body: { advance_ms } }) {
      if (!services.settings.test_clock)
        throw new Refused(refuse('NOT_FOUND', 'The clock can be moved only with TEST_CLOCK=1.'));
      await services.handleMessages();
      await services.clock.advance(advance_ms);
      await services.handleDue();
      return { now: new Date(services.clock.now()).toISOString() };
    },
  }),
];
