import { z } from 'zod';
import { speakerNumber } from '../../actors/transcripts/transcript_state.js';
import { listCursor } from '../../src/access/cursors.js';
import type { Principal } from '../../src/access/principal.js';
import { listLimit, timestamp, uuid, whole } from '../../src/access/request_schemas.js';
import { pageShape } from '../../src/access/response_schemas.js';
import { placeOfTurn } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { orNull, Refused, refuse, throwRefusal } from '../../src/domain/refusals.js';
import { sceneOfTurn, type TurnView, viewTurns } from '../../src/features/transcripts/transcript_reading.js';
import { TurnChanges } from '../../src/features/transcripts/turn_changes.js';
import {
  type TurnPage,
  type TurnsOfStreamQuery,
  type TurnsQuery,
  turnsOfMany,
  turnsOfStream,
} from '../../src/features/transcripts/turn_lists.js';
import { turnShape } from '../../src/features/transcripts/turn_shape.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';
import { ownSource } from './sources.js';
import { lane } from './suggestions.js';

/** What was said in recordings. Rules K-002, K-004 and K-005. */

/** Of which a list of turns takes one at most. */
const SCOPES = ['stream_id', 'source_id', 'workspace_id', 'contact_id'] as const;
const NO_TURN = refuse('NOT_FOUND', 'There is no such turn.');
const timeInQuery = z
  .string()
  .refine((text) => /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)), 'must be a whole number from 0')
  .transform(Number)
  .meta({ type: 'integer', minimum: 0 })
  .optional();

export const speakerId = z
  .string('must be the name of a speaker, such as S1')
  .refine((text) => speakerNumber(text) !== null, 'must be the name of a speaker, such as S1')
  .transform((text) => speakerNumber(text) as number)
  .meta({ pattern: '^S[1-9][0-9]{0,3}$' });

const listQuery = z
  .object({
    limit: listLimit,
    cursor: listCursor,
    stream_id: uuid.optional().describe('Turns of this stream, in the order of its timeline.'),
    source_id: uuid.optional().describe('Turns of recordings of this source.'),
    workspace_id: uuid.optional().describe('Turns of recordings in this workspace, whoever recorded them.'),
    contact_id: uuid.optional().describe('Turns that this contact said.'),
    pipeline_id: lane.describe('With stream_id: what this pipeline has heard itself; the default one when absent.'),
    from: timestamp.optional().describe('Only turns that begin at this time or later.'),
    to: timestamp.optional().describe('Only turns that begin by then.'),
    from_ms: timeInQuery.describe('With stream_id: only turns that are not over before this, in ms.'),
    to_ms: timeInQuery.describe('With stream_id: only turns that begin by then, in ms.'),
  })
  .superRefine(judgeScopes);

type Scopes = Partial<
  Record<(typeof SCOPES)[number] | 'from_ms' | 'to_ms' | 'pipeline_id' | 'from' | 'to', string | number | undefined>
>;

/** Which filters of a list of turns go together. */
export function judgeScopes(query: Scopes, context: z.RefinementCtx): void {
  const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  const scopes = SCOPES.filter((name) => query[name] !== undefined);
  if (scopes.length > 1) wrong(scopes[1] as string, `must not be combined with ${scopes[0]}`);
  for (const name of ['from_ms', 'to_ms', 'pipeline_id'] as const)
    if (query[name] !== undefined && query.stream_id === undefined) wrong(name, 'goes with stream_id only');
  for (const name of ['from', 'to'] as const)
    if (query[name] !== undefined && query.stream_id !== undefined)
      wrong(name, 'does not go with stream_id; use from_ms and to_ms');
}

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
    method: 'GET',
    path: '/turns/:id',
    summary: 'A turn.',
    credential: 'account',
    permission: ['turns:read'],
    query: z.object({
      include: z.literal('words', 'must be words').optional().describe('words: each word with its time as well.'),
    }),
    answer: turnShape,
    refusals: ['CONTENT_EXPIRED'],
    handler: ({ services, who, params, query }) =>
      readTurn(services, who, { turn_id: params.id as string, words: query.include !== undefined }),
  }),

  accountRoute({
    method: 'PATCH',
    path: '/turns/:id',
    summary: 'Says who said a turn.',
    notes: 'It holds for this turn alone, and outlives every later transcription.',
    credential: 'account',
    permission: ['turns:write'],
    body: z
      .object({
        contact_id: uuid.nullable().optional().describe('A contact; null for nobody.'),
        speaker: speakerId.optional().describe('Another speaker of the stream, such as S2.'),
      })
      .refine(({ contact_id, speaker }) => (contact_id === undefined) !== (speaker === undefined), {
        message: 'must have contact_id or speaker, and not both',
      }),
    example: { speaker: 'S1' },
    answer: turnShape,
    refusals: ['CONTENT_EXPIRED', 'CONFLICT'],
    handler: ({ services, who, params, body }) => new TurnChanges(services, who).change(params.id as string, body),
  }),

  accountRoute({
    method: 'POST',
    path: '/turns/:id/split',
    summary: 'Makes two turns of one.',
    notes: 'Possible where the times of its words are known. Both outlive every later transcription.',
    credential: 'account',
    permission: ['turns:write'],
    body: z.object({
      at_ms: whole({ min: 0, max: LIMITS.transcript_pages_max * LIMITS.transcript_page_ms }).describe(
        "The second turn begins with the first word from here on, in ms on the stream's timeline.",
      ),
    }),
    answer: z.strictObject({ items: z.array(turnShape), cursor: z.null().describe('Null: there is no other page.') }),
    refusals: ['CONTENT_EXPIRED', 'CONFLICT'],
    async handler({ services, who, params, body }) {
      const items = await new TurnChanges(services, who).split(params.id as string, body.at_ms);
      return { items, cursor: null };
    },
  }),

  accountRoute({
    method: 'DELETE',
    path: '/turns/:id',
    summary: 'Deletes a turn.',
    notes: 'No later transcription brings it back.',
    credential: 'account',
    permission: ['turns:write'],
    status: 204,
    refusals: ['CONTENT_EXPIRED', 'CONFLICT'],
    handler: ({ services, who, params }) => new TurnChanges(services, who).delete(params.id as string),
  }),
];

/** Turns of one stream in the order of its timeline, or of many with the newest first. */
export async function listTurns(
  services: Services,
  who: Principal,
  { stream_id, ...query }: Omit<TurnsOfStreamQuery, 'stream_id'> & TurnsQuery & { stream_id?: string | undefined },
): Promise<TurnPage> {
  if (stream_id !== undefined) return turnsOfStream(services, who, { stream_id, ...query });
  const { source_id } = query;
  if (source_id !== undefined) await ownSource(services, { account_id: who.account_id, id: source_id });
  return turnsOfMany(services, who, query);
}

export async function readTurn(
  services: Services,
  who: Principal,
  { turn_id, words }: { turn_id: string; words: boolean },
): Promise<TurnView> {
  const place = placeOfTurn(turn_id);
  if (place === null) throw new Refused(NO_TURN);
  const scene = await orNull(sceneOfTurn(services, who, place), 'NOT_FOUND');
  if (scene === null) throw new Refused(NO_TURN);
  const found = await orNull(
    services.actors.transcript(place.stream_id).turn({ page: place.page, serial: place.serial }),
    'NOT_FOUND',
  );
  if (found === null) throw new Refused(NO_TURN);
  const turns = [{ page: place.page, turn: found.turn, words: words ? found.words : null }];
  const views = await viewTurns(services, who, { scene, turns });
  return views[0] ?? throwRefusal(NO_TURN);
}
