import { Refused, refuse } from '../../domain/refusals.js';
import type { FileTranscriptions } from './file_transcription.js';
import { KEEPING_MODEL, MODEL_ALIAS } from './transcription_request.js';

/** The models that transcription clients may name. Rule K-404. */

const NO_MODEL = refuse('NOT_FOUND', 'There is no model of this name.', { extra: { code: 'model_not_found' } });

type ModelServices = { file_transcriptions: Pick<FileTranscriptions, 'model'> };
type ModelView = { id: string; object: 'model'; created: number; owned_by: string };

/** None where nothing on this server transcribes files. */
export function listModels({ file_transcriptions: { model } }: ModelServices): ModelView[] {
  const names = model === null ? [] : [model, MODEL_ALIAS, KEEPING_MODEL];
  return names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'spool' }));
}

/** Throws NOT_FOUND. */
export function readModel(services: ModelServices, name: string): ModelView {
  const found = listModels(services).find(({ id }) => id === name);
  if (found === undefined) throw new Refused(NO_MODEL);
  return found;
}
