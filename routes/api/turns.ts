import { z } from 'zod';
import { listCursor } from '../../src/access/cursors.js';
import { listLimit, timeInQuery, timestamp, uuid, whole } from '../../src/access/request_schemas.js';
import { no_cursor, pageShape } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { selectedPipeline } from '../../src/features/transcripts/pipeline_access.js';
import {
  speakerCount,
  tellSpeakers,
  toldSpeakersShape,
  undoSpeakers,
} from '../../src/features/transcripts/speaker_telling.js';
import { readTurn } from '../../src/features/transcripts/transcript_reading.js';
import { correctTurn, deleteTurn, splitTurn } from '../../src/features/transcripts/turn_changes.js';
import { checkScopes, listTurns } from '../../src/features/transcripts/turn_lists.js';
import { checkCorrection, correctedText, speakerName, turnShape } from '../../src/features/transcripts/turn_shape.js';
import { PARAMETERS } from '../path_parameters.js';
import { accountRoute, type Route } from '../rows.js';

/** Turns of transcripts. Rules K-004, K-005 and K-019. */

const listQuery = z
  .object({
    limit: listLimit,
    cursor: listCursor,
    stream_id: uuid.optional().describe('Turns of this stream, in the order of its timeline.'),
    source_id: uuid.optional().describe('Turns of recordings of this source.'),
    workspace_id: uuid.optional().describe('Turns of recordings in this workspace, whoever recorded them.'),
    contact_id: uuid.optional().describe('Turns that this contact said.'),
    pipeline_id: selectedPipeline.describe(
      'With stream_id: what this pipeline has heard itself; the default one when absent.',
    ),
    from: timestamp.optional().describe('Only turns that begin at this time or later.'),
    to: timestamp.optional().describe('Only turns that begin by then.'),
    from_ms: timeInQuery.describe('With stream_id: only turns that are not over before this, in ms.'),
    to_ms: timeInQuery.describe('With stream_id: only turns that begin by then, in ms.'),
  })
  .superRefine(checkScopes);

export const TURN_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/turns',
    summary: 'What was said: in one stream in its order, or in many with the newest first.',
    notes:
      'Of many streams the newest comes first, and in it the newest turn. A page may be short where few turns pass; the list is at its end when `cursor` is null.',
    credential: 'account',
    permission: ['turns:read'],
    query: listQuery,
    answer: pageShape(turnShape),
    refusals: ['NOT_FOUND'],
    handler: ({ services, who, query }) => listTurns(services, who, query),
  }),

  accountRoute({
    method: 'POST',
    path: '/turns/speakers',
    summary: 'Tells the speakers of a recording apart, by their number.',
    notes:
      'For a recording that has ended and whose turns have no speakers. Its turns get detected speakers, of which turn.updated tells; what people said of single turns stays. The same number again changes nothing.',
    credential: 'account',
    permission: ['turns:write'],
    status: 202,
    body: z.object({ stream_id: uuid.describe('The recording.'), count: speakerCount }),
    answer: toldSpeakersShape,
    refusals: ['NOT_FOUND', 'CONFLICT', 'CONTENT_EXPIRED'],
    handler: ({ services, who, body }) => tellSpeakers(services, who, body),
  }),

  accountRoute({
    method: 'POST',
    path: '/turns/speakers/undo',
    summary: 'Takes the speakers away that were told apart by their number.',
    notes: 'What people said of single turns stays. The same again changes nothing.',
    credential: 'account',
    permission: ['turns:write'],
    status: 202,
    body: z.object({ stream_id: uuid.describe('The recording.') }),
    answer: toldSpeakersShape,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handler: ({ services, who, body }) => undoSpeakers(services, who, body),
  }),

  accountRoute({
    method: 'GET',
    path: '/turns/:id',
    params: { id: PARAMETERS.turn },
    summary: 'A turn.',
    credential: 'account',
    permission: ['turns:read'],
    query: z.object({
      include: z.literal('words', 'must be words').optional().describe('words: each word with its time as well.'),
    }),
    answer: turnShape,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params, query }) =>
      readTurn(services, who, { turn_id: params.id, words: query.include !== undefined }),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/turns/:id',
    params: { id: PARAMETERS.turn },
    summary: 'Corrects who said a turn, or what.',
    notes:
      'It holds for this turn alone, and outlives every later transcription of the same stretch of audio. The same again changes nothing.',
    credential: 'account',
    permission: ['turns:write'],
    body: z
      .object({
        contact_id: uuid.nullable().optional().describe('A contact; null for nobody.'),
        speaker: speakerName.optional().describe('Another speaker of the stream, such as S2; not with contact_id.'),
        text: correctedText.optional().describe('What was said, in one line or several; null for what was heard.'),
      })
      .superRefine(checkCorrection),
    example: { text: 'Good morning, Mira.' },
    answer: turnShape,
    refusals: ['CONTENT_EXPIRED', 'CONFLICT'],
    handler: ({ services, who, params, body }) => correctTurn(services, who, params.id, body),
  }),

  accountRoute({
    method: 'POST',
    path: '/turns/:id/split',
    params: { id: PARAMETERS.turn },
    summary: 'Makes two turns of one.',
    notes:
      'Possible where the times of its words are known and its text was not corrected. Both outlive every later transcription.',
    credential: 'account',
    permission: ['turns:write'],
    body: z.object({
      at_ms: whole({ min: 0, max: LIMITS.transcript_pages_max * LIMITS.transcript_page_ms }).describe(
        "The second turn begins with the first word from here on, in ms on the stream's timeline.",
      ),
    }),
    answer: z.strictObject({ items: z.array(turnShape), cursor: no_cursor }),
    refusals: ['CONTENT_EXPIRED', 'CONFLICT'],
    async handler({ services, who, params, body }) {
      const items = await splitTurn(services, who, params.id, body);
      return { items, cursor: null };
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/turns/:id',
    params: { id: PARAMETERS.turn },
    summary: 'Deletes a turn.',
    notes: 'No later transcription brings it back.',
    credential: 'account',
    permission: ['turns:write'],
    status: 204,
    refusals: ['CONTENT_EXPIRED', 'CONFLICT'],
    handler: ({ services, who, params }) => deleteTurn(services, who, params.id),
  }),
];
