import { z } from 'zod';
import { listCursor, type Position } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { listLimit, timestamp, trimmedText, uuid } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { requireHost } from '../../src/features/insights/hosted_items.js';
import { type FoundItem, librariesOf, readableItem, writableItem } from '../../src/features/insights/insight_access.js';
import { listItems } from '../../src/features/insights/insight_lists.js';
import { InsightReading } from '../../src/features/insights/insight_reading.js';
import { itemRevisions } from '../../src/features/insights/insight_revisions.js';
import { type ConversationView, conversationShape, revisionShape } from '../../src/features/insights/insight_shapes.js';
import { ownSource } from '../../src/features/recordings/sources.js';
import { selectedPipeline, selectPipeline } from '../../src/features/transcripts/pipeline_access.js';
import type { Services } from '../services.js';

/** What recordings were divided into. Rule K-008; docs/choices.md, "Insights". */

const LAYER = 'insights.access' as const;
const READS = ['debug:read'] as const;
const WRITES = ['debug:write'] as const;

export const CONVERSATION_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/conversations',
    summary: 'Conversations, the newest change first.',
    notes:
      "The account's own, or with workspace_id those of all who record there. A page may be short where few pass; the list is at its end when `cursor` is null.",
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    query: z.object({
      limit: listLimit,
      cursor: listCursor,
      workspace_id: uuid.optional().describe('Only those of recordings in this workspace, whoever recorded them.'),
      source_id: uuid.optional().describe('Only those that recordings of this source have a part in.'),
      session_id: uuid.optional().describe('Only those of this recorder session.'),
      from: timestamp.optional().describe('Only those that were not over before this time.'),
      to: timestamp.optional().describe('Only those that began by then.'),
      pipeline_id: selectedPipeline,
    }),
    answer: pageShape(conversationShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, query }) => listConversations(services, who, query),
  }),

  accountRoute({
    method: 'GET',
    path: '/conversations/:id',
    summary: 'A conversation.',
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    answer: conversationShape,
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params }) {
      const reading = new InsightReading(services, who);
      const found = await readableConversation(services, who, params);
      return reading.conversation(found);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/conversations/:id/revisions',
    summary: 'What a conversation was before it changed, the newest first.',
    credential: 'account',
    permission: READS,
    layer: LAYER,
    developer: true,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(revisionShape(conversationShape)),
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params, query }) {
      const reading = new InsightReading(services, who);
      const found = await readableConversation(services, who, params);
      return itemRevisions(services, { kind: 'conversation', found, reading, ...query }, (was) =>
        reading.conversation(was),
      );
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/conversations/:id',
    summary: 'Gives a conversation another title.',
    notes: 'No pipeline changes it any more.',
    credential: 'account',
    permission: WRITES,
    layer: LAYER,
    developer: true,
    body: z.object({ title: trimmedText(LIMITS.conversation_title_chars_max).describe('What it was about.') }),
    answer: conversationShape,
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params, body: { title } }) {
      const reading = new InsightReading(services, who);
      const asked = { kind: 'conversation' as const, id: params.id as string };
      const found = await writableItem(services, who, asked);
      const { place, number } = found;
      const edited = await services.actors.library(place.library_id).edit_conversation({ number, title }, who.fences);
      return reading.conversation({ ...found, item: edited.item });
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/conversations/:id',
    summary: 'Deletes a conversation.',
    notes:
      'No later run brings it back. With insights:write alone it must come of a recorder session that the account hosted; debug:write needs developer access.',
    credential: 'account',
    permission: ['debug:write', 'insights:write'],
    layer: LAYER,
    status: 204,
    refusals: ['CONTENT_EXPIRED'],
    async handler({ services, who, params }) {
      const asked = { kind: 'conversation' as const, id: params.id as string };
      const found = await writableItem(services, who, asked);
      await requireHost(services, who, found.item);
      const { place, number } = found;
      return services.actors.library(place.library_id).delete({ kind: 'conversation', number }, who.fences);
    },
  }),
];

/** A page of conversations, the newest change first. */
export async function listConversations(
  services: Services,
  who: Principal,
  { limit, cursor, ...query }: Asked & { limit: number; cursor?: Position | undefined },
): Promise<{ items: ConversationView[]; cursor: string | null }> {
  const reading = new InsightReading(services, who);
  const asked = await askedOf(services, who, query);
  const page = await listItems(services, { kind: 'conversation', limit, cursor, reading, ...asked });
  const items: ConversationView[] = [];
  for (const row of page.rows) {
    const view = await reading.conversation(row);
    items.push(view);
  }
  return { items, cursor: page.cursor };
}

type Asked = {
  workspace_id?: string | undefined;
  source_id?: string | undefined;
  session_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  pipeline_id?: string | undefined;
};

/** Where a list looks, and what passes. */
async function askedOf(services: Services, who: Principal, asked: Asked) {
  const { source_id, session_id } = asked;
  const selected = await selectPipeline(services, who, asked.pipeline_id);
  const libraries = await librariesOf(services, who, asked.workspace_id);
  if (source_id !== undefined) await ownSource(services, { account_id: who.account_id, id: source_id });
  const from_ms = asked.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(asked.from);
  const to_ms = asked.to === undefined ? Number.POSITIVE_INFINITY : Date.parse(asked.to);
  return {
    libraries: selected === null ? libraries : libraries.filter(({ account_id }) => account_id === who.account_id),
    narrow: true,
    passes({ item }: FoundItem<'conversation'>): boolean {
      if (item.pipeline_id !== selected) return false;
      if (session_id !== undefined && item.session_id !== session_id) return false;
      if (source_id !== undefined && !item.parts.some((part) => part.source_id === source_id)) return false;
      return item.ended_at_ms >= from_ms && item.started_at_ms <= to_ms;
    },
  };
}

function readableConversation(services: Services, who: Principal, { id = '' }: Record<string, string>) {
  return readableItem(services, who, { kind: 'conversation', id });
}
