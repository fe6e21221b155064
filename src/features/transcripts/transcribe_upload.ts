import type { Principal } from '../../access/principal.js';
import { Refused, refuse } from '../../domain/refusals.js';
import type { DueWorker } from '../../engine/jobs/due_worker.js';
import { importWhole } from '../recordings/whole_import.js';
import type { FeatureServices } from '../services.js';
import type { FileTranscriptions, SpokenFile } from './file_transcription.js';
import { plainOf, type TranscriptionFormat, transcriptionAs } from './transcription_forms.js';
import { type TranscriptionAsked, transcriptionAsked } from './transcription_request.js';

/** Text of a file that a caller uploads and waits for. Rules K-400 to K-407; docs/choices.md, "Transcription clients". */

const NO_FILE = refuse('BAD_REQUEST', 'file: must be an audio file.', {
  details: [{ path: 'file', message: 'must be an audio file' }],
  extra: { code: 'missing_required_parameter' },
});

export type UploadServices = Pick<FeatureServices, 'actors' | 'blobs' | 'clock'> & {
  imports: DueWorker;
  file_transcriptions: FileTranscriptions;
};

type SpokenForm = { fields: ReadonlyMap<string, readonly string[]>; file_name: string | null; has_file: boolean };

/** `takeForm`: reads the upload to its end. `keeps`: a recording is wanted, whatever the model. `signal`: the caller has left. */
type SpokenUpload = {
  takeForm(write: (piece: Buffer) => Promise<void>): Promise<SpokenForm>;
  keeps: boolean;
  /** Called with the id of the import that the file becomes, before any text is made. */
  onKept(import_id: string): void;
  signal: AbortSignal;
};

/** As OpenAI names them. */
type TranscriptionEvent =
  | { type: 'transcript.text.delta'; delta: string }
  | { type: 'transcript.text.done'; text: string };

/** `body`: all of the text. `events`: the text as it is made; whoever gets them reads or ends them. */
type TranscribedUpload =
  | { format: TranscriptionFormat; body: string | object }
  | { events: AsyncGenerator<TranscriptionEvent | null> };

/** Throws Refused; the events do so too. */
export async function transcribeUpload(
  services: UploadServices,
  who: Principal,
  upload: SpokenUpload,
): Promise<TranscribedUpload> {
  const file = await services.file_transcriptions.begin(who.account_id, upload.signal);
  let is_handed_on = false;
  try {
    const asked = await received(services, who, { file, upload });
    if (asked.stream) {
      is_handed_on = true;
      return { events: eventsOf(file, asked) };
    }
    const turns = [];
    for await (const more of file.turns(asked)) turns.push(...more);
    const { language, words, format } = asked;
    return { format, body: transcriptionAs(format, { turns, length_ms: file.length_ms, language, words }) };
  } finally {
    if (!is_handed_on) await file.close();
  }
}

type Asked = TranscriptionAsked & { diarize: boolean };

/** Takes the upload, and makes a recording of it where that is wanted. */
async function received(
  services: UploadServices,
  who: Principal,
  { file, upload }: { file: SpokenFile; upload: SpokenUpload },
): Promise<Asked> {
  const form = await upload.takeForm((piece) => file.write(piece));
  if (!form.has_file || file.size_bytes === 0) throw new Refused(NO_FILE);
  const asked = transcriptionAsked(form.fields, upload);
  const diarize = asked.format === 'diarized_json';
  await file.measure({ diarize });
  if (asked.keeps) {
    const { size_bytes } = file;
    const kept = { name: form.file_name, size_bytes, read: (from: number, to: number) => file.read(from, to) };
    upload.onKept((await importWhole(services, who, kept)).id);
  }
  return { ...asked, diarize };
}

/** Null comes first, before any text. */
async function* eventsOf(file: SpokenFile, asked: Asked): AsyncGenerator<TranscriptionEvent | null> {
  let text = '';
  try {
    yield null;
    for await (const turns of file.turns(asked)) {
      const more = plainOf(turns);
      if (more === '') continue;
      const delta = text === '' ? more : ` ${more}`;
      text += delta;
      yield { type: 'transcript.text.delta', delta };
    }
    yield { type: 'transcript.text.done', text };
  } finally {
    await file.close();
  }
}
