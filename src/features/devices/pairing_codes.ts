import { z } from 'zod';
import type { DeviceIdentity } from '../../access/principal.js';
import { moment } from '../../access/response_schemas.js';
import { durationInWords } from '../../domain/limit_text.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { pairingCodeId, pairingCodeIds, randomPairingCode } from '../../engine/secrets/pairing_codes.js';
import type { FeatureServices } from '../services.js';

/** Pairing codes, which people type in place of a claim. Rules H-050 to H-055. */

const PAIRING_CODE_DRAWS_MAX = 5; // ours: codes drawn until one is free

/** The key under which wrong codes of all devices are counted together. */
const EVERYBODY = 'all devices';
const UNKNOWN_CODE = refuse('NOT_FOUND', 'The claim is unknown or has expired.');

export const pairingCode = z
  .string()
  .describe('The pairing code, to type where nothing can be scanned: it stands for the claim. Shown this once.');
export const pairingCodeEnd = moment.describe(
  `When the pairing code ends, ${durationInWords(LIMITS.pairing_code_life_ms)} from now.`,
);

export type OpenedPairingCode = { code: string; code_expires_at: string };

/** Draws a code for a claim that was just made. */
export async function openPairingCode(
  { actors, keys }: Pick<FeatureServices, 'actors' | 'keys'>,
  claim_id: string,
): Promise<OpenedPairingCode> {
  for (let draws = 0; draws < PAIRING_CODE_DRAWS_MAX; draws++) {
    const code = randomPairingCode();
    const opened = await orNull(actors.pairingCode(pairingCodeId(keys, code)).open({ claim_id }), 'CONFLICT');
    if (opened !== null) return { code, code_expires_at: new Date(opened.expires_at_ms).toISOString() };
  }
  throw new Error('every pairing code that was drawn belongs to another claim');
}

/** The claim that a code stands for. Counts the try before the lookup, so that concurrent tries are counted as well. */
export async function claimOfCode(
  { actors, keys, rates }: Pick<FeatureServices, 'actors' | 'keys' | 'rates'>,
  { device_id }: DeviceIdentity,
  code: string,
): Promise<string> {
  const wait_s = rates.waitFor('wrong_pairing_codes', EVERYBODY);
  if (wait_s !== null) throw new Refused(tooManyWrong(wait_s));
  await actors.device(device_id).try_code();
  for (const id of pairingCodeIds(keys, code)) {
    const found = await orNull(actors.pairingCode(id).view(), 'NOT_FOUND');
    if (found !== null) return found.claim_id;
  }
  const too_many_s = await rates.take('wrong_pairing_codes', EVERYBODY);
  throw new Refused(too_many_s === null ? UNKNOWN_CODE : tooManyWrong(too_many_s));
}

function tooManyWrong(retry_after_s: number) {
  const says = `Too many wrong pairing codes; wait ${retry_after_s} seconds, or scan the QR code.`;
  return refuse('TOO_MANY_REQUESTS', says, { retry_after_s });
}
