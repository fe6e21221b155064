import { countInWords, durationInWords, sizeInWords } from '../../../domain/limit_text.js';
import { LIMITS } from '../../../domain/limits.js';
/** The areas of the reference. A path belongs to the first area that has it, or whole segments of its start. */
export type Area = { name: string; introduction: string; prefixes: readonly string[] };

const AREAS: readonly Area[] = [
  {
    name: 'Sign-in and sessions',
    introduction:
      'An app of ours signs people in with a code that is mailed to them, and gets a session: an access token for an hour, and a refresh token that gets the next one.',
    prefixes: ['/auth/'],
  },
  {
    name: 'Personal access tokens',
    introduction: 'Tokens that people make for programs of their own. Their values are shown once.',
    prefixes: ['/me/tokens'],
  },
  {
    name: 'Export',
    introduction: `All of an account's data as one ZIP archive, made in the background and kept for ${durationInWords(LIMITS.export_kept_ms)}. For our own apps alone.`,
    prefixes: ['/me/exports'],
  },
  {
    name: 'Workspaces',
    introduction:
      'Every account has a private workspace. Shared ones have an owner, admins and members; who is invited accepts or declines.',
    prefixes: ['/workspaces', '/me/invitations'],
  },
  {
    name: 'Account',
    introduction: `The signed-in account and the apps that are connected to it. A deleted account can be restored for ${durationInWords(LIMITS.erase_after_ms)}; until then only signing out and restoring are possible.`,
    prefixes: ['/me'],
  },
  {
    name: 'Events and webhooks',
    introduction:
      'Everything that happens in an account becomes an event. Events are polled here, or posted to endpoints; see the webhook guide for how to receive them.',
    prefixes: ['/events', '/endpoints'],
  },
  {
    name: 'Devices and recorder sessions',
    introduction:
      'A personal device is bound to an account by an owner claim. A shared recorder records for whoever hosts a session on it.',
    prefixes: ['/devices', '/device-sessions'],
  },
  {
    name: 'Sources and streams',
    introduction:
      'A stream is the timeline of a recording; it belongs to a source, and its audio comes in chunks. Signals say what happened on the timeline. All times in it are milliseconds from its start.',
    prefixes: ['/sources', '/audio/'],
  },
  {
    name: 'Turns',
    introduction:
      'What was said, by whom and when: each turn of a transcript by its own id, as people read and correct it. Whole transcripts are read with their stream.',
    prefixes: ['/turns'],
  },
  {
    name: 'Contacts',
    introduction:
      'The people that recordings hear: named by the account, or recognised by their voice and named later. Turns show them; a contact that is renamed, merged or deleted shows so in all of its turns.',
    prefixes: ['/contacts'],
  },
  {
    name: 'Conversations, memories, suggestions',
    introduction:
      'What is made of turns. Each says on which spans of a recording it rests; the words there are looked up when it is read, for whoever may read turns.',
    prefixes: ['/conversations', '/memories', '/suggestions', '/days'],
  },
  {
    name: 'Search and recall',
    introduction:
      'Finding what was said, and what was made of it: by words, or for an assistant that looks for what bears an answer. Both need turns:read and insights:read together, or recall:read. See the search guide.',
    prefixes: ['/search', '/recall'],
  },
  {
    name: 'Pipelines and profile',
    introduction:
      'How recordings are read, and what is to be known of the person who records. Every account has one pipeline from the start; those beside it are for accounts with developer access.',
    prefixes: ['/pipelines', '/profile'],
  },
  {
    name: 'Files',
    introduction: `What people keep here beside recordings: up to ${countInWords(LIMITS.files_per_account_max)} files and ${sizeInWords(LIMITS.file_bytes_per_account_max)} of an account, for itself alone. They are only ever given out to be saved.`,
    prefixes: ['/files'],
  },
  {
    name: 'Diagnostics',
    introduction:
      'What became of recordings on the server, for developers who look for a fault. It needs developer access; no text is in it.',
    prefixes: ['/debug'],
  },
  {
    name: 'OAuth',
    introduction:
      'How other apps get tokens: the authorization code flow with PKCE (S256), dynamic registration, introspection and revocation. Errors are those of RFC 6749, without the envelope.',
    prefixes: ['/.well-known/', '/oauth/'],
  },
  {
    name: 'MCP',
    introduction: 'What assistants read with: a server of the Model Context Protocol.',
    prefixes: ['/mcp'],
  },
  {
    name: 'API documents',
    introduction: 'This reference for programs, as OpenAPI 3.1.',
    prefixes: ['/openapi.json', '/openapi/'],
  },
  {
    name: 'Certificates and bindings',
    introduction:
      'A device shows a certificate with every request. By redeeming a claim it is bound to an account, and records for it from then on.',
    prefixes: ['/device/certificates', '/device/claims', '/device/binding', '/device/heartbeat', '/device/session'],
  },
  {
    name: 'Recording',
    introduction:
      'A device registers streams under references of its own, announces chunks, uploads them, and says where a stream ends. Every call may be repeated; the same again gets the same answer.',
    prefixes: ['/device/'],
  },
  {
    name: 'Processing',
    introduction:
      'How workers of a pipeline process stored chunks. A result counts once, from whoever had the chunk last.',
    prefixes: ['/ops/chunks'],
  },
  {
    name: 'OAuth clients',
    introduction: 'Clients as staff see and change them.',
    prefixes: ['/ops/clients'],
  },
  {
    name: 'Accounts and grants',
    introduction: 'What staff may do with accounts: see how they stand, switch entitlements, export them, end grants.',
    prefixes: ['/ops/accounts', '/ops/grants', '/ops/erasures', '/ops/exports', '/ops/workspaces'],
  },
  {
    name: 'Device certificates',
    introduction: 'Provisioning and revoking devices, and proxies that pass their certificates on.',
    prefixes: ['/ops/devices', '/ops/device-proxies'],
  },
  {
    name: 'The process',
    introduction: 'Health, metrics, and what is out of the ordinary in this process.',
    prefixes: ['/'],
  },
];

/** As it stands in addresses. */
export function areaId(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** The areas of the rows that the reference shows, in order. */
export function areasOf(rows: readonly { path: string; summary?: string }[]): Area[] {
  const shown = new Set(rows.flatMap(({ path, summary }) => (summary === undefined ? [] : [areaOf(path)])));
  return AREAS.filter((area) => shown.has(area));
}

export function areaOf(path: string): Area {
  const area = AREAS.find(({ prefixes }) => prefixes.some((prefix) => lies(path, prefix)));
  if (area === undefined) throw new Error(`no area of the reference holds ${path}`);
  return area;
}

function lies(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}
