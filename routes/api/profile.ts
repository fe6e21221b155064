import { z } from 'zod';
import type { KeptItem } from '../../actors/insights/context.js';
import type { Profile } from '../../actors/insights/context_state.js';
import { listCursor, pageOf } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { languageTag, listLimit, trimmedLines, trimmedText, whole } from '../../src/access/request_schemas.js';
import { count, id, moment, momentOrNull, no_cursor, pageShape } from '../../src/access/response_schemas.js';
import { partitionOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { randomId } from '../../src/engine/runtime/random.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** What an account says of itself, which pipelines are told. Rule K-013; docs/choices.md, "Pipelines and profile". */

const READS = ['profile:read'] as const;
const WRITES = ['profile:write'] as const;

export const profileShape = z
  .strictObject({
    revision: count.describe('Rises with each change; 0 while nothing was saved.'),
    about: z.string().nullable().describe('What the account says of its person; null for nothing.'),
    languages: z.array(z.string()).describe('The languages that are spoken, as BCP 47 tags.'),
    vocabulary: z.array(z.string()).describe('Words that recordings hear and nobody else knows how to spell.'),
    updated_at: moment.nullable().describe('When this was saved; null while nothing was.'),
  })
  .meta({ id: 'Profile' });

type ProfileView = z.infer<typeof profileShape>;

const itemShape = z
  .strictObject({
    id,
    text: z.string().describe('What pipelines are told.'),
    created_at: moment,
    updated_at: moment.describe('When its text last changed.'),
  })
  .meta({ id: 'ContextItem' });

const text = trimmedLines(LIMITS.context_text_chars_max).describe('What pipelines are to know.');

/** A whole profile, as it is saved. */
export const PROFILE_FIELDS = {
  revision: whole({ min: 0 }).describe('The revision that was read.'),
  about: trimmedLines(LIMITS.profile_about_chars_max)
    .nullable()
    .default(null)
    .describe('What pipelines are to know of the person.'),
  languages: z
    .array(languageTag)
    .max(LIMITS.profile_languages_max, `must be at most ${LIMITS.profile_languages_max} languages`)
    .transform(distinct)
    .default([])
    .describe('BCP 47 tags. Where it is one alone, transcription is told that it hears this.'),
  vocabulary: z
    .array(trimmedText(LIMITS.vocabulary_term_chars_max))
    .max(LIMITS.vocabulary_terms_max, `must be at most ${LIMITS.vocabulary_terms_max} words`)
    .transform(distinct)
    .default([])
    .describe('Names and words that transcription is to spell like this.'),
};

export const PROFILE_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/profile',
    summary: 'What the account says of itself.',
    notes: 'Pipelines are told of it, and transcription of its vocabulary and language.',
    credential: 'account',
    permission: READS,
    answer: profileShape,
    handler: ({ services, who }) => readProfile(services, who),
  }),

  accountRoute({
    method: 'PUT',
    path: '/profile',
    summary: 'Saves a whole profile.',
    notes:
      'What is absent is empty from then on. `revision` is the one that was read; where another was saved meanwhile, 409 has that one as `error.revision`. The same content saves nothing.',
    credential: 'account',
    permission: WRITES,
    body: z.object(PROFILE_FIELDS),
    answer: profileShape,
    refusals: ['CONFLICT'],
    handler: ({ services, who, body }) => saveProfile(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/profile/revisions',
    summary: 'Profiles that were saved, newest first, with the present one.',
    notes: `The last ${LIMITS.profile_revisions_kept_max} are kept.`,
    credential: 'account',
    permission: READS,
    query: z.object({ limit: listLimit, cursor: listCursor }),
    answer: pageShape(profileShape),
    async handler({ services, who: { account_id }, query: { limit, cursor } }) {
      const after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
      const range = { after, descending: true, limit: limit + 1 };
      const found = await services.actors.context(account_id).profile_revisions({ range });
      const rows = found.revisions.map(({ id: member, order, value }) => ({ member, order, value }));
      const page = pageOf(rows, limit);
      return { items: page.rows.map(({ value }) => profileView(value)), cursor: page.cursor };
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/profile/context',
    summary: 'What pipelines are told beside the profile, the oldest first.',
    credential: 'account',
    permission: READS,
    answer: z.strictObject({
      version: count.describe('Rises with each change of an item.'),
      items: z.array(itemShape),
      cursor: no_cursor,
    }),
    async handler({ services, who: { account_id } }) {
      const found = await services.actors.context(account_id).context_items();
      return { version: found.version, items: found.items.map(itemView), cursor: null };
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/profile/context',
    summary: 'Adds something that pipelines are to know.',
    notes: `An account has at most ${LIMITS.context_items_max} of them.`,
    credential: 'account',
    permission: WRITES,
    status: 201,
    body: z.object({ text }),
    answer: itemShape,
    refusals: ['CONFLICT'],
    async handler({ services, who: { account_id, fences }, body }) {
      const item_id = randomId({ partition: partitionOfId(account_id), now_ms: services.clock.now() });
      const made = await services.actors.context(account_id).create_item({ item_id, text: body.text }, fences);
      return itemView(made);
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/profile/context/:id',
    summary: 'Says it in other words.',
    credential: 'account',
    permission: WRITES,
    body: z.object({ text }),
    answer: itemShape,
    async handler({ services, who: { account_id, fences }, params, body }) {
      const edit = { item_id: params.id as string, text: body.text };
      const edited = await services.actors.context(account_id).edit_item(edit, fences);
      return itemView(edited);
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/profile/context/:id',
    summary: 'Takes it back.',
    credential: 'account',
    permission: WRITES,
    status: 204,
    async handler({ services, who: { account_id, fences }, params }) {
      return services.actors.context(account_id).delete_item({ item_id: params.id as string }, fences);
    },
  }),
];

export async function readProfile({ actors }: Services, { account_id }: Principal): Promise<ProfileView> {
  const found = await actors.context(account_id).view();
  return profileView(found.profile);
}

export async function saveProfile(
  { actors }: Services,
  { account_id, fences }: Principal,
  profile: z.output<z.ZodObject<typeof PROFILE_FIELDS>>,
): Promise<ProfileView> {
  const saved = await actors.context(account_id).save_profile(profile, fences);
  return profileView(saved);
}

function distinct(texts: string[]): string[] {
  return [...new Set(texts)];
}

function profileView({ revision, about, languages, vocabulary, updated_at_ms }: Profile): ProfileView {
  return { revision, about, languages, vocabulary, updated_at: momentOrNull(updated_at_ms) };
}

function itemView({ id, text, created_at_ms, updated_at_ms }: KeptItem): z.infer<typeof itemShape> {
  const [created_at, updated_at] = [new Date(created_at_ms).toISOString(), new Date(updated_at_ms).toISOString()];
  return { id, text, created_at, updated_at };
}
