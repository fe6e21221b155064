import { createHash } from 'node:crypto';
import pMap from 'p-map';
import { z } from 'zod';
import type { InsightTally } from '../../actors/insights/library_state.js';
import type { PublicationTally } from '../../actors/transcripts/transcript_state.js';
import { failureCode, languageTag, trimmedText, uuid, whole } from '../../src/access/request_schemas.js';
import { count, id, moment, no_cursor } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { isRefused, Refused, refuse } from '../../src/domain/refusals.js';
import { sendBytes } from '../../src/edge/http/byte_download.js';
import { BlobStoreUnavailable } from '../../src/engine/blobs/blob_store.js';
import { isInsightJob } from '../../src/features/insights/insight_jobs.js';
import { joinedPart } from '../../src/features/recordings/joined_audio.js';
import { withoutFormat } from '../../src/features/transcripts/engines/plain_text.js';
import type { TranscriptionResult, WindowWork } from '../../src/features/transcripts/transcription.js';
import { operatorRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';
import { claim, leaseField, progressRow, SECOND_MS } from './claims.js';
import { insightResult, insightsPublished, insightWorkShape, insightWorkView } from './insight_jobs.js';

/**
 * Jobs for workers of your own: windows of recordings to transcribe, and conversations to look into. docs/transcription.md,
 * "Workers of your own"; docs/architecture.md, "Jobs".
 */

/** Windows of one claim whose chunks are looked into at a time. */
const JOINED_AT_ONCE = 4;
const KINDS = ['transcribe', 'insights'] as const;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const WELL_FORMED = 'must be well-formed text without control characters';

const lease_s = leaseField({ lease_ms: LIMITS.window_lease_ms, lease_ms_max: LIMITS.window_lease_ms_max });
const time = whole({ min: -LIMITS.window_tolerance_ms, max: LIMITS.transcript_pages_max * LIMITS.transcript_page_ms });
const share = z.number('must be a number from 0 to 1').min(0).max(1);
const isPlain = (text: string) => text.isWellFormed() && !/[\p{Cc}]/u.test(text.replaceAll(/[\t\n\r]/g, ' '));
const text = (max: number) =>
  z
    .string('must be text')
    .min(1)
    .max(max)
    .refine(isPlain, WELL_FORMED)
    .transform(withoutFormat)
    .refine((value) => value.trim() !== '', 'must not be empty');
const label = text(LIMITS.speaker_label_chars_max);
const language = languageTag.optional();

const workShape = z
  .strictObject({
    job: z.string().describe('What is to be done.'),
    kind: z.literal('transcribe').describe('What the worker is to do.'),
    claim: z.string().describe('Goes with what the worker says of it.'),
    run_id: id.describe('By which events tell what came of it.'),
    lease_until: moment.describe('Until then nobody else gets it.'),
    tries: count.describe('How often it was handed out.'),
    account_id: id.describe('Whose recording it is.'),
    stream_id: id.describe('The recording.'),
    from_ms: count.describe("Where the window begins, in ms on the stream's timeline."),
    to_ms: count.describe('Where it ends.'),
    final: z.boolean().describe('Nothing follows: all of it must be consumed.'),
    audio: z
      .array(
        z.strictObject({
          chunk_id: id.describe('The chunk.'),
          start_ms: count.describe('Where the chunk begins on the timeline, maybe before the window.'),
          end_ms: count.describe('Where it ends, maybe behind the window.'),
          codec: z.string().describe('As its recorder said.'),
          container: z.string().describe('As its recorder said.'),
          sample_rate_hz: count.optional().describe('Of raw samples.'),
          channels: count.optional().describe('Of raw samples.'),
          size_bytes: count.describe('How large it is.'),
          sha256: z.string().describe('Of its bytes, in hex.'),
          content_path: z.string().describe('Where to GET the audio.'),
        }),
      )
      .describe('Stored chunks that reach into the window, in the order of the timeline.'),
    joined_path: z
      .string()
      .nullable()
      .describe("Where to GET all of them as one file while the claim holds; null where they can't be one."),
    pipeline: z
      .strictObject({
        id: id.describe('The pipeline.'),
        engine: z.string().describe('The name of the engine that it wants.'),
        diarize: z.boolean().describe('Whether it wants speakers told apart.'),
      })
      .describe('What it is transcribed by.'),
    language: z.string().nullable().describe('A BCP 47 tag, where it is known.'),
    vocabulary: z.array(z.string()).describe('Words that the account wants spelt so.'),
    previous_text: z.string().nullable().describe('What was said last before it.'),
    known_speakers: z
      .array(
        z.strictObject({
          speaker: z.string().describe('A label that a result may use.'),
          voice: z
            .strictObject({
              id: id.describe('What matches names.'),
              model: z.string().describe('What made the embedding.'),
              embedding: z.string().describe('Base64.'),
            })
            .nullable()
            .describe('What it is known by; null for a label alone.'),
        }),
      )
      .describe('Who was heard in the recording, and voices that may be.'),
  })
  .meta({ id: 'TranscriptionWork' });

const word = z.tuple([text(LIMITS.word_chars_max), time, time, share.nullable()]);

const resultForm = z
  .strictObject({
    kind: z.literal('transcribe').optional().describe('What it is the result of.'),
    claim,
    consumed_to_ms: time
      .optional()
      .describe('Up to where it is whole; the rest goes with the next window. All of it when absent.'),
    language: language.describe('Of all turns that name none.'),
    speaker_scope: z
      .enum(['window', 'stream'])
      .default('window')
      .describe(
        'window: labels mean nothing outside; stream: they are those of earlier results and of known_speakers.',
      ),
    mode: z
      .enum(['replace', 'attribute'])
      .default('replace')
      .describe('attribute: only fills in who spoke the turns that there are.'),
    turns: z
      .array(
        z
          .strictObject({
            start_ms: time.describe("When it begins, in ms on the stream's timeline."),
            end_ms: time.describe('When it is over.'),
            text: text(LIMITS.turn_text_chars_max).describe('What was said.'),
            speaker: label.optional().describe('Who said it, by a label of the worker.'),
            confidence: share.optional().describe('How sure the worker is, from 0 to 1.'),
            language: language.describe('Of this turn, where it differs.'),
            words: z
              .array(word)
              .max(LIMITS.turn_words_max)
              .optional()
              .describe('Each as text, start, end and confidence.'),
          })
          .refine(({ start_ms, end_ms }) => end_ms >= start_ms, {
            path: ['end_ms'],
            message: 'must not lie before start_ms',
          }),
      )
      .max(LIMITS.window_turns_max)
      .describe('In the order of their start. None: silence.'),
    failed: z
      .array(
        z.object({
          from_ms: time.describe("Where it begins, in ms on the stream's timeline."),
          to_ms: time.describe('Where it ends.'),
          code: failureCode.describe('Why, for programs; transcripts and operators see it.'),
        }),
      )
      .max(LIMITS.transcript_failures_kept_max)
      .optional()
      .describe('Parts of the window that could not be heard. Turns that stand there stay.'),
    speakers: z
      .array(
        z.strictObject({
          speaker: label.describe('The label.'),
          voice: z
            .strictObject({
              model: text(LIMITS.voice_model_chars_max).describe('What made the embedding.'),
              embedding: z
                .string('must be base64')
                .max(Math.ceil(LIMITS.voice_embedding_bytes_max / 3) * 4)
                .regex(BASE64, 'must be base64')
                .transform((value) => new Uint8Array(Buffer.from(value, 'base64')))
                .describe('Base64.'),
            })
            .optional()
            .describe('By which it is heard again.'),
          matches: uuid.optional().describe('The id of a known voice.'),
        }),
      )
      .max(LIMITS.window_turns_max)
      .optional()
      .describe('What is known of those who speak.'),
  })
  .describe('What was said in the window.');

const insightForm = z.strictObject({ claim, ...insightResult }).describe('What follows from the conversation.');
const OTHER_KIND = refuse('BAD_REQUEST', 'The job is of another kind.', {
  details: [{ path: 'kind', message: 'must be that of the job' }],
});

export const STAFF_JOB_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'POST',
    path: '/ops/jobs/claim',
    summary: 'Hands windows of recordings, or conversations, to a worker, for a time.',
    credential: 'operator',
    worker_too: true,
    body: z.object({
      kinds: z
        .array(z.enum(KINDS))
        .min(1)
        .max(KINDS.length)
        .default(['transcribe'])
        .describe('What the worker can do; transcribe when absent.'),
      limit: whole({ min: 1, max: LIMITS.windows_claimed_max }).default(1).describe('How many at most; 1 when absent.'),
      lease_s,
    }),
    answer: z.strictObject({ items: z.array(z.union([workShape, insightWorkShape])), cursor: no_cursor }),
    example: { kinds: ['transcribe'], limit: 4, lease_s: 60 },
    async handler({ services, body }) {
      const lease_ms = body.lease_s * SECOND_MS;
      const wants = (kind: (typeof KINDS)[number]) => body.kinds.includes(kind);
      const windows = wants('transcribe') ? await services.transcription.claim({ limit: body.limit, lease_ms }) : [];
      const limit = body.limit - windows.length;
      const { jobs, made_by } = services.insights;
      const is_asked = wants('insights') && limit > 0 && made_by !== null;
      const conversations = is_asked ? await jobs.claim({ limit, lease_ms }) : [];
      const shown = await pMap(windows, (work) => workView(services, work), { concurrency: JOINED_AT_ONCE });
      return { items: [...shown, ...conversations.map(insightWorkView)], cursor: null };
    },
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/jobs/:job/audio',
    summary: 'The chunks of a claimed window as one file.',
    notes:
      'Whole and one after the other, in the order of `audio`. `X-Joined-Lost-Chunks` says how many of them are not in it since the server has lost their bytes.',
    credential: 'operator',
    worker_too: true,
    answer: 'audio',
    refusals: ['NOT_FOUND', 'CONFLICT', 'CONTENT_MISSING'],
    async handler({ services, params, request, reply }) {
      const window = await services.transcription.audioOf(params.job as string);
      const audio = await joinedPart(services, window);
      const headers = { 'X-Joined-Chunks': audio.chunks, 'X-Joined-Lost-Chunks': audio.lost_chunks };
      return sendBytes({ request, reply }, audio, headers);
    },
  }),

  progressRow({
    path: '/ops/jobs/:job/progress',
    summary: 'Says that a worker is still at it.',
    worker_too: true,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    lease_s,
    prolong: (services, { job = '' }, { claim, lease_ms }) => jobsOf(services, job).jobs.prolong(job, claim, lease_ms),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/jobs/:job/publish',
    summary: 'Publishes what was said in a window, or what follows from a conversation.',
    notes: 'The same again gets the same answer. Something else under the same claim is refused.',
    credential: 'operator',
    worker_too: true,
    body_bytes_max: LIMITS.publication_body_bytes_max,
    body: z.discriminatedUnion('kind', [resultForm, insightForm]),
    example: { claim: 'q0m4XfYw8b1c2d3e', turns: [{ start_ms: 0, end_ms: 1_800, text: 'Good morning.' }] },
    answer: z.strictObject({
      published: z
        .union([
          insightsPublished,
          z.strictObject({
            turns: count.describe('Turns that it made.'),
            replaced: count.describe('Turns that it took the place of.'),
            protected: count.describe('Turns that people have corrected before.'),
            suppressed: count.describe('Turns that people have deleted before.'),
          }),
        ])
        .describe('What came of it.'),
    }),
    refusals: ['NOT_FOUND', 'CONFLICT', 'GONE'],
    async handler({ services, params, body }) {
      const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
      const job = params.job as string;
      if (isInsightJob(job) !== (body.kind === 'insights')) throw new Refused(OTHER_KIND);
      const { ended } = jobsOf(services, job);
      try {
        const published = await publish(services, job, { body, digest });
        ended.inc({ worker: 'operator_port', status: 'published' });
        return { published };
      } catch (error) {
        if (isRefused(error)) ended.inc({ worker: 'operator_port', status: 'refused' });
        throw error;
      }
    },
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/jobs/:job/failed',
    summary: 'Says why a window can not be transcribed, or a conversation not be looked into.',
    credential: 'operator',
    worker_too: true,
    body: z.object({
      claim,
      code: failureCode.describe('For programs; transcripts and operators see it.'),
      message: trimmedText(LIMITS.failure_message_chars_max).describe('The same for people.'),
      retry: z.boolean('must be true or false').default(true).describe('Whether another try may succeed.'),
    }),
    answer: z.strictObject({
      again: z.boolean().describe('Whether it comes once more, after a rest.'),
      tries: count.describe('How often it was handed out.'),
    }),
    refusals: ['NOT_FOUND', 'CONFLICT'],
    async handler({ services, params, body: { claim: held, code, retry } }) {
      const job = params.job as string;
      const { jobs, ended } = jobsOf(services, job);
      const failed = await jobs.failed(job, { claim: held, code, retry, engine: null });
      ended.inc({ worker: 'operator_port', status: 'failed' });
      return failed;
    },
  }),
];

/** The jobs of a job's kind, and what counts how they end. */
function jobsOf({ insights, transcription, metrics }: Services, job: string) {
  return isInsightJob(job)
    ? { jobs: insights.jobs, ended: metrics.insight_jobs }
    : { jobs: transcription, ended: metrics.windows };
}

/** Not now is no reason to hand out no window: its chunks can be fetched one by one. */
async function canBeJoined(services: Services, window: WindowWork): Promise<boolean> {
  try {
    await joinedPart(services, window);
    return true;
  } catch (error) {
    if (error instanceof BlobStoreUnavailable || isRefused(error)) return false;
    throw error;
  }
}

function publish(
  { insights, transcription }: Services,
  job: string,
  { body: { claim, ...said }, digest }: { body: z.infer<typeof insightForm | typeof resultForm>; digest: string },
): Promise<InsightTally | PublicationTally> {
  if (said.kind === 'insights') {
    const { kind: _, ...raw } = said;
    return insights.jobs.publish(job, { claim, digest, raw, made_by: 'external', engine: null });
  }
  const { kind: _, ...heard } = said;
  return transcription.publish(job, { claim, digest, result: withLanguage(heard) });
}

/** A turn without a language of its own has that of the result. */
function withLanguage({ language: all, turns, ...rest }: Omit<TranscriptionResult, 'dropped'>): TranscriptionResult {
  return { ...rest, turns: turns.map((turn) => ({ ...turn, language: turn.language ?? all })) };
}

async function workView(services: Services, work: WindowWork): Promise<z.infer<typeof workShape>> {
  const { lease_until_ms, audio, known_speakers, pipeline_id, engine, diarize, ...rest } = work;
  return {
    ...rest,
    joined_path: (await canBeJoined(services, work)) ? `/ops/jobs/${work.job}/audio` : null,
    kind: 'transcribe',
    pipeline: { id: pipeline_id, engine, diarize },
    lease_until: new Date(lease_until_ms).toISOString(),
    audio: audio.map(({ sequence: _, ...chunk }) => ({
      ...chunk,
      content_path: `/ops/chunks/${chunk.chunk_id}/content`,
    })),
    known_speakers: known_speakers.map(({ speaker, voice }) => ({
      speaker,
      voice: voice === null ? null : { ...voice, embedding: Buffer.from(voice.embedding).toString('base64') },
    })),
  };
}
