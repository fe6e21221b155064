import type { Roles } from '../../../../actors/insights/library_state.js';
import type { Principal } from '../../../access/principal.js';
import { Refused, refuse } from '../../../domain/refusals.js';
import { noonOf } from '../../../engine/time/time_zone.js';
import { clockOf } from '../../accounts/account_clock.js';
import type { FeatureServices } from '../../services.js';
import type { InsightReader } from './insight_reader.js';

/** Fields of suggestions as people set them: when one is due, and who does it. */

export const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');
const TWO_DUES = refuse('BAD_REQUEST', 'Name due_at or due_date, not both.', {
  details: [{ path: 'due_date', message: 'must be absent beside due_at' }],
});

/** `due_at` in ISO 8601. */
export type DueEdit = { due_at?: string | null | undefined; due_date?: string | null | undefined };
export type RolesEdit = { [Name in keyof Roles]?: string | null | undefined };

export function requireOneDue({ due_at, due_date }: DueEdit): void {
  if (due_at !== undefined && due_date !== undefined) throw new Refused(TWO_DUES);
}

/** A day is due at its noon, in the zone of the profile or by the clocks of the recording. */
export async function dueOf(
  services: Pick<FeatureServices, 'actors'>,
  { account_id, stream_id }: { account_id: string; stream_id: string | undefined },
  { due_at, due_date }: DueEdit,
): Promise<{ due_at_ms?: number | null; due_date?: string | null }> {
  if (due_date == null && due_at == null)
    return due_date === undefined && due_at === undefined ? {} : { due_at_ms: null, due_date: null };
  if (due_date == null) return { due_at_ms: Date.parse(due_at as string), due_date: null };
  const clock = await clockOf(services, account_id, stream_id);
  return { due_at_ms: noonOf(due_date, clock), due_date };
}

/** The present contacts behind these ids; NOT_FOUND for one of another account. */
export async function rolesOf(
  reading: InsightReader,
  { account_id }: Principal,
  roles: RolesEdit | undefined,
): Promise<Partial<Roles> | undefined> {
  if (roles === undefined) return undefined;
  const found: Partial<Roles> = {};
  for (const name of ['owner_contact_id', 'requester_contact_id'] as const) {
    const asked = roles[name];
    if (asked === undefined) continue;
    const contact = asked === null ? null : await reading.contact(account_id, asked);
    if (asked !== null && contact === null) throw new Refused(NO_CONTACT);
    found[name] = contact?.id ?? null;
  }
  return found;
}
