import { z } from 'zod';
import { EVENT_SCHEMA_VERSION } from '../domain/event_types.js';
import { BUCKETS } from '../domain/workspaces.js';
import { decodeEvent } from '../engine/store/event_body.js';
import type { LoggedEvent } from '../engine/store/store.js';
import { eventType, id, moment } from './response_schemas.js';

const bucket = z.enum(BUCKETS);

/** The data of an event, beside the changed resource. Rule E-001. */
const dataShape = z.strictObject({
  changed_fields: z.array(z.string()).optional().describe('Which members of the resource are others now.'),
  source_id: id.optional().describe('The source of a stream.'),
  participant_id: id.optional().describe('Who joined or left a recorder session.'),
  last_four: z.string().optional().describe("A personal access token's last characters."),
  expires_at: moment.nullable().optional().describe('When what was made ends by itself; null: it does not.'),
  reason: z.string().optional().describe('Why a workspace is gone, or a token revoked.'),
  run_id: z.string().optional().describe('Tells events of one run from others; no route takes it.'),
  pipeline_id: z.string().optional().describe('What made a suggestion.'),
  revision: z.int().min(0).optional().describe('Which revision of it this made; of a memory context, which version.'),
  state_version: z.int().min(1).optional().describe("A suggestion's, after this."),
  buckets: z
    .partialRecord(
      bucket,
      z.strictObject({
        cutoff: moment.nullable().describe('What is older is gone; null: everything is.'),
        count: z.int().min(0).describe('How many records are gone.'),
      }),
    )
    .optional()
    .describe('What a workspace did not keep any longer.'),
});

export const eventShape = z
  .strictObject({
    id,
    schema_version: z.literal(EVENT_SCHEMA_VERSION).describe('Of the form of events.'),
    sequence: z.string().regex(/^\d+$/).describe('A decimal number. It is no cursor.'),
    occurred_at: moment.describe('When it happened.'),
    account_id: id.describe('Whose event it is.'),
    type: eventType.describe('More types may come: pass over those that you do not know.'),
    resource: z
      .strictObject({ type: z.string().describe('What stands before the dot of the event type.'), id })
      .describe('What it happened to. How that is now, its own route says.'),
    data: dataShape.describe('What else is said of it; which members there are depends on the type.'),
  })
  .meta({ id: 'Event' });

export type EventView = z.infer<typeof eventShape>;

/** The Event of the interface: the logged event with the sequence from its log. */
export function eventView(logged: LoggedEvent): EventView {
  const recorded = decodeEvent(logged) as Omit<EventView, 'sequence'>;
  const { id, schema_version, occurred_at, account_id, type, resource, data } = recorded;
  const sequence = String(sequenceOf(logged.id));
  return { id, schema_version, sequence, occurred_at, account_id, type, resource, data };
}

/** The log's ids are `<ms>-<sequence>`. */
export function sequenceOf(log_id: string): number {
  return Number(log_id.slice(log_id.indexOf('-') + 1));
}
