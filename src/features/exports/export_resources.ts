import { listCursor, type Page, type PageQuery } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import type { Layer, Permission } from '../../domain/permissions.js';
import { readAccount } from '../accounts/account.js';
import { listFiles, READS_FILES } from '../accounts/files.js';
import { listTokens } from '../accounts/personal_access_tokens.js';
import { listDevices, MANAGES_DEVICES } from '../devices/devices.js';
import { listDeviceSessions } from '../devices/recorder_sessions.js';
import { calendarAddress } from '../due/calendar_address.js';
import { dueMailSettings } from '../due/due_mail_settings.js';
import { listPipelines } from '../insights/context/pipelines.js';
import { listContextItems, listProfileRevisions, readProfile } from '../insights/context/profile.js';
import { listConversationRevisions, listConversations } from '../insights/reading/conversations.js';
import { listMemories, listMemoryRevisions } from '../insights/reading/memories.js';
import { listFeedback, listSuggestionRevisions, listSuggestions } from '../insights/reading/suggestions.js';
import { listLinks } from '../links/share_links.js';
import { listConnections } from '../oauth/connections.js';
import { omiAddress } from '../omi/omi_address.js';
import { listChunks } from '../recordings/chunks.js';
import { listSignals, READS_SIGNALS, type SignalView } from '../recordings/signals.js';
import { listSources } from '../recordings/sources.js';
import { READS_STREAMS } from '../recordings/stream_access.js';
import { listTaggedStreams } from '../recordings/stream_tags.js';
import { recallSettings } from '../search/questions/recall_settings.js';
import type { FeatureServices } from '../services.js';
import { listContacts } from '../transcripts/contacts.js';
import type { TranscriberShown } from '../transcripts/engines/choose_engine.js';
import { readTranscript } from '../transcripts/transcript_summary.js';
import { listTurns } from '../transcripts/turn_lists.js';
import { listEndpoints } from '../webhooks/endpoints.js';
import { listEvents } from '../webhooks/events.js';
import { listInvitations } from '../workspaces/invitations.js';
import { listWorkspaces } from '../workspaces/workspaces.js';

export type Item = Readonly<Record<string, unknown>>;

/** The query for a page of a resource. `id`: the item of `of`. `cursor`: from the page before. */
type ResourceQuery = { id: string; limit: number; cursor: string | undefined };

/** The services with which resources are read. */
export type ReadingServices = FeatureServices & { transcriber: TranscriberShown };

type ResourceRow = {
  name: string;
  /** The route that lists the same data; `:id` is the id of an item of `of`. */
  path: string;
  /** The account must have one of these. */
  permission: readonly Permission[];
  /** The resource's layer, if its permission does not tell it. */
  layer?: Layer;
  /**
   * Makes one list for each item of another resource. The item's id is put before the members of each line, under this
   * name.
   */
  of?: { name: string; as: string; where?: (item: Item) => boolean };
  /**
   * Listed by the last change: an item that changes during the reading moves to a part of the list that was read
   * already.
   */
  moves?: true;
  /** Read with the account's own rights, since the resource states them. */
  says_rights?: true;
  /** Members that are secrets. */
  secret?: readonly string[];
};

/** A resource that is a list. */
export type ListedResource = ResourceRow & {
  list: (services: ReadingServices, who: Principal, query: ResourceQuery) => Promise<Page<Item>>;
};
/** A resource that is one document. */
export type SingleResource = ResourceRow & {
  read: (services: ReadingServices, who: Principal, of: { id: string }) => Promise<Item>;
};

/** A resource in an export of an account: a file of JSON lines in the shapes of the route that lists it. */
export type Resource = ListedResource | SingleResource;

const has_revisions = ({ revision }: Item) => Number(revision) > 1;
const has_feedback = ({ feedback }: Item) =>
  Object.values(feedback as Record<string, number>).some((given) => given > 0);

const OF_STREAM = { name: 'streams', as: 'stream_id' };
const ACCOUNT = ['account:manage'] as const;
const WORKSPACES = ['workspace:read'] as const;
const TURNS = ['turns:read'] as const;
const SUGGESTIONS = ['insights:read'] as const;
/** The same for conversations and memories, which only developers read directly. */
const INSIGHTS = { permission: ['debug:read'], layer: 'insights.access' } as const;
const PROFILE = ['profile:read'] as const;

export const RESOURCES: readonly Resource[] = [
  { name: 'account', path: '/me', permission: ACCOUNT, says_rights: true, read: async (_, who) => readAccount(who) },
  {
    name: 'workspaces',
    path: '/workspaces',
    permission: WORKSPACES,
    list: listed(async (_, who, page) => listWorkspaces(who, page)),
  },
  {
    name: 'invitations',
    path: '/me/invitations',
    permission: WORKSPACES,
    list: listed((services, who, page) => listInvitations(services, { ...page, email: who.account.email })),
  },
  { name: 'connections', path: '/me/connections', permission: ACCOUNT, list: listed(listConnections) },
  { name: 'tokens', path: '/me/tokens', permission: ACCOUNT, list: listed(listTokens) },
  { name: 'links', path: '/me/links', permission: ACCOUNT, list: listed(listLinks), secret: ['url'] },
  { name: 'endpoints', path: '/endpoints', permission: ['endpoints:manage'], list: listEndpoints },
  { name: 'devices', path: '/devices', permission: MANAGES_DEVICES, list: listed(listDevices) },
  {
    name: 'sessions',
    path: '/device-sessions',
    permission: MANAGES_DEVICES,
    list: listed(listDeviceSessions),
    secret: ['join_code'],
  },
  { name: 'sources', path: '/sources', permission: READS_STREAMS, list: listed(listSources) },
  { name: 'streams', path: '/audio/streams', permission: READS_STREAMS, list: listed(listTaggedStreams) },
  {
    name: 'chunks',
    path: '/audio/streams/:id/chunks',
    permission: READS_STREAMS,
    of: OF_STREAM,
    list: listed((services, who, { id: stream_id, ...page }) => listChunks(services, who, { stream_id, ...page })),
  },
  {
    name: 'signals',
    path: '/audio/streams/:id/signals',
    permission: READS_SIGNALS,
    of: OF_STREAM,
    list: listed(signalsOf),
  },
  {
    name: 'transcripts',
    path: '/audio/streams/:id/transcript',
    permission: TURNS,
    of: OF_STREAM,
    read: (services, who, { id: stream_id }) => readTranscript(services, who, { stream_id }),
  },
  { name: 'turns', path: '/turns', permission: TURNS, list: listed(listTurns) },
  { name: 'contacts', path: '/contacts', permission: TURNS, list: listed(listContacts) },
  { name: 'conversations', path: '/conversations', ...INSIGHTS, moves: true, list: listed(listConversations) },
  {
    name: 'conversation_revisions',
    path: '/conversations/:id/revisions',
    ...INSIGHTS,
    of: { name: 'conversations', as: 'conversation_id', where: has_revisions },
    list: listed(listConversationRevisions),
  },
  { name: 'memories', path: '/memories', ...INSIGHTS, moves: true, list: listed(listMemories) },
  {
    name: 'memory_revisions',
    path: '/memories/:id/revisions',
    ...INSIGHTS,
    of: { name: 'memories', as: 'memory_id', where: has_revisions },
    list: listed(listMemoryRevisions),
  },
  { name: 'suggestions', path: '/suggestions', permission: SUGGESTIONS, moves: true, list: listed(listSuggestions) },
  {
    name: 'suggestion_revisions',
    path: '/suggestions/:id/revisions',
    permission: SUGGESTIONS,
    of: { name: 'suggestions', as: 'suggestion_id', where: has_revisions },
    list: listed(listSuggestionRevisions),
  },
  {
    name: 'suggestion_feedback',
    path: '/suggestions/:id/feedback',
    permission: SUGGESTIONS,
    of: { name: 'suggestions', as: 'suggestion_id', where: has_feedback },
    list: listed(listFeedback),
  },
  {
    name: 'calendar_address',
    path: '/me/calendar',
    permission: ACCOUNT,
    read: async (_, who) => calendarAddress(who),
  },
  {
    name: 'omi_address',
    path: '/me/omi',
    permission: ACCOUNT,
    read: async (_, who) => omiAddress(who),
  },
  {
    name: 'due_mail',
    path: '/me/due-mail',
    permission: ACCOUNT,
    read: async (_, who) => dueMailSettings(who),
  },
  {
    name: 'recall_settings',
    path: '/recall/settings',
    permission: ACCOUNT,
    read: async (_, who) => recallSettings(who),
  },
  { name: 'profile', path: '/profile', permission: PROFILE, read: readProfile },
  { name: 'profile_revisions', path: '/profile/revisions', permission: PROFILE, list: listed(listProfileRevisions) },
  {
    name: 'context_items',
    path: '/profile/context',
    permission: PROFILE,
    list: async (services, who) => ({ ...(await listContextItems(services, who)), cursor: null }),
  },
  {
    name: 'pipelines',
    path: '/pipelines',
    permission: ['pipelines:read', 'pipelines:experimental'],
    list: listed(listPipelines),
  },
  { name: 'files', path: '/files', permission: READS_FILES, list: listed(listFiles) },
  { name: 'events', path: '/events', permission: TURNS, list: listEvents },
];

/** A use case that continues after a position. */
function listed(
  list: (services: ReadingServices, who: Principal, query: PageQuery & { id: string }) => Promise<Page<Item>>,
): ListedResource['list'] {
  return (services, who, { cursor, ...query }) => list(services, who, { ...query, cursor: listCursor.parse(cursor) });
}

async function signalsOf(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id: stream_id, limit, cursor }: PageQuery & { id: string },
) {
  const page = await listSignals(services, who, { stream_id, limit, cursor });
  return { items: page.items.map(signalItem), cursor: page.cursor };
}

function signalItem({ payload_text, ...signal }: SignalView): Item {
  return { ...signal, payload: payload_text === null ? null : JSON.parse(payload_text) };
}

/** Resources that routes list and no export holds, with the reason. */
export const LEFT_OUT: readonly { path: string; why: string }[] = [
  { path: '/workspaces/:id/members', why: "These are other people's names and addresses." },
  { path: '/workspaces/:id/invitations', why: "These are other people's addresses." },
  { path: '/endpoints/:id/deliveries', why: 'What was delivered are the events, which are here.' },
  {
    path: '/device-sessions/:id/summary',
    why: 'It is made of conversations, memories and suggestions, which are here.',
  },
  {
    path: '/audio/streams/:id/summary',
    why: 'It is made of conversations and suggestions, which are here.',
  },
  { path: '/audio/streams/:id/related', why: 'It is made of turns, which are here.' },
  { path: '/contacts/:id/spoken', why: 'It is counted in turns, which are here.' },
  { path: '/days/:date', why: 'It is made of recordings and suggestions, which are here.' },
  { path: '/audio/streams/:id/live', why: 'It is made of turns, which are here; nothing keeps its preliminary lines.' },
  { path: '/audio/streams/:id/transcript/text', why: 'It is made of turns, which are here.' },
  { path: '/audio/streams/:id/content', why: 'It is made of chunks, which are here where audio was asked for.' },
  { path: '/audio/streams/:id/waveform', why: 'It is made of chunks as well.' },
  { path: '/audio/imports', why: 'What was imported are recordings, which are here.' },
  { path: '/debug/streams/:id/runs', why: 'How the server works is no data of the account.' },
  { path: '/search', why: 'It finds what is here.' },
  { path: '/me/exports', why: 'An export does not hold exports.' },
];

/** The same for data that no route lists. */
export const LEFT_OUT_BESIDE: readonly { what: string; why: string }[] = [
  {
    what: 'What pipelines beside the default one have made.',
    why: 'These are trials; the default pipeline has read the same recordings.',
  },
  {
    what: "Other people's recordings in shared workspaces, and what was made of them.",
    why: 'They belong to whoever recorded them.',
  },
  { what: 'Secrets: tokens, signing secrets, join codes.', why: 'They are kept only where they are used.' },
];
