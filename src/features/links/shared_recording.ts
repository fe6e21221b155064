import { isOpen } from '../../../actors/accounts/account_state.js';
import type { ShareLink } from '../../../actors/accounts/share_link.js';
import { ownPrincipal, type Principal } from '../../access/principal.js';
import { isEnabled, permissionsOf } from '../../domain/permissions.js';
import { orNull, Refused, refuse } from '../../domain/refusals.js';
import { isGenuine, parseToken } from '../../engine/secrets/tokens.js';
import { clockOf } from '../accounts/account_clock.js';
import { streamSummary } from '../insights/reading/stream_summary.js';
import { withDetails } from '../insights/reading/stream_titles.js';
import { writableStream } from '../recordings/stream_access.js';
import { viewStream } from '../recordings/streams.js';
import type { FeatureServices } from '../services.js';
import { type SpokenTurn, type TranscriptHead, transcriptHead } from '../transcripts/transcript_markdown.js';
import { requestedTranscript } from '../transcripts/transcript_reading.js';
import { linesOf } from '../transcripts/transcript_text.js';
import { PART_NEEDS } from './share_links.js';

/** A recording as it is read by whoever holds a link to it. */

const TURNS_SHOWN = 1_000; // ours: of one page
const ENDED = refuse('NOT_FOUND', 'The link has ended, or there never was one.');

/** A link that is valid now. `reader`: the account of the recording, with the permissions for what the link shows. */
export type OpenedLink = { id: string; link: ShareLink; reader: Principal };

/**
 * The link behind the last part of an address. NOT_FOUND where it has ended: by its time, by its account, with sharing, or
 * with the recording.
 */
export async function openedLink(
  services: Pick<FeatureServices, 'actors' | 'keys'>,
  secret: string,
): Promise<OpenedLink> {
  const { actors, keys } = services;
  const parsed = parseToken('share_link', secret);
  if (parsed === null) throw new Refused(ENDED);
  const { id } = parsed;
  const link = await orNull(actors.shareLink(id).view(), 'NOT_FOUND');
  if (link === null || !isGenuine(keys, 'share_link', parsed, link)) throw new Refused(ENDED);
  const account = await actors.account(link.account_id).view();
  const stands =
    isOpen(account) &&
    account.links.some((living) => living.id === id) &&
    isEnabled(account.entitlements, 'workspace.sharing');
  const shown = ['turns:read', ...link.shows.map((part) => PART_NEEDS[part])];
  const permissions = permissionsOf(account.entitlements).filter((held) => shown.includes(held));
  if (!stands || !permissions.includes('turns:read')) throw new Refused(ENDED);
  const reader = ownPrincipal(account, permissions);
  if ((await orNull(writableStream(services, reader, link.stream_id), 'NOT_FOUND')) === null) throw new Refused(ENDED);
  return { id, link, reader };
}

/** A part of the recording. `summary`: empty without one. `part`: from 1 on. */
export type SharedRecording = {
  head: TranscriptHead;
  has_audio: boolean;
  summary: string[];
  turns: SpokenTurn[];
  part: number;
  parts: number;
};

type ReadingServices = Parameters<typeof streamSummary>[0] & Pick<FeatureServices, 'actors' | 'runtime'>;

export async function sharedRecording(
  services: ReadingServices,
  { link: { stream_id }, reader }: OpenedLink,
  wanted: number,
): Promise<SharedRecording> {
  const stream = await viewStream(services, reader, stream_id);
  const may = (permission: Principal['permissions'][number]) => reader.permissions.includes(permission);
  const summary = may('insights:read') ? await streamSummary(services, reader, stream_id) : null;
  const [detailed] = await withDetails(services, reader, [stream], ['title_suggested']);
  const lines = await orNull(linesShown(services, reader, stream_id), 'CONTENT_EXPIRED');
  const parts = Math.max(1, Math.ceil((lines?.length ?? 0) / TURNS_SHOWN));
  const part = Math.min(wanted, parts);
  const { captured_at, end_ms = null } = stream;
  const title = stream.title ?? detailed?.title_suggested ?? null;
  return {
    head: transcriptHead({ title, captured_at, end_ms }, await clockOf(services, reader.account_id, stream_id)),
    has_audio: may('audio:read') && stream.stored_chunks > 0,
    summary: (summary?.summary_sentences ?? []).map(({ text }) => text),
    turns: (lines ?? [])
      .slice((part - 1) * TURNS_SHOWN, part * TURNS_SHOWN)
      .map(({ turn: { start_ms, text }, name }) => ({ start_ms, name, text })),
    ...{ part, parts },
  };
}

async function linesShown(services: ReadingServices, reader: Principal, stream_id: string) {
  return linesOf(services, await requestedTranscript(services, reader, { stream_id }));
}
