import { z } from 'zod';
import { whole } from './request_schemas.js';
import { moment } from './response_schemas.js';

/** Fields of the messages that workers on the operator port send about their claimed jobs. */

export const claim = z.string('must be the text of a claim').min(1).max(64).describe('As it was handed out.');

export function leaseField({ lease_ms, lease_ms_max }: { lease_ms: number; lease_ms_max: number }) {
  return whole({ min: 1, max: lease_ms_max / 1_000 })
    .default(lease_ms / 1_000)
    .describe('For how many seconds nobody else may have it; 60 when absent.');
}

export const leaseShape = z.strictObject({ lease_until: moment.describe('Until then nobody else gets it.') });
