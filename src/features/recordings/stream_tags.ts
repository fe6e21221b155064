import { z } from 'zod';
import type { Page } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { trimmedText } from '../../access/request_schemas.js';
import { LIMITS } from '../../domain/limits.js';
import { orNull } from '../../domain/refusals.js';
import type { FeatureServices } from '../services.js';
import { listStreams, type StreamQuery, type StreamView } from './streams.js';

/** Stars and tags of recordings, which their owner alone sees. Rules K-310 to K-313. */

const CHARS_RULE = `must be 1 to ${LIMITS.stream_tag_chars_max} characters after trimming`;
const TAGS_RULE = `must be a list of at most ${LIMITS.stream_tags_max} tags`;

/** A tag in its composed form, so that the same letters are one tag however they were typed. */
export const streamTag = z
  .string(CHARS_RULE)
  .transform((text) => text.normalize('NFC'))
  .pipe(trimmedText(LIMITS.stream_tag_chars_max))
  .meta({ type: 'string', minLength: 1, maxLength: LIMITS.stream_tag_chars_max });

/** Tags of one recording. Of those that differ in case alone the first stays. */
export const streamTags = z
  .array(streamTag, TAGS_RULE)
  .max(LIMITS.stream_tags_max, TAGS_RULE)
  .transform((tags) => {
    const folded = tags.map(foldedTag);
    return tags.filter((tag, at) => folded.indexOf(foldedTag(tag)) === at);
  });

/** Filters of a list: recordings of the caller with this tag, or with a star. */
export type MarkedQuery = { tag?: string | undefined; starred?: true | undefined };

/** Streams with the star and tags of the caller; nulls for those of others. */
export async function withTags(
  { actors }: Pick<FeatureServices, 'actors'>,
  { account_id }: Principal,
  streams: readonly StreamView[],
): Promise<StreamView[]> {
  const found = await Promise.all(streams.map(({ id }) => orNull(actors.stream(id).view(), 'NOT_FOUND')));
  return streams.map((stream, at) => {
    const own = found[at]?.account_id === account_id ? found[at] : null;
    if (own === null) return { ...stream, starred: null, tags: null };
    return { ...stream, starred: own.starred ?? false, tags: [...(own.tags ?? [])] };
  });
}

/** A page of streams, as `listStreams` gives it, with star and tags. */
export async function listTaggedStreams(
  services: Pick<FeatureServices, 'actors' | 'store'>,
  who: Principal,
  query: StreamQuery,
): Promise<Page<StreamView>> {
  const { items, cursor } = await listStreams(services, who, query);
  return { items: await withTags(services, who, items), cursor };
}

/** The streams with a star and a tag, where these are asked for. */
export async function markedStreams(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { tag, starred }: MarkedQuery,
  streams: readonly StreamView[],
): Promise<StreamView[]> {
  if (tag === undefined && starred === undefined) return [...streams];
  const wanted = tag === undefined ? null : foldedTag(tag);
  const tagged = await withTags(services, who, streams);
  return streams.filter((_, at) => {
    const { starred: has_star, tags } = tagged[at] ?? {};
    const has_tag = wanted === null || tags?.some((one) => foldedTag(one) === wanted) === true;
    return has_tag && (starred === undefined || has_star === true);
  });
}

function foldedTag(tag: string): string {
  return tag.toLowerCase().normalize('NFC');
}
