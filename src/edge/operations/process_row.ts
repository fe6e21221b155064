import { z } from 'zod';
import { count } from '../../access/response_schemas.js';

/** The view of a process that serves on the same ports, for operators. */
const processRowShape = z.strictObject({
  pid: count.describe('Its number on its machine.'),
  up_s: count.describe('For how many seconds it has run.'),
  cpu_share: z.number().min(0).nullable().describe('Of one core, since the sample before; null before there are two.'),
  rss_bytes: z.number().min(0).describe('Memory that it has.'),
  loop_delay_ms: z.number().min(0).describe('Delay of its event loop, the 99th percentile.'),
  connections: count.describe('Open connections, of all listeners.'),
  requests_per_s: z.number().min(0).describe('Requests that it answered, of all listeners.'),
  shedding: z.enum(['nothing', 'first', 'all']).describe('What it refuses for load.'),
});
export type ProcessRow = z.infer<typeof processRowShape>;

/** `row` is null for one that did not answer within a second. */
export const processShape = z.strictObject({
  number: count.nullable().describe('Which of the processes it is, from 1 on; null for one that is alone.'),
  pid: count.describe('Its number on its machine.'),
  row: processRowShape.nullable().describe('How it is doing; null for one that did not answer within a second.'),
});
