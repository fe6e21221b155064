import { z } from 'zod';
import type { KeptItem } from '../../../../actors/insights/context.js';
import type { Profile } from '../../../../actors/insights/context_state.js';
import { type Page, type PageQuery, pageOf } from '../../../access/cursors.js';
import type { Principal } from '../../../access/principal.js';
import { languageTag, trimmedLines, trimmedText, whole } from '../../../access/request_schemas.js';
import { count, id, moment, momentOrNull } from '../../../access/response_schemas.js';
import { partitionOfId } from '../../../domain/ids.js';
import { LIMITS } from '../../../domain/limits.js';
import { randomId } from '../../../engine/random/random.js';
import { isTimeZone } from '../../../engine/time/time_zone.js';
import type { FeatureServices } from '../../services.js';

/**
 * The profile that an account writes of itself, which pipelines are told. Rule K-013; docs/choices.md, "Pipelines and
 * profile".
 */

const TIME_ZONE_CHARS_MAX = 64; // ours: the longest name of the time zone database has 32

const TIME_ZONE_RULE = 'must be the name of a time zone, such as Europe/Vienna';

export const profileShape = z
  .strictObject({
    revision: count.describe('Rises with each change; 0 while nothing was saved.'),
    about: z.string().nullable().describe('What the account says of its person; null for nothing.'),
    languages: z.array(z.string()).describe('The languages that are spoken, as BCP 47 tags.'),
    vocabulary: z.array(z.string()).describe('Words that recordings hear and nobody else knows how to spell.'),
    time_zone: z
      .string()
      .nullable()
      .describe(
        'The IANA name of the zone by which days begin and end, such as Europe/Vienna; null where none is set: then the clocks of recordings count.',
      ),
    updated_at: moment.nullable().describe('When this was saved; null while nothing was.'),
  })
  .meta({ id: 'Profile' });

type ProfileView = z.infer<typeof profileShape>;

export const contextItemShape = z
  .strictObject({
    id,
    text: z.string().describe('What pipelines are told.'),
    created_at: moment,
    updated_at: moment.describe('When its text last changed.'),
  })
  .meta({ id: 'ContextItem' });

type ContextItemView = z.infer<typeof contextItemShape>;

/** The name of a zone, in the spelling that the caller has for it. */
export const timeZone = z
  .string(TIME_ZONE_RULE)
  .max(TIME_ZONE_CHARS_MAX, TIME_ZONE_RULE)
  .refine(isTimeZone, TIME_ZONE_RULE);

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
  time_zone: timeZone
    .nullable()
    .optional()
    .describe('By which days begin and end. Null for none; one that is absent stays.'),
};

/** Fields of a profile that change; what is absent stays. */
export const PROFILE_CHANGES = {
  revision: PROFILE_FIELDS.revision,
  about: PROFILE_FIELDS.about.unwrap().optional().describe('Of the person; null for nothing.'),
  languages: PROFILE_FIELDS.languages.unwrap().optional().describe('BCP 47 tags, all of them.'),
  vocabulary: PROFILE_FIELDS.vocabulary.unwrap().optional().describe('Names and words, all of them.'),
  time_zone: PROFILE_FIELDS.time_zone,
};

/** The profile as it was last saved. */
export async function readProfile(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
): Promise<ProfileView> {
  const found = await actors.context(account_id).view();
  return profileView(found.profile);
}

/** Saves a whole profile. CONFLICT where `revision` is not the present one. */
export async function saveProfile(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Principal,
  profile: z.output<z.ZodObject<typeof PROFILE_FIELDS>>,
): Promise<ProfileView> {
  const saved = await actors.context(account_id).save_profile(profile, fences);
  return profileView(saved);
}

/** Saves a profile with some other fields. CONFLICT where `revision` is not the present one. */
export async function editProfile(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { revision, ...changes }: z.output<z.ZodObject<typeof PROFILE_CHANGES>>,
): Promise<ProfileView> {
  // What is kept of another revision is never saved: that one is refused.
  const { profile } = await services.actors.context(who.account_id).view();
  const { about, languages, vocabulary } = profile;
  const named = Object.entries(changes).filter(([, value]) => value !== undefined);
  return saveProfile(services, who, { about, languages, vocabulary, ...Object.fromEntries(named), revision });
}

/** Profiles that were saved, newest first, with the present one. */
export async function listProfileRevisions(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  { limit, cursor }: PageQuery,
): Promise<Page<ProfileView>> {
  const after = cursor === undefined ? undefined : { order: cursor.order, id: cursor.member };
  const range = { after, descending: true, limit: limit + 1 };
  const found = await actors.context(account_id).profile_revisions({ range });
  const rows = found.revisions.map(({ id: member, order, value }) => ({ member, order, value }));
  const page = pageOf(rows, limit);
  return { items: page.rows.map(({ value }) => profileView(value)), cursor: page.cursor };
}

/** Lists the context items that pipelines are told beside the profile, the oldest first. */
export async function listContextItems(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
): Promise<{ version: number; items: ContextItemView[] }> {
  const { version, items } = await actors.context(account_id).context_items();
  return { version, items: items.map(contextItemView) };
}

/** Adds something that pipelines are to know. */
export async function createContextItem(
  { actors, clock }: Pick<FeatureServices, 'actors' | 'clock'>,
  { account_id, fences }: Principal,
  text: string,
): Promise<ContextItemView> {
  const item_id = randomId({ partition: partitionOfId(account_id), now_ms: clock.now() });
  const created = await actors.context(account_id).create_item({ item_id, text }, fences);
  return contextItemView(created);
}

/** Changes the text of something that pipelines are told. */
export async function editContextItem(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Principal,
  { id: item_id, text }: { id: string; text: string },
): Promise<ContextItemView> {
  const edited = await actors.context(account_id).edit_item({ item_id, text }, fences);
  return contextItemView(edited);
}

/** Deletes something that pipelines are told. */
export async function deleteContextItem(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id, fences }: Principal,
  item_id: string,
): Promise<void> {
  await actors.context(account_id).delete_item({ item_id }, fences);
}

function distinct(texts: string[]): string[] {
  return [...new Set(texts)];
}

function profileView({ revision, about, languages, vocabulary, time_zone, updated_at_ms }: Profile): ProfileView {
  return { revision, about, languages, vocabulary, time_zone, updated_at: momentOrNull(updated_at_ms) };
}

function contextItemView({ id, text, created_at_ms, updated_at_ms }: KeptItem): ContextItemView {
  const [created_at, updated_at] = [new Date(created_at_ms).toISOString(), new Date(updated_at_ms).toISOString()];
  return { id, text, created_at, updated_at };
}
