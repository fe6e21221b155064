import { z } from 'zod';
import { MEMORY_KINDS } from '../../actors/insights/library_state.js';
import { listCursor, type Position } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { listLimit, trimmedLines, uuid } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { libraryId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { requireHost } from '../../src/features/insights/hosted_items.js';
import { type FoundItem, librariesOf, readableItem, writableItem } from '../../src/features/insights/insight_access.js';
import { listItems } from '../../src/features/insights/insight_lists.js';
import { InsightReading } from '../../src/features/insights/insight_reading.js';
import { itemRevisions } from '../../src/features/insights/insight_revisions.js';
import { type MemoryView, memoryShape, revisionShape } from '../../src/features/insights/insight_shapes.js';
import { stemsOfPerson } from '../../src/features/insights/stems_of_person.js';
import { defaultNumberOf, selectedPipeline, selectPipeline } from '../../src/features/transcripts/pipeline_access.js';
import type { Services } from '../services.js';

/** What is known of people from what they said. Rule K-007; docs/choices.md, "Insights". */

const LAYER = 'insights.access' as const;
const READS = ['debug:read'] as const;
const WRITES = ['debug:write'] as const;
const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');
const text = trimmedLines(LIMITS.insight_text_chars_max).describe('What is known.');
const kind = z.enum(MEMORY_KINDS).describe('Of which sort it is.');

export const MEMORY_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/memories',
    summary: 'Memories, the newest change first.',
    notes:
      "The account's own, or with workspace_id those of all who record there. A page may be short where few pass; the list is at its end when `cursor` is null.",
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      kind: z.enum(MEMORY_KINDS).optional().describe('Only those of this sort.'),
      contact_id: uuid.optional().describe('Only those about this contact.'),
      state: z.enum(['active', 'superseded']).optional().describe('Only those that stand so.'),
      workspace_id: uuid.optional().describe('Only those of recordings in this workspace, whoever recorded them.'),
      pipeline_id: selectedPipeline,
    }),
    answer: pageShape(memoryShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, query }) => listMemories(services, who, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/memories',
    summary: 'Makes a memory, in the private workspace.',
    notes: 'No pipeline changes it.',
    credential: 'account',
    permission: WRITES,
    layer: LAYER,
    developer: true,
    status: 201,
    body: z.object({ text, kind }),
    answer: memoryShape,
    async handler({ services, who, body }) {
      const stems = await stemsOfPerson(services, who, body.text);
      const { account_id } = who;
      const workspace_id = who.account.private_workspace.id;
      const library_id = libraryId(account_id, workspace_id);
      const place = { library_id, account_id, workspace_id };
      const library = services.actors.library(library_id);
      const pipeline = await defaultNumberOf(services, account_id);
      const made = await library.create_memory({ ...body, stems, pipeline, account_id, workspace_id }, who.fences);
      return new InsightReading(services, who).memory({ place, ...made });
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/memories/:id',
    summary: 'A memory.',
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    answer: memoryShape,
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params }) {
      const found = await readableItem(services, who, { kind: 'memory', id: params.id as string });
      return new InsightReading(services, who).memory(found);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/memories/:id/revisions',
    summary: 'What a memory was before it changed, the newest first.',
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(revisionShape(memoryShape)),
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params, query }) {
      const found = await readableItem(services, who, { kind: 'memory', id: params.id as string });
      const reading = new InsightReading(services, who);
      return itemRevisions(services, { kind: 'memory', found, reading, ...query }, (was) => reading.memory(was));
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/memories/:id',
    summary: 'Says it in other words, or of another sort.',
    notes: 'No pipeline changes it any more.',
    credential: 'account',
    permission: WRITES,
    layer: LAYER,
    developer: true,
    body: z.object({ text: text.optional(), kind: kind.optional() }),
    answer: memoryShape,
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params, body }) {
      const found = await writableItem(services, who, { kind: 'memory', id: params.id as string });
      const stems = await stemsOfPerson(services, who, body.text);
      const { place, number } = found;
      const library = services.actors.library(place.library_id);
      const edited = await library.edit_memory({ number, ...body, stems }, who.fences);
      return new InsightReading(services, who).memory({ ...found, item: edited.item });
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/memories/:id',
    summary: 'Deletes a memory.',
    notes:
      'No later run brings it back. With insights:write alone it must come of a recorder session that the account hosted; debug:write needs developer access.',
    credential: 'account',
    permission: ['debug:write', 'insights:write'],
    layer: LAYER,
    status: 204,
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params }) {
      const found = await writableItem(services, who, { kind: 'memory', id: params.id as string });
      await requireHost(services, who, found.item);
      const { place, number } = found;
      return services.actors.library(place.library_id).delete({ kind: 'memory', number }, who.fences);
    },
  }),
];

/** A page of memories, the newest change first. */
export async function listMemories(
  services: Services,
  who: Principal,
  { limit, cursor, ...query }: Omit<Asked, 'reading'> & { limit: number; cursor?: Position | undefined },
): Promise<{ items: MemoryView[]; cursor: string | null }> {
  const reading = new InsightReading(services, who);
  const asked = await askedOf(services, who, { ...query, reading });
  const page = await listItems(services, { kind: 'memory', limit, cursor, reading, ...asked });
  const items: MemoryView[] = [];
  for (const row of page.rows) {
    const view = await reading.memory(row);
    items.push(view);
  }
  return { items, cursor: page.cursor };
}

type Asked = {
  kind?: (typeof MEMORY_KINDS)[number] | undefined;
  contact_id?: string | undefined;
  state?: 'active' | 'superseded' | undefined;
  workspace_id?: string | undefined;
  pipeline_id?: string | undefined;
  reading: InsightReading;
};

/** Where a list looks, and what passes. */
async function askedOf(services: Services, who: Principal, asked: Asked) {
  const { kind, contact_id, state, reading } = asked;
  const selected = await selectPipeline(services, who, asked.pipeline_id);
  const all = await librariesOf(services, who, asked.workspace_id);
  const contact = contact_id === undefined ? undefined : await reading.contact(who.account_id, contact_id);
  if (contact === null) throw new Refused(NO_CONTACT);
  // Nobody has contacts of others, nor sees what pipelines of theirs made beside the default one.
  const is_own = selected !== null || contact !== undefined;
  return {
    libraries: is_own ? all.filter(({ account_id }) => account_id === who.account_id) : all,
    narrow: [kind, contact_id, state, asked.pipeline_id].some((one) => one !== undefined),
    async passes({ place, item }: FoundItem<'memory'>): Promise<boolean> {
      if (item.pipeline_id !== selected) return false;
      if (kind !== undefined && item.kind !== kind) return false;
      if (state !== undefined && item.state !== state) return false;
      if (contact === undefined) return true;
      const shown = item.contact_id === null ? null : await reading.contact(place.account_id, item.contact_id);
      return shown?.id === contact.id;
    },
  };
}
