import { z } from 'zod';
import { serverNow } from '../../src/access/response_schemas.js';
import { durationInWords } from '../../src/domain/limit_text.js';
import { LIMITS } from '../../src/domain/limits.js';
import { redeemClaim } from '../../src/features/devices/claims.js';
import {
  BOUND_REFUSALS,
  bindingShape,
  recordHeartbeat,
  viewPresentBinding,
} from '../../src/features/devices/device_binding.js';
import { deviceRoute, type Route } from '../rows.js';

/** Claims, by which a device is bound to an account. Rules H-027 to H-032. */
export const CLAIM_ROUTES: readonly Route[] = [
  deviceRoute({
    method: 'POST',
    path: '/device/claims/redeem',
    summary: 'Binds the device by a claim.',
    notes: `A personal device redeems an owner claim, a shared recorder a session claim together with its BLE address. The same device may redeem again and gets the same answer. A pairing code stands for its claim; a device has ${LIMITS.pairing_code_tries_max} tries at codes in ${durationInWords(LIMITS.pairing_code_tries_window_ms)}, right ones included.`,
    credential: 'device',
    rate: 'claims',
    // An owner claim ignores ble_address, whatever it holds; a session claim needs it.
    body: z.object({
      claim: z
        .string('must be the text of a claim')
        .max(200)
        .describe(
          'What the app handed to the device, or its pairing code; letter case and dashes of a code do not matter.',
        ),
      ble_address: z.unknown().optional().describe('Of a shared recorder: 12 upper-case hexadecimal digits.'),
    }),
    answer: bindingShape,
    refusals: [...BOUND_REFUSALS, 'NOT_FOUND', 'CONFLICT', 'TOO_MANY_REQUESTS'],
    handler: ({ services, who, body }) => redeemClaim(services, who, body),
  }),

  deviceRoute({
    method: 'GET',
    path: '/device/binding',
    summary: 'What the device is bound by.',
    credential: 'device',
    priority: 'critical',
    answer: bindingShape,
    refusals: BOUND_REFUSALS,
    handler: ({ services, who }) => viewPresentBinding(services, who),
  }),

  deviceRoute({
    method: 'POST',
    path: '/device/heartbeat',
    summary: 'Says that the device is there.',
    credential: 'device',
    priority: 'critical',
    answer: z.strictObject({ server_time: serverNow }),
    refusals: BOUND_REFUSALS,
    handler: ({ services, who }) => recordHeartbeat(services, who),
  }),
];
