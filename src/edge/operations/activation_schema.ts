import { z } from 'zod';
import { count } from '../../access/response_schemas.js';

/** An entity as it is in the memory of this process. */
export const activationShape = z.strictObject({
  version: count.describe('Of its state: how often that was saved.'),
  waiting: count.describe('Messages that wait.'),
  batches: count.describe('Since it was woken in this process.'),
  batch_ms_mean: z.number().describe('How long these took on average, in ms.'),
});

/** Why nothing is done with an entity. */
export const quarantineReason = z.string().describe('What is wrong with what is stored of it.');
