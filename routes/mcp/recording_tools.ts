import { z } from 'zod';
import { trimmedQuery, uuid } from '../../src/access/request_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import type { Tool } from '../../src/edge/mcp/tool.js';
import { listDevices, MANAGES_DEVICES } from '../../src/features/devices/devices.js';
import { listDeviceSessions } from '../../src/features/devices/recorder_sessions.js';
import { findStreams } from '../../src/features/insights/reading/stream_titles.js';
import { listSources } from '../../src/features/recordings/sources.js';
import { READS_STREAMS } from '../../src/features/recordings/stream_access.js';
import { tool } from '../rows.js';
import { listed, listShape } from './listing.js';
import { cursor, from, paging, to, workspace_id } from './tool_arguments.js';
import {
  deviceOf,
  deviceShape,
  sessionOf,
  sessionShape,
  sourceOf,
  sourceShape,
  streamOf,
  streamShape,
} from './views.js';

/** The page length of lists that are short for most accounts. */
const PAGE = LIMITS.list_limit_default;

/** Recordings, without their audio, and what records them. */
export const RECORDING_TOOLS: readonly Tool[] = [
  tool({
    name: 'list_streams',
    title: 'List recordings',
    description: 'Recordings, newest first. Next: get_transcript.',
    permission: READS_STREAMS,
    input: z
      .strictObject({
        ...paging,
        from,
        to,
        q: trimmedQuery(LIMITS.stream_title_chars_max).optional().describe('Part of a title.'),
        source_id: uuid.optional(),
        workspace_id,
      })
      .refine(({ source_id, workspace_id }) => source_id === undefined || workspace_id === undefined, {
        path: ['workspace_id'],
        message: 'must not be combined with source_id',
      }),
    example: { limit: 25 },
    output: listShape(streamShape),
    handler: ({ services, who }, input) =>
      listed(
        input.limit,
        (asked) => findStreams(services, who, { ...input, include: ['title_suggested'], limit: asked }),
        streamOf,
      ),
  }),

  tool({
    name: 'list_sources',
    title: 'List sources',
    description: 'Where recordings come from: devices and apps.',
    permission: READS_STREAMS,
    input: z.strictObject({ cursor }),
    example: {},
    output: listShape(sourceShape),
    handler: ({ services, who }, { cursor }) =>
      listed(PAGE, (limit) => listSources(services, who, { cursor, limit }), sourceOf),
  }),

  tool({
    name: 'list_devices',
    title: 'List devices',
    description: 'Recording devices.',
    permission: MANAGES_DEVICES,
    input: z.strictObject({ cursor }),
    example: {},
    output: listShape(deviceShape),
    handler: ({ services, who }, { cursor }) =>
      listed(PAGE, (limit) => listDevices(services, who, { cursor, limit }), deviceOf),
  }),

  tool({
    name: 'list_recorder_sessions',
    title: 'List recorder sessions',
    description: 'Meetings on shared recorders, newest first. Next: get_session_summary, where is_host.',
    permission: MANAGES_DEVICES,
    input: z.strictObject({ cursor }),
    example: {},
    output: listShape(sessionShape),
    handler: ({ services, who }, { cursor }) =>
      listed(
        PAGE,
        (limit) => listDeviceSessions(services, who, { cursor, limit }),
        (session) => sessionOf(session, who.account_id),
      ),
  }),
];
