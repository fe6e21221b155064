import { z } from 'zod';
import { livingLinks } from '../../../actors/accounts/account_links.js';
import type { LivingLink } from '../../../actors/accounts/account_state.js';
import { LINK_PARTS, type LinkPart, type ShareLink } from '../../../actors/accounts/share_link.js';
import { type Page, type PageQuery, pageOfAll } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import { count, id, moment, momentOrNull } from '../../access/response_schemas.js';
import { partitionOfId } from '../../domain/ids.js';
import type { Permission } from '../../domain/permissions.js';
import { isRefused, orNull, Refused, refuse } from '../../domain/refusals.js';
import { randomId } from '../../engine/random/random.js';
import type { ServerKeys } from '../../engine/secrets/server_keys.js';
import { deriveToken, randomSeed } from '../../engine/secrets/tokens.js';
import { withDetails } from '../insights/reading/stream_titles.js';
import { writableStream } from '../recordings/stream_access.js';
import { viewStream } from '../recordings/streams.js';
import type { FeatureServices } from '../services.js';

/** Links by which whoever holds one reads one recording. docs/choices.md, "Links to recordings". */

const DAY_MS = 24 * 60 * 60_000;

/** The permission that an account must hold for a link to show a part. */
export const PART_NEEDS: Record<LinkPart, Permission> = { summary: 'insights:read', audio: 'audio:read' };

export const shareLinkShape = z
  .strictObject({
    id,
    stream_id: id.describe('The recording that it shows.'),
    title: z.string().nullable().describe("The recording's title, its own or suggested."),
    shows: z.array(z.enum(LINK_PARTS)).describe('What it shows beside the text.'),
    url: z.string().nullable().describe('Its address; null where the server key that it rests on is gone.'),
    created_at: moment,
    expires_at: moment.describe('When it ends.'),
    opened: count.describe('How often its page was opened.'),
    last_opened_at: moment.nullable().describe('Null while it never was.'),
  })
  .meta({ id: 'ShareLink' });

type ShareLinkView = z.infer<typeof shareLinkShape>;
type LinkDeps = Pick<FeatureServices, 'actors' | 'addresses' | 'clock' | 'keys' | 'runtime'>;

/** Makes a link to a recording of the caller. */
export async function createLink(
  services: LinkDeps,
  who: Principal,
  { stream_id, shows, days }: { stream_id: string; shows: readonly LinkPart[]; days: number },
): Promise<ShareLinkView> {
  const { actors, clock, keys } = services;
  const missing = shows.map((part) => PART_NEEDS[part]).filter((needed) => !who.permissions.includes(needed));
  if (missing.length > 0) throw new Refused(refuse('FORBIDDEN', `You do not hold ${missing.join(', ')} yourself.`));
  await writableStream(services, who, stream_id);
  const created_at_ms = clock.now();
  const link_id = randomId({ partition: partitionOfId(who.account_id), now_ms: created_at_ms });
  const expires_at_ms = created_at_ms + days * DAY_MS;
  const parts = LINK_PARTS.filter((part) => shows.includes(part));
  const link = { stream_id, shows: parts, created_at_ms, expires_at_ms, ...randomSeed(keys) };
  const account = actors.downstream.account(who.account_id);
  try {
    await account.add_link({ link_id, link }, who.fences);
  } catch (error) {
    // Links to recordings that are gone count no more.
    const gone = isRefused(error, 'CONFLICT') ? await linksToNothing(services, who) : [];
    if (gone.length === 0) throw error;
    await account.end_links({ link_ids: gone }, who.fences);
    await account.add_link({ link_id, link }, who.fences);
  }
  const made = { ...link, account_id: who.account_id, opened: 0, last_opened_at_ms: null };
  return viewLink(services, { id: link_id, link: made, title: await titleOf(services, who, stream_id) });
}

/** A page of the links that have not ended, newest first. Those of a recording that is gone are left out. */
export async function listLinks(
  services: LinkDeps,
  who: Principal,
  { stream_id, ...query }: PageQuery & { stream_id?: string | undefined },
): Promise<Page<ShareLinkView>> {
  const living = livingLinks(who.account, services.clock.now()).toReversed();
  const wanted = living.filter((link) => stream_id === undefined || link.stream_id === stream_id);
  const page = pageOfAll(wanted, { ...query, idOf: ({ id }) => id });
  const found = await Promise.all(page.rows.map((row) => foundLink(services, who, row)));
  return { items: found.flatMap((link) => link ?? []), cursor: page.cursor };
}

/** Ends a link at once. */
export async function endLink({ actors }: Pick<FeatureServices, 'actors'>, who: Principal, link_id: string) {
  return actors.downstream.account(who.account_id).end_links({ link_ids: [link_id] }, who.fences);
}

async function foundLink(services: LinkDeps, who: Principal, { id, stream_id }: LivingLink) {
  const link = await orNull(services.actors.shareLink(id).view(), 'NOT_FOUND');
  if (link === null || !(await isThere(services, who, stream_id))) return null;
  return viewLink(services, { id, link, title: await titleOf(services, who, stream_id) });
}

async function linksToNothing(services: LinkDeps, who: Principal): Promise<string[]> {
  const living = livingLinks(who.account, services.clock.now());
  const there = await Promise.all(living.map(({ stream_id }) => isThere(services, who, stream_id)));
  return living.filter((_, at) => there[at] === false).map(({ id }) => id);
}

async function isThere(services: LinkDeps, who: Principal, stream_id: string): Promise<boolean> {
  return (await orNull(writableStream(services, who, stream_id), 'NOT_FOUND')) !== null;
}

async function titleOf(services: LinkDeps, who: Principal, stream_id: string): Promise<string | null> {
  const stream = await viewStream(services, who, stream_id);
  const [detailed] = await withDetails(services, who, [stream], ['title_suggested']);
  return stream.title ?? detailed?.title_suggested ?? null;
}

function viewLink(
  { addresses, keys }: Pick<LinkDeps, 'addresses' | 'keys'>,
  { id, link, title }: { id: string; link: ShareLink; title: string | null },
): ShareLinkView {
  const { stream_id, shows, created_at_ms, expires_at_ms, opened, last_opened_at_ms } = link;
  const secret = secretOf(keys, id, link);
  return {
    ...{ id, stream_id, title, shows: [...shows] },
    url: secret === null ? null : `${addresses().base_url}/shared/${secret}`,
    created_at: new Date(created_at_ms).toISOString(),
    expires_at: new Date(expires_at_ms).toISOString(),
    opened,
    last_opened_at: momentOrNull(last_opened_at_ms),
  };
}

function secretOf(keys: ServerKeys, id: string, { key_id, seed }: ShareLink): string | null {
  if (!keys.keyIds().includes(key_id)) return null;
  return deriveToken(keys, 'share_link', { id, counter: 0, key_id, seed });
}
