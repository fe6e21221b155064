import { z } from 'zod';
import { claim, leaseField, leaseShape } from '../../src/access/job_schemas.js';
import { failureCode, languageTag, trimmedQuery, uuid, whole } from '../../src/access/request_schemas.js';
import { count, no_cursor } from '../../src/access/response_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';
import { withoutFormat } from '../../src/domain/plain_text.js';
import { sendBytes } from '../../src/edge/http/byte_download.js';
import {
  insightJobShape,
  insightResult,
  insightsPublished,
} from '../../src/features/insights/library/insight_job_shape.js';
import {
  claimJobs,
  downloadJobAudio,
  failJob,
  prolongJob,
  publishJob,
  WORKER_JOB_KINDS,
} from '../../src/features/insights/library/worker_jobs.js';
import { windowJobShape } from '../../src/features/transcripts/window_job_shape.js';
import { PARAMETERS } from '../path_parameters.js';
import { operatorRoute, type Route } from '../rows.js';

/**
 * Jobs for workers of your own: windows of recordings to transcribe, and conversations to look into. docs/transcription.md,
 * "Workers of your own"; docs/architecture.md, "Jobs".
 */

const WINDOW_LEASE_MS = 60_000; // ours: of a claim that names no time
const WINDOW_LEASE_MS_MAX = 3_600_000; // ours
const WINDOWS_CLAIMED_MAX = 20; // ours: of one request
const PUBLICATION_BODY_BYTES_MAX = 1024 * 1024; // ours

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const WELL_FORMED = 'must be well-formed text without control characters';

const lease_s = leaseField({ lease_ms: WINDOW_LEASE_MS, lease_ms_max: WINDOW_LEASE_MS_MAX });
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

export const STAFF_JOB_ROUTES: readonly Route[] = [
  operatorRoute({
    method: 'POST',
    path: '/ops/jobs/claim',
    summary: 'Hands windows of recordings, or conversations, to a worker, for a time.',
    credential: 'operator',
    worker_too: true,
    body: z.object({
      kinds: z
        .array(z.enum(WORKER_JOB_KINDS))
        .min(1)
        .max(WORKER_JOB_KINDS.length)
        .default(['transcribe'])
        .describe('What the worker can do; transcribe when absent.'),
      limit: whole({ min: 1, max: WINDOWS_CLAIMED_MAX }).default(1).describe('How many at most; 1 when absent.'),
      lease_s,
    }),
    answer: z.strictObject({ items: z.array(z.union([windowJobShape, insightJobShape])), cursor: no_cursor }),
    example: { kinds: ['transcribe'], limit: 4, lease_s: 60 },
    handler: async ({ services, body }) => ({ items: await claimJobs(services, body), cursor: null }),
  }),

  operatorRoute({
    method: 'GET',
    path: '/ops/jobs/:job/audio',
    params: { job: PARAMETERS.job },
    summary: 'The chunks of a claimed window as one file.',
    notes:
      'Whole and one after the other, in the order of `audio`. `X-Joined-Lost-Chunks` says how many of them are not in it since the server has lost their bytes.',
    credential: 'operator',
    worker_too: true,
    answer: 'audio',
    refusals: ['NOT_FOUND', 'CONFLICT', 'CONTENT_MISSING'],
    handler: async ({ services, params, request, reply }) =>
      sendBytes({ request, reply }, await downloadJobAudio(services, params.job)),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/jobs/:job/progress',
    params: { job: PARAMETERS.job },
    summary: 'Says that a worker is still at it.',
    credential: 'operator',
    worker_too: true,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    body: z.object({ claim, lease_s }),
    answer: leaseShape,
    handler: ({ services, params, body }) => prolongJob(services, { job: params.job, ...body }),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/jobs/:job/publish',
    params: { job: PARAMETERS.job },
    summary: 'Publishes what was said in a window, or what follows from a conversation.',
    notes: 'The same again gets the same answer. Something else under the same claim is refused.',
    credential: 'operator',
    worker_too: true,
    body_bytes_max: PUBLICATION_BODY_BYTES_MAX,
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
    handler: async ({ services, params, body }) => ({
      published: await publishJob(services, params.job, body),
    }),
  }),

  operatorRoute({
    method: 'POST',
    path: '/ops/jobs/:job/failed',
    params: { job: PARAMETERS.job },
    summary: 'Says why a window can not be transcribed, or a conversation not be looked into.',
    credential: 'operator',
    worker_too: true,
    body: z.object({
      claim,
      code: failureCode.describe('For programs; transcripts and operators see it.'),
      message: trimmedQuery(LIMITS.failure_message_chars_max).describe('The same for people.'),
      retry: z.boolean('must be true or false').default(true).describe('Whether another try may succeed.'),
    }),
    answer: z.strictObject({
      again: z.boolean().describe('Whether it comes once more, after a rest.'),
      tries: count.describe('How often it was handed out.'),
    }),
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handler: ({ services, params, body: { claim, code, retry } }) =>
      failJob(services, params.job, { claim, code, retry }),
  }),
];
