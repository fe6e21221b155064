import { z } from 'zod';
import { eventShape } from '../../src/access/events.js';
import { eventTypeName, trimmedLines } from '../../src/access/request_schemas.js';
import { id, permission } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { fittingPage } from '../../src/edge/mcp/fitting_page.js';
import { ENDS, type Tool } from '../../src/edge/mcp/tool.js';
import { listPipelines } from '../../src/features/insights/context/pipelines.js';
import { PROFILE_FIELDS, profileShape, readProfile, saveProfile } from '../../src/features/insights/context/profile.js';
import { listEvents } from '../../src/features/webhooks/events.js';
import { tool } from '../rows.js';
import { listed, listShape } from './listing.js';
import { cursor, limit } from './tool_arguments.js';
import { pipelineOf, toolPipelineShape } from './views.js';

const whoShape = z.strictObject({
  account_id: id.describe('The account that it acts for.'),
  email: z.string().optional().describe('With account:manage alone.'),
  name: z.string().nullable().optional().describe('With account:manage alone; null until it is set.'),
  permissions: z.array(permission).describe('What it may do now.'),
  scopes: z.array(z.string()).optional().describe('As the client asked for them; none of a personal access token.'),
  client_id: z.string().optional().describe('The OAuth client; none of a personal access token.'),
});
const { revision, languages, vocabulary, time_zone } = PROFILE_FIELDS;

/** The account itself, what happened in it, and how its recordings are read. */
export const ACCOUNT_TOOLS: readonly Tool[] = [
  tool({
    name: 'who_am_i',
    title: 'Who am I',
    description: 'The account that this connection acts for, and what it may do.',
    input: z.strictObject({}),
    example: {},
    output: whoShape,
    async handler({ who: { account, permissions, client } }) {
      // A token does exactly what its scopes allow: who the person is takes the scope that reads the account.
      const person = permissions.includes('account:manage') ? { email: account.email, name: account.name } : {};
      return { account_id: account.id, ...person, permissions, scopes: client?.scopes, client_id: client?.client_id };
    },
  }),

  tool({
    name: 'list_events',
    title: 'List events',
    description: 'What changed in the account, newest first; with `after`, oldest first from there.',
    permission: ['turns:read'],
    input: z.strictObject({
      limit,
      type: eventTypeName.describe('Such as stream.created.').optional(),
      after: z.string().describe('"0", "latest" or a cursor.').optional(),
      cursor: z.string().optional(),
    }),
    example: { limit: 25, type: 'stream.created' },
    output: listShape(eventShape),
    handler: ({ services, who }, input) =>
      fittingPage(input.limit, (asked) => listEvents(services, who, { ...input, limit: asked })),
  }),

  tool({
    name: 'get_profile',
    title: 'Get the profile',
    description: 'What the person has told about themselves: about, languages, vocabulary.',
    permission: ['profile:read'],
    input: z.strictObject({}),
    example: {},
    output: profileShape,
    handler: ({ services, who }) => readProfile(services, who),
  }),
  tool({
    name: 'save_profile',
    title: 'Save the profile',
    description: 'Replaces all of it: get_profile first, and send everything that is to stay.',
    permission: ['profile:write'],
    does: ENDS,
    input: z.strictObject({
      revision: revision.describe('From get_profile.'),
      about: trimmedLines(LIMITS.profile_about_chars_max).optional(),
      languages: languages.describe('BCP 47 tags.'),
      vocabulary: vocabulary.describe('Names and words to spell like this.'),
      time_zone: time_zone.describe('IANA name.'),
    }),
    example: { revision: 3, about: 'I sell bikes.', languages: ['en'], vocabulary: ['Velotraum'] },
    output: profileShape,
    handler: ({ services, who }, { about = null, ...profile }) => saveProfile(services, who, { about, ...profile }),
  }),

  tool({
    name: 'list_pipelines',
    title: 'List pipelines',
    description: 'How recordings become text and suggestions.',
    permission: ['pipelines:read'],
    input: z.strictObject({ cursor }),
    example: {},
    output: listShape(toolPipelineShape),
    handler: ({ services, who }, input) =>
      listed(LIMITS.list_limit_default, (limit) => listPipelines(services, who, { ...input, limit }), pipelineOf),
  }),
];
