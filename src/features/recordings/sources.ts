import { z } from 'zod';
import { type KeptSource, NO_SOURCE, SOURCES } from '../../../actors/recordings/source.js';
import { type Page, type PageQuery, pageOf } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { id, moment } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import { orNull, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { randomId } from '../../engine/random/random.js';
import type { FeatureServices } from '../services.js';

/** Sources of an account's recordings. Rules K-001 and K-002. */

const SOURCES_PER_ACCOUNT_MAX = 1_000; // ours: as many as devices

const TOO_MANY = refuse('CONFLICT', `An account has at most ${SOURCES_PER_ACCOUNT_MAX} sources.`);

export const sourceShape = z
  .strictObject({
    id,
    name: z.string().nullable().describe('What people call it; null for no name.'),
    device_id: id.nullable().describe('The device that records into it; null where an app does.'),
    created_at: moment,
  })
  .meta({ id: 'Source' });

export type SourceView = z.infer<typeof sourceShape>;

/** A page of an account's sources, newest first. */
export async function listSources(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  { account_id }: Pick<Principal, 'account_id'>,
  { limit, cursor }: PageQuery,
): Promise<Page<SourceView>> {
  const place = { owner: account_id, partition: partitionOfId(account_id) };
  const page = { after: cursor, descending: true, limit: limit + 1 };
  const { rows, cursor: next } = pageOf(await services.store.list(place, SOURCES, page), limit);
  // One that was deleted since the list was read is left out.
  const sources = await Promise.all(
    rows.map(async ({ member: id }) => {
      const source = await orNull(ownSource(services, { account_id, id }), 'NOT_FOUND');
      return source === null ? null : sourceView(id, source);
    }),
  );
  return { items: sources.filter((source) => source !== null), cursor: next };
}

/** Registers a source that an app records into. CONFLICT if the account has too many. */
export async function createSource(
  { store, actors, clock }: Pick<FeatureServices, 'actors' | 'clock' | 'store'>,
  { account_id, fences }: Principal,
  name: string | null,
): Promise<SourceView> {
  const partition = partitionOfId(account_id);
  const limit = SOURCES_PER_ACCOUNT_MAX;
  const known = await store.list({ owner: account_id, partition }, SOURCES, { descending: false, limit });
  if (known.length >= limit) throw new Refused(TOO_MANY);
  const id = randomId({ partition, now_ms: clock.now() });
  const created = await actors.source(id).create({ account_id, device_id: null, name }, fences);
  return created.status === 'kept' ? sourceView(id, created) : throwRefusal(NO_SOURCE);
}

/** A source of the account. */
export async function viewSource(
  services: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  id: string,
): Promise<SourceView> {
  const source = await ownSource(services, { account_id, id });
  return sourceView(id, source);
}

/** Renames a source, or removes its name. */
export async function renameSource(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Principal,
  { id, name }: { id: string; name: string | null },
): Promise<SourceView> {
  const renamed = await actors.source(id).rename({ account_id, name }, fences);
  return sourceView(id, renamed);
}

/** Deletes a source and the insights from its recordings; its streams stay. */
export async function deleteSource(
  {
    actors,
    speech_withdrawal,
  }: Pick<FeatureServices, 'actors'> & { speech_withdrawal: { ofSource(source_id: string): Promise<void> } },
  { account_id, fences }: Principal,
  id: string,
): Promise<void> {
  await actors.downstream.source(id).delete({ account_id }, fences);
  await speech_withdrawal.ofSource(id);
}

/** The account's own source; another account's, or a deleted one, does not exist. */
export async function ownSource(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, id }: { account_id: string; id: string },
): Promise<KeptSource> {
  const source = await actors.source(id).view();
  return source.status === 'kept' && source.account_id === account_id ? source : throwRefusal(NO_SOURCE);
}

function sourceView(id: string, { name, device_id, created_at_ms }: KeptSource): SourceView {
  return { id, name, device_id, created_at: new Date(created_at_ms).toISOString() };
}
