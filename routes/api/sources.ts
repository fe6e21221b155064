import { z } from 'zod';
import { type KeptSource, NO_SOURCE, SOURCES } from '../../actors/recordings/source.js';
import { listCursor, type Position, pageOf } from '../../src/access/cursors.js';
import { listLimit, trimmedText } from '../../src/access/request_schemas.js';
import { id, moment, pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { Refused, refuse, throwRefusal } from '../../src/domain/refusals.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { READS_STREAMS, WRITES_STREAMS } from '../../src/features/recordings/stream_access.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Where an account's recordings come from. Rules K-001 and K-002. */

const TOO_MANY = refuse('CONFLICT', `An account has at most ${LIMITS.sources_per_account_max} sources.`);
const name = trimmedText(LIMITS.source_name_chars_max).nullable();

const sourceShape = z
  .strictObject({
    id,
    name: z.string().nullable().describe('What people call it; null for no name.'),
    device_id: id.nullable().describe('The device that records into it; null where an app does.'),
    created_at: moment,
  })
  .meta({ id: 'Source' });

export type SourceView = z.infer<typeof sourceShape>;

export const SOURCE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/sources',
    summary: 'Where recordings come from, newest first.',
    credential: 'account',
    permission: READS_STREAMS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(sourceShape),
    handler: ({ services, who, query }) => listSources(services, who.account_id, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/sources',
    summary: 'Makes a source.',
    credential: 'account',
    permission: WRITES_STREAMS,
    status: 201,
    body: z.object({ name: name.default(null) }),
    answer: sourceShape,
    refusals: ['CONFLICT'],
    async handler({ services, who: { account_id, fences }, body }) {
      const partition = partitionOfId(account_id);
      const limit = LIMITS.sources_per_account_max;
      const known = await services.store.list({ owner: account_id, partition }, SOURCES, { descending: false, limit });
      if (known.length >= limit) throw new Refused(TOO_MANY);
      const id = randomId({ partition, now_ms: services.clock.now() });
      const made = await services.actors.source(id).create({ account_id, device_id: null, name: body.name }, fences);
      return made.status === 'kept' ? sourceView(id, made) : throwRefusal(NO_SOURCE);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/sources/:id',
    summary: 'A source.',
    credential: 'account',
    permission: READS_STREAMS,
    answer: sourceShape,
    async handler({ services, who: { account_id }, params }) {
      const id = params.id as string;
      const source = await ownSource(services, { account_id, id });
      return sourceView(id, source);
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/sources/:id',
    summary: 'Renames a source.',
    credential: 'account',
    permission: WRITES_STREAMS,
    body: z.object({ name }),
    answer: sourceShape,
    async handler({ services, who: { account_id, fences }, params, body }) {
      const id = params.id as string;
      const renamed = await services.actors.source(id).rename({ account_id, name: body.name }, fences);
      return sourceView(id, renamed);
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/sources/:id',
    summary: 'Deletes a source.',
    notes: 'Its streams stay, and no event reports them any more.',
    credential: 'account',
    permission: WRITES_STREAMS,
    status: 204,
    async handler({ services, who: { account_id, fences }, params }) {
      const id = params.id as string;
      await services.actors.downstream.source(id).delete({ account_id }, fences);
      await services.speech_withdrawal.ofSource(id);
      return undefined;
    },
  }),
];

/** A page of an account's sources, newest first. */
export async function listSources(
  services: Services,
  account_id: string,
  { limit, cursor }: { limit: number; cursor?: Position | undefined },
): Promise<{ items: SourceView[]; cursor: string | null }> {
  const place = { owner: account_id, partition: partitionOfId(account_id) };
  const page = { after: cursor, descending: true, limit: limit + 1 };
  const { rows, cursor: next } = pageOf(await services.store.list(place, SOURCES, page), limit);
  const sources = await Promise.all(rows.map(({ member }) => ownSource(services, { account_id, id: member })));
  // One that was deleted since the list was read is left out.
  const items = sources.flatMap((source, index) =>
    source === null ? [] : [sourceView(rows[index]?.member as string, source)],
  );
  return { items, cursor: next };
}

/** The account's own source; one of somebody else's, or a deleted one, does not exist. */
export async function ownSource(
  { actors }: Services,
  { account_id, id }: { account_id: string; id: string },
): Promise<KeptSource> {
  const source = await actors.source(id).view();
  return source.status === 'kept' && source.account_id === account_id ? source : throwRefusal(NO_SOURCE);
}

function sourceView(id: string, { name, device_id, created_at_ms }: KeptSource): SourceView {
  return { id, name, device_id, created_at: new Date(created_at_ms).toISOString() };
}
