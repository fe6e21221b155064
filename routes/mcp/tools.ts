import { z } from 'zod';
import type { Services } from '../../src/services.js';
import { LIMITS } from '../../src/vocabulary/limits.js';
import { PERMISSIONS, type Permission } from '../../src/vocabulary/permissions.js';
import type { Refusal } from '../../src/vocabulary/refusals.js';
import { listCursor } from '../cursors.js';
import { eventType, listEvents } from '../events.js';
import { whole } from '../forms.js';
import type { Principal } from '../principal.js';
import { listStreams, READS_STREAMS } from '../streams.js';

/** Who calls a tool. */
export type Caller = { services: Services; who: Principal; request_id: string };

/** One tool, as a row. What it gives goes to the client as it is, and as text. */
export type Tool = {
  name: string;
  title: string;
  description: string;
  /** The caller must hold one of these; nobody in particular when empty. Others are not told of the tool. */
  permissions: readonly Permission[];
  input: z.ZodType;
  handler: (caller: Caller, input: never) => Promise<Record<string, unknown> | Refusal>;
};

const list_limit = whole({ min: 1, max: LIMITS.list_limit_max })
  .default(LIMITS.list_limit_default)
  .meta({ type: 'integer', minimum: 1, maximum: LIMITS.list_limit_max, description: 'How many to give at most.' });
const list_cursor = listCursor.describe('Where to go on: the cursor of the page before.');

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'who_am_i',
    title: 'Who am I',
    description:
      'The account that this connection acts for, what it may do, and the scopes it was granted. Email and name only with account:manage.',
    permissions: [],
    input: z.strictObject({}),
    async handler({ who: { account, permissions, client } }) {
      // A token does exactly what its scopes allow: who the person is takes the scope that reads the account.
      const person = permissions.includes('account:manage') ? { email: account.email, name: account.name } : {};
      return { account_id: account.id, ...person, permissions, scopes: client?.scopes, client_id: client?.client_id };
    },
  }),

  tool({
    name: 'list_events',
    title: 'List account events',
    description:
      'What happened in the account. Newest first, on with `cursor`; or oldest first from `after` on, which takes "0", "latest" or the cursor of such a page.',
    permissions: ['turns:read'],
    input: z.strictObject({
      limit: list_limit,
      type: eventType.describe('Only events of this type, such as stream.created.').optional(),
      after: z.string().describe('Forward: "0", "latest" or a cursor.').optional(),
      cursor: z.string().describe('Backward: the cursor of the page before.').optional(),
    }),
    handler: ({ services, who }, input) => listEvents(services, who.account_id, input),
  }),

  tool({
    name: 'list_streams',
    title: 'List audio streams',
    description: 'The recordings of the account, newest first, without their audio.',
    permissions: READS_STREAMS,
    input: z.strictObject({ limit: list_limit, cursor: list_cursor }),
    handler: ({ services, who }, input) => listStreams(services, who.account_id, input),
  }),
];

/** What tools make use of: these are the scopes that a client of the MCP server asks for. */
export const MCP_SCOPES: readonly Permission[] = PERMISSIONS.filter((permission) =>
  TOOLS.some(({ permissions }) => permissions.includes(permission)),
);

/** Whether the caller may use a tool. */
export function isAllowed({ permissions }: Tool, who: Pick<Principal, 'permissions'>): boolean {
  return permissions.length === 0 || permissions.some((wanted) => who.permissions.includes(wanted));
}

/** Keeps the input's own type for its handler. */
function tool<Input extends z.ZodType>(
  row: Omit<Tool, 'input' | 'handler'> & {
    input: Input;
    handler: (caller: Caller, input: z.output<Input>) => ReturnType<Tool['handler']>;
  },
): Tool {
  return row;
}
