import type { Principal } from '../../src/access/principal.js';
import { isRefused } from '../../src/domain/refusals.js';
import { leftSignal } from '../../src/edge/http/body_arrival.js';
import { type ServerSentEvent, sendEvents } from '../../src/edge/http/event_stream.js';
import { takeForm } from '../../src/edge/http/multipart_form.js';
import type { Exchange } from '../../src/edge/http/request_state.js';
import { openaiError } from '../../src/edge/http/responses.js';
import { SPOKEN_FILE_BYTES_MAX } from '../../src/features/transcripts/file_transcription.js';
import { transcribeUpload } from '../../src/features/transcripts/transcribe_upload.js';
import { TEXT_TYPES } from '../../src/features/transcripts/transcript_text.js';
import { listModels, readModel } from '../../src/features/transcripts/transcription_models.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Text of audio files, as clients of OpenAI's API ask for it. Rules K-400 to K-407; docs/choices.md, "Transcription clients". */

/** Clients append the path to an address that has `/v1` or not, or has it and append it again. */
const BASES = ['/v1', '', '/v1/v1'] as const;
const KEEP_HEADER = 'x-spool-keep';
const IMPORT_HEADER = 'X-Spool-Import-Id';

const shared = {
  credential: 'account' as const,
  transcribes: true as const,
  layer: 'transcripts.access' as const,
  dialect: 'openai' as const,
  // No cookie is read, and a token is asked for: pages and apps of any origin may call.
  cors: {
    origin: '*',
    methods: ['GET', 'POST'],
    allowedHeaders: '*, Authorization',
    exposedHeaders: [IMPORT_HEADER, 'X-Request-ID'],
  },
};

/** The reference leaves them out, since their form is that of another API; docs/dictation.md says what is taken. */
export const TRANSCRIPTION_ROUTES: readonly Route[] = BASES.flatMap((base): Route[] => [
  accountRoute({
    method: 'POST',
    path: `${base}/audio/transcriptions`,
    ...shared,
    raw: true,
    answer: 'text',
    handler: ({ services, who, request, reply }) => transcribe(services, who, { request, reply }),
  }),
  accountRoute({
    method: 'GET',
    path: `${base}/models`,
    ...shared,
    answer: 'text',
    handler: async ({ services }) => ({ object: 'list', data: listModels(services) }),
  }),
  accountRoute({
    method: 'GET',
    path: `${base}/models/:model`,
    params: { model: { description: 'The name of a model.', form: 'text' } },
    ...shared,
    answer: 'text',
    handler: async ({ services, params }) => readModel(services, params.model),
  }),
]);

async function transcribe(services: Services, who: Principal, ends: Exchange): Promise<unknown> {
  const { request, reply } = ends;
  const made = await transcribeUpload(services, who, {
    takeForm: (write) => takeForm(ends, { field: 'file', bytes_max: SPOKEN_FILE_BYTES_MAX, write }),
    keeps: request.headers[KEEP_HEADER] === '1',
    onKept: (import_id) => reply.header(IMPORT_HEADER, import_id),
    signal: leftSignal(ends),
  });
  if ('events' in made) return sendEvents(ends, services, () => withRefusal(made.events));
  const { format, body } = made;
  return typeof body === 'string' ? reply.type(TEXT_TYPES[format as 'srt'] ?? TEXT_TYPES.txt).send(body) : body;
}

/** A refusal after the first event is an event too: the answer has begun. */
async function* withRefusal(events: AsyncIterable<object | null>): AsyncGenerator<ServerSentEvent | null> {
  try {
    for await (const event of events) yield event === null ? null : { data: event };
  } catch (error) {
    if (!isRefused(error)) throw error;
    yield { data: openaiError(error.refusal) };
  }
}
