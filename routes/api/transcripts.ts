import { z } from 'zod';
import { uuid } from '../../src/access/request_schemas.js';
import { selectedPipeline } from '../../src/features/transcripts/pipeline_access.js';
import { readTranscript, transcriptShape } from '../../src/features/transcripts/transcript_summary.js';
import { readTranscriptText, TEXT_FORMATS, TEXT_TYPES } from '../../src/features/transcripts/transcript_text.js';
import { assignSpeaker, mergeSpeakers } from '../../src/features/transcripts/turn_changes.js';
import { speakerName } from '../../src/features/transcripts/turn_shape.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** A stream's transcript as a whole, and who speaks in it. Rules K-005 and K-030. */

export const TRANSCRIPT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/transcript',
    params: { id: PARAMETERS.stream },
    summary: 'How far the transcript of a stream has come, and who speaks in it.',
    credential: 'account',
    permission: ['turns:read'],
    query: z.object({ pipeline_id: selectedPipeline }),
    answer: transcriptShape,
    handler: ({ services, who, params, query }) => readTranscript(services, who, { stream_id: params.id, ...query }),
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/transcript/text',
    params: { id: PARAMETERS.stream },
    summary: 'The transcript of a stream as text, Markdown or subtitles.',
    credential: 'account',
    permission: ['turns:read'],
    query: z.object({
      format: z
        .enum(TEXT_FORMATS, `must be one of ${TEXT_FORMATS.join(', ')}`)
        .default('txt')
        .describe('txt: a line a turn; md: Markdown, a paragraph a turn; srt and vtt: subtitles.'),
      pipeline_id: selectedPipeline,
    }),
    answer: 'text',
    refusals: ['CONFLICT'],
    async handler({ services, who, params, query, reply }) {
      const found = await readTranscriptText(services, who, { stream_id: params.id, ...query });
      reply.type(TEXT_TYPES[query.format]);
      reply.header('Content-Disposition', `attachment; filename="${found.file_name}"`);
      return reply.send(found.text);
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/audio/streams/:id/speakers/:speaker',
    params: { id: PARAMETERS.stream, speaker: PARAMETERS.speaker },
    summary: 'Says who a speaker is.',
    notes: 'All turns of that speaker show it at once, except where somebody said something of a turn alone.',
    credential: 'account',
    permission: ['turns:write'],
    body: z.object({ contact_id: uuid.nullable().describe('A contact; null for nobody known.') }),
    answer: transcriptShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    handler: ({ services, who, params, body }) =>
      assignSpeaker(services, who, { stream_id: params.id, speaker: params.speaker, ...body }),
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/speakers/:speaker/merge',
    params: { id: PARAMETERS.stream, speaker: PARAMETERS.speaker },
    summary: 'Says that a speaker is the same as another.',
    credential: 'account',
    permission: ['turns:write'],
    body: z.object({ into: speakerName.describe('The speaker whose turns they are from now on, such as S1.') }),
    example: { into: 'S1' },
    answer: transcriptShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    handler: ({ services, who, params, body }) =>
      mergeSpeakers(services, who, { stream_id: params.id, speaker: params.speaker, ...body }),
  }),
];
