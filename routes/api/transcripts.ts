import { z } from 'zod';
import { speakerNumber } from '../../actors/transcripts/transcript_state.js';
import type { Principal } from '../../src/access/principal.js';
import { uuid } from '../../src/access/request_schemas.js';
import { count, id } from '../../src/access/response_schemas.js';
import { Refused, refuse } from '../../src/domain/refusals.js';
import { readableScene, sceneAsked } from '../../src/features/transcripts/transcript_reading.js';
import { summarize } from '../../src/features/transcripts/transcript_summary.js';
import { TEXT_FORMATS, TEXT_TYPES, transcriptText } from '../../src/features/transcripts/transcript_text.js';
import { TurnChanges } from '../../src/features/transcripts/turn_changes.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';
import { lane } from './suggestions.js';
import { speakerId } from './turns.js';

/** A stream's transcript as a whole, and who speaks in it. Rules K-004 and K-005. */

const NO_SPEAKER = refuse('NOT_FOUND', 'There is no such speaker in this stream.');
const interval = z.tuple([count, count]);
const intervals = (meaning: string) => z.array(interval).describe(`${meaning}: from and to, in ms.`);

const transcriptShape = z
  .strictObject({
    stream_id: id.describe('The stream.'),
    revision: count.describe('Rises with every change; 0 while there is nothing.'),
    languages: z.array(z.string()).describe('BCP 47 tags of what was said.'),
    speakers: z
      .array(
        z.strictObject({
          speaker: z.string().describe('Such as S1.'),
          contact_id: id
            .nullable()
            .describe('Who it is; null where nobody knows, and to other members of the workspace.'),
          name: z.string().nullable().describe("The contact's name."),
          attribution: z
            .enum(['none', 'detected', 'recognized', 'manual'])
            .describe('detected: heard as one speaker; recognized: by the voice; manual: as a person said.'),
          turns: count.describe('How many are of this speaker.'),
          talk_ms: count.describe('How long the speaker talks in all.'),
        }),
      )
      .describe('Who speaks, in the order in which they begin.'),
    covered: intervals('What was transcribed'),
    waiting: intervals('Audio that is to be transcribed'),
    failed: z
      .array(
        z.strictObject({
          from_ms: count.describe('Where it begins, in ms of the timeline.'),
          to_ms: count.describe('Where it ends.'),
          code: z.string().describe('Why, such as ENGINE_REFUSED.'),
        }),
      )
      .describe('Audio that could not be transcribed, and why.'),
    expired: intervals('What the workspace does not keep any longer'),
    engine: z
      .string()
      .nullable()
      .describe('What transcribes here: server, program or workers; null where nothing does.'),
  })
  .meta({ id: 'Transcript' });

export const TRANSCRIPT_ROUTES: readonly Route[] = [
  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/transcript',
    summary: 'How far the transcript of a stream has come, and who speaks in it.',
    credential: 'account',
    permission: ['turns:read'],
    query: z.object({ pipeline_id: lane }),
    answer: transcriptShape,
    async handler({ services, who, params, query: { pipeline_id } }) {
      const scene = await sceneAsked(services, who, { stream_id: params.id as string, pipeline_id });
      return summarize(services, who, scene);
    },
  }),

  accountRoute({
    method: 'GET',
    path: '/audio/streams/:id/transcript/text',
    summary: 'The transcript of a stream as text or subtitles.',
    credential: 'account',
    permission: ['turns:read'],
    query: z.object({
      format: z
        .enum(TEXT_FORMATS, `must be one of ${TEXT_FORMATS.join(', ')}`)
        .default('txt')
        .describe('txt: a line a turn; srt and vtt: subtitles.'),
      pipeline_id: lane,
    }),
    answer: 'text',
    refusals: ['CONFLICT'],
    async handler({ services, who, params, query: { format, pipeline_id }, reply }) {
      const scene = await sceneAsked(services, who, { stream_id: params.id as string, pipeline_id });
      const text = await transcriptText(services, scene, format);
      const name = `${scene.stream.id}.${format}`;
      reply.type(TEXT_TYPES[format]).header('Content-Disposition', `attachment; filename="${name}"`);
      return reply.send(text);
    },
  }),

  accountRoute({
    method: 'PATCH',
    path: '/audio/streams/:id/speakers/:speaker',
    summary: 'Says who a speaker is.',
    notes: 'All turns of that speaker show it at once, except where somebody said something of a turn alone.',
    credential: 'account',
    permission: ['turns:write'],
    body: z.object({ contact_id: uuid.nullable().describe('A contact; null for nobody known.') }),
    answer: transcriptShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, params, body: { contact_id } }) {
      const stream_id = params.id as string;
      const speaker = speakerNumber(params.speaker as string);
      if (speaker === null) throw new Refused(NO_SPEAKER);
      await new TurnChanges(services, who).assign(stream_id, { speaker, contact_id });
      return readTranscript(services, who, stream_id);
    },
  }),

  accountRoute({
    method: 'POST',
    path: '/audio/streams/:id/speakers/:speaker/merge',
    summary: 'Says that a speaker is the same as another.',
    credential: 'account',
    permission: ['turns:write'],
    body: z.object({ into: speakerId.describe('The speaker whose turns they are from now on, such as S1.') }),
    example: { into: 'S1' },
    answer: transcriptShape,
    refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    async handler({ services, who, params, body: { into } }) {
      const stream_id = params.id as string;
      const speaker = speakerNumber(params.speaker as string);
      if (speaker === null) throw new Refused(NO_SPEAKER);
      await new TurnChanges(services, who).merge(stream_id, { speaker, into });
      return readTranscript(services, who, stream_id);
    },
  }),
];

async function readTranscript(services: Services, who: Principal, stream_id: string): Promise<unknown> {
  const scene = await readableScene(services, who, stream_id);
  return summarize(services, who, scene);
}
