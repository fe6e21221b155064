import type { Principal } from '../../src/access/principal.js';
import { isRefused, Refused, refuse } from '../../src/domain/refusals.js';
import { leftSignal } from '../../src/edge/http/body_arrival.js';
import { type ServerSentEvent, sendEvents } from '../../src/edge/http/event_stream.js';
import { takeForm } from '../../src/edge/http/multipart_form.js';
import type { Exchange } from '../../src/edge/http/request_state.js';
import { openaiError } from '../../src/edge/http/responses.js';
import { importWhole } from '../../src/features/recordings/whole_import.js';
import { SPOKEN_FILE_BYTES_MAX, type SpokenFile } from '../../src/features/transcripts/file_transcription.js';
import { TEXT_TYPES } from '../../src/features/transcripts/transcript_text.js';
import { plainOf, transcriptionAs } from '../../src/features/transcripts/transcription_forms.js';
import {
  KEEPING_MODEL,
  MODEL_ALIAS,
  type TranscriptionAsked,
  transcriptionAsked,
} from '../../src/features/transcripts/transcription_request.js';
import { accountRoute, type Route } from '../rows.js';
import type { Services } from '../services.js';

/** Text of audio files, as clients of OpenAI's API ask for it. Rules K-400 to K-407; docs/choices.md, "Transcription clients". */

/** Clients append the path to an address that has `/v1` or not, or has it and append it again. */
const BASES = ['/v1', '', '/v1/v1'] as const;
const KEEP_HEADER = 'x-spool-keep';
const IMPORT_HEADER = 'X-Spool-Import-Id';
const NO_FILE = refuse('BAD_REQUEST', 'file: must be an audio file.', {
  details: [{ path: 'file', message: 'must be an audio file' }],
  extra: { code: 'missing_required_parameter' },
});

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
    handler: async ({ services }) => ({ object: 'list', data: modelsOf(services) }),
  }),
  accountRoute({
    method: 'GET',
    path: `${base}/models/:model`,
    params: { model: { description: 'The name of a model.', form: 'text' } },
    ...shared,
    answer: 'text',
    handler: async ({ services, params }) => {
      const found = modelsOf(services).find(({ id }) => id === params.model);
      if (found !== undefined) return found;
      const extra = { code: 'model_not_found' };
      throw new Refused(refuse('NOT_FOUND', 'There is no model of this name.', { extra }));
    },
  }),
]);

function modelsOf({ file_transcriptions: { model } }: Pick<Services, 'file_transcriptions'>) {
  const names = model === null ? [] : [model, MODEL_ALIAS, KEEPING_MODEL];
  return names.map((id) => ({ id, object: 'model' as const, created: 0, owned_by: 'spool' }));
}

async function transcribe(services: Services, who: Principal, ends: Exchange): Promise<unknown> {
  const { request, reply } = ends;
  const file = await services.file_transcriptions.begin(who.account_id, leftSignal(ends));
  let is_streamed = false;
  try {
    const write = (piece: Buffer) => file.write(piece);
    const form = await takeForm(ends, { field: 'file', bytes_max: SPOKEN_FILE_BYTES_MAX, write });
    if (!form.has_file || file.size_bytes === 0) throw new Refused(NO_FILE);
    const asked = transcriptionAsked(form.fields, { keeps: request.headers[KEEP_HEADER] === '1' });
    const options = { ...asked, diarize: asked.format === 'diarized_json' };
    await file.measure(options);
    if (asked.keeps) {
      const { size_bytes } = file;
      const kept = { name: form.file_name, size_bytes, read: (from: number, to: number) => file.read(from, to) };
      reply.header(IMPORT_HEADER, (await importWhole(services, who, kept)).id);
    }
    if (asked.stream) {
      is_streamed = true;
      return await sendEvents(ends, services, () => eventsOf(file, options));
    }
    const turns = [];
    for await (const more of file.turns(options)) turns.push(...more);
    const { language, words, format } = asked;
    const body = transcriptionAs(format, { turns, length_ms: file.length_ms, language, words });
    return typeof body === 'string' ? reply.type(TEXT_TYPES[format as 'srt'] ?? TEXT_TYPES.txt).send(body) : body;
  } finally {
    if (!is_streamed) await file.close();
  }
}

async function* eventsOf(
  file: SpokenFile,
  options: TranscriptionAsked & { diarize: boolean },
): AsyncGenerator<ServerSentEvent | null> {
  let text = '';
  try {
    yield null;
    for await (const turns of file.turns(options)) {
      const more = plainOf(turns);
      if (more === '') continue;
      const delta = text === '' ? more : ` ${more}`;
      text += delta;
      yield { data: { type: 'transcript.text.delta', delta } };
    }
    yield { data: { type: 'transcript.text.done', text } };
  } catch (error) {
    if (!isRefused(error)) throw error;
    yield { data: openaiError(error.refusal) };
  } finally {
    await file.close();
  }
}
