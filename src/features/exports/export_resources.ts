import type { Page, PageQuery } from '../../access/cursors.js';
import type { Principal } from '../../access/principal.js';
import type { Layer, Permission } from '../../domain/permissions.js';
import { listFiles, READS_FILES } from '../accounts/files.js';
import { listDevices, MANAGES_DEVICES } from '../devices/devices.js';
import { listDeviceSessions } from '../devices/recorder_sessions.js';
import { listChunks } from '../recordings/chunks.js';
import { listSignals, READS_SIGNALS, type SignalView } from '../recordings/signals.js';
import { listSources } from '../recordings/sources.js';
import { READS_STREAMS } from '../recordings/stream_access.js';
import { listStreams } from '../recordings/streams.js';
import type { FeatureServices } from '../services.js';

export type Item = Readonly<Record<string, unknown>>;

type ResourceQuery = PageQuery & { id: string };

/** A resource in an export of an account: a file of JSON lines in the shapes of the route that lists it. */
export type Resource = {
  name: string;
  /** The route; `:id` is that of an item of `of`. */
  path: string;
  /** The account must have one of these. Where absent, the row of the route says so, and reads the resource. */
  permission?: readonly Permission[];
  /** Its layer, where no permission says that. */
  layer?: Layer;
  /** Reads a page of it; `id`: of the item of `of`. */
  list?: (services: FeatureServices, who: Principal, query: ResourceQuery) => Promise<Page<Item>>;
  /** It is one document and no list. */
  single?: true;
  /** One list for each item of another resource. The item's id goes before what its lines have, under this name. */
  of?: { name: string; as: string; where?: (item: Item) => boolean };
  /** Listed by the last change: what changes while it is read moves to where the list was read already. */
  moves?: true;
  /** Read with the account's own rights, since it says which those are. */
  says_rights?: true;
  /** Members that are worth something to whoever holds them. */
  secret?: readonly string[];
};

const has_revisions = ({ revision }: Item) => Number(revision) > 1;
const has_feedback = ({ feedback }: Item) =>
  Object.values(feedback as Record<string, number>).some((given) => given > 0);

const OF_STREAM = { name: 'streams', as: 'stream_id' };

export const RESOURCES: readonly Resource[] = [
  { name: 'account', path: '/me', single: true, says_rights: true },
  { name: 'workspaces', path: '/workspaces' },
  { name: 'invitations', path: '/me/invitations' },
  { name: 'connections', path: '/me/connections' },
  { name: 'tokens', path: '/me/tokens' },
  { name: 'endpoints', path: '/endpoints' },
  { name: 'devices', path: '/devices', permission: MANAGES_DEVICES, list: listDevices },
  {
    name: 'sessions',
    path: '/device-sessions',
    permission: MANAGES_DEVICES,
    list: listDeviceSessions,
    secret: ['join_code'],
  },
  { name: 'sources', path: '/sources', permission: READS_STREAMS, list: listSources },
  { name: 'streams', path: '/audio/streams', permission: READS_STREAMS, list: listStreams },
  { name: 'chunks', path: '/audio/streams/:id/chunks', permission: READS_STREAMS, list: chunksOf, of: OF_STREAM },
  { name: 'signals', path: '/audio/streams/:id/signals', permission: READS_SIGNALS, list: signalsOf, of: OF_STREAM },
  { name: 'transcripts', path: '/audio/streams/:id/transcript', single: true, of: OF_STREAM },
  { name: 'turns', path: '/turns' },
  { name: 'contacts', path: '/contacts' },
  { name: 'conversations', path: '/conversations', moves: true },
  {
    name: 'conversation_revisions',
    path: '/conversations/:id/revisions',
    of: { name: 'conversations', as: 'conversation_id', where: has_revisions },
  },
  { name: 'memories', path: '/memories', moves: true },
  {
    name: 'memory_revisions',
    path: '/memories/:id/revisions',
    of: { name: 'memories', as: 'memory_id', where: has_revisions },
  },
  { name: 'suggestions', path: '/suggestions', moves: true },
  {
    name: 'suggestion_revisions',
    path: '/suggestions/:id/revisions',
    of: { name: 'suggestions', as: 'suggestion_id', where: has_revisions },
  },
  {
    name: 'suggestion_feedback',
    path: '/suggestions/:id/feedback',
    of: { name: 'suggestions', as: 'suggestion_id', where: has_feedback },
  },
  { name: 'profile', path: '/profile', single: true },
  { name: 'profile_revisions', path: '/profile/revisions' },
  { name: 'context_items', path: '/profile/context' },
  { name: 'pipelines', path: '/pipelines' },
  { name: 'files', path: '/files', permission: READS_FILES, list: listFiles },
  { name: 'events', path: '/events' },
];

function chunksOf(
  services: Pick<FeatureServices, 'actors' | 'clock'>,
  who: Principal,
  { id: stream_id, limit, cursor }: ResourceQuery,
) {
  return listChunks(services, who, { stream_id, limit, cursor });
}

async function signalsOf(
  services: Pick<FeatureServices, 'actors'>,
  who: Principal,
  { id: stream_id, limit, cursor }: ResourceQuery,
) {
  const page = await listSignals(services, who, { stream_id, limit, cursor });
  return { items: page.items.map(signalItem), cursor: page.cursor };
}

function signalItem({ payload_text, ...signal }: SignalView): Item {
  return { ...signal, payload: payload_text === null ? null : JSON.parse(payload_text) };
}

/** Resources that routes list and no export holds, and why. */
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
  { path: '/days/:date', why: 'It is made of recordings and suggestions, which are here.' },
  { path: '/audio/streams/:id/live', why: 'It is made of turns, which are here; nothing keeps its preliminary lines.' },
  { path: '/audio/streams/:id/transcript/text', why: 'It is made of turns, which are here.' },
  { path: '/audio/streams/:id/content', why: 'It is made of chunks, which are here where audio was asked for.' },
  { path: '/audio/imports', why: 'What was imported are recordings, which are here.' },
  { path: '/debug/streams/:id/runs', why: 'How the server works is no data of the account.' },
  { path: '/search', why: 'It finds what is here.' },
  { path: '/me/exports', why: 'An export does not hold exports.' },
];

/** The same of what no route of its own lists. */
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
