import { z } from 'zod';
import { listLimit, whole } from '../../src/access/request_schemas.js';
import { count, serverNow } from '../../src/access/response_schemas.js';
import { PARTITIONS } from '../../src/domain/ids.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { activationShape, quarantineReason } from '../../src/edge/operations/activation_schema.js';
import { listDeadLetters, retryDeadLetter } from '../../src/edge/operations/dead_letters.js';
import { mergeActors } from '../../src/edge/operations/merged_actors.js';
import { shownName } from '../../src/edge/operations/shown_state.js';
import { operatorRoute, type Route } from '../rows.js';

const activeShape = activationShape.extend({
  kind: z.string().describe('The kind of actor.'),
  id: z.string().nullable().describe('Null where it is an email, an address or a fingerprint.'),
  name: z.string().describe('The id, or as much of it as may be shown.'),
  partition: count.describe('Of the 256, where its state lies.'),
  quarantined: z
    .strictObject({
      reason: quarantineReason,
      since_ms: count.describe('Since when, in ms since 1970.'),
    })
    .nullable()
    .describe('Null unless it is out of service.'),
});

const latelyShape = activeShape.extend({
  messages: count.describe('Within that time.'),
  batch_ms_max: z.number().describe('Of the slowest batch, in ms.'),
});
const actorsShape = z.strictObject({
  now: serverNow,
  kinds: z
    .record(
      z.string(),
      z.strictObject({
        active: count.describe('Entities in memory.'),
        waiting: count.describe('Messages that wait.'),
        quarantined: count.describe('Entities out of service.'),
        oldest_ms: z.number().describe('How long the oldest message has waited, in ms.'),
        batches: count.optional().describe('Of the last minute; absent where there were none.'),
        batch_ms_mean: z.number().nullable().optional().describe('How long these took on average, in ms.'),
        batch_ms_p99: z.number().nullable().optional().describe('The 99th percentile, in ms.'),
      }),
    )
    .describe('By kind of actor.'),
  busiest: z.array(activeShape).describe('Entities with the most messages waiting, then the most batches.'),
  quarantined: z.array(activeShape.extend({ id: z.string() })).describe('Entities out of service.'),
  lately: z
    .strictObject({
      within_ms: count.describe('How far back that looks.'),
      busiest: z.array(latelyShape).describe('Those with the most messages.'),
      slowest: z.array(latelyShape).describe('Those with the slowest batches.'),
    })
    .describe('Entities by what they did last.'),
  dead_letters: z
    .array(
      z.strictObject({
        partition: count.describe('Of the 256, where it lies.'),
        name: z.string().describe('What a retry calls it.'),
        to: z
          .strictObject({
            kind: z.string().describe('The kind of actor.'),
            id: z.string().nullable().describe('Null where it is an email, an address or a fingerprint.'),
            name: z.string(),
          })
          .describe('Whom it is for.'),
        type: z.string().nullable().describe('The type of the message; null where it is not known.'),
      }),
    )
    .describe('Dead letters: messages whose decision threw five times.'),
});

/** Entities in the memory of the processes on this machine, those out of service, and dead letters. */
export const ACTOR_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'GET',
    path: '/ops/actors',
    summary: 'What is active in the processes on this machine, and what is quarantined, and dead letters.',
    credential: 'operator',
    query: z.object({ limit: listLimit }),
    answer: actorsShape,
    async handler({ services: { clock, processes, store }, query: { limit } }) {
      const [dead_letters, told] = await Promise.all([
        listDeadLetters(store, limit),
        processes.askAll('actors', { limit }),
      ]);
      const { kinds, busiest, quarantined, lately } = mergeActors(told, limit);
      return {
        now: new Date(clock.now()).toISOString(),
        kinds,
        busiest: busiest.map(named),
        // With its id, whatever that is: without it nobody could have it try again.
        quarantined: quarantined.map((one) => ({ ...one, name: shownName(one) })),
        lately: { ...lately, busiest: lately.busiest.map(named), slowest: lately.slowest.map(named) },
        dead_letters,
      };
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/quarantined/retry',
    summary: 'Releases a quarantined entity: its next message loads it again.',
    credential: 'operator',
    status: 204,
    body: z.object({
      kind: z.string('must be a kind of actor').max(100).describe('The kind of actor, such as account.'),
      id: z.string('must be the id of a quarantined entity').max(300),
    }),
    refusals: ['NOT_FOUND'],
    async handler({ services: { processes }, body }) {
      const released = await processes.askAll('release', body);
      if (!released.includes(true)) throw new Refused(refuse('NOT_FOUND', 'No such entity is quarantined here.'));
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/dead-letters/retry',
    summary: 'Delivers a dead letter once more.',
    credential: 'operator',
    status: 204,
    body: z.object({
      partition: whole({ min: 0, max: PARTITIONS - 1 }).describe('As the list says it.'),
      name: z.string('must be the name of a dead letter').max(500).describe('As the list says it.'),
    }),
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handler: async ({ services, body }) => retryDeadLetter(services, body),
  }),
];

/** An entity in a list: its id where that may be seen, and how it is called. */
function named<Row extends { kind: string; id: string }>(
  row: Row,
): Omit<Row, 'id'> & { id: string | null; name: string } {
  const name = shownName(row);
  return { ...row, id: name === row.id ? row.id : null, name };
}
