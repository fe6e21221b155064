import { z } from 'zod';
import { moment } from '../../src/access/response_schemas.js';
import { operatorRoute, type Route } from '../rows.js';

/** Keys that sign and seal. */
export const KEY_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'POST',
    path: '/ops/keys/rotate',
    summary: 'Lets another key sign access tokens.',
    notes: 'Tokens that are out stay good.',
    credential: 'operator',
    answer: z.strictObject({ kid: z.string().describe('The id of the key that signs now.') }),
    refusals: ['CONFLICT'],
    handler: async ({ services: { signing_keys } }) => signing_keys.rotate(),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/keys/server/rotate',
    summary: 'Introduces another server key.',
    notes:
      'All processes read it at once and write with it after a minute. What older keys made stays good: their files must stay in KEYS_DIR. While one is introduced, the same again.',
    credential: 'operator',
    answer: z.strictObject({
      key_id: z.string().describe('The id of the new key.'),
      active_at: moment.describe('When it is written with.'),
    }),
    async handler({ services: { server_key_rotation } }) {
      const { key_id, active_at_ms } = await server_key_rotation.rotate();
      return { key_id, active_at: new Date(active_at_ms).toISOString() };
    },
  }),
];
