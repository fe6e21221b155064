import type { Settings } from '../../settings.js';
import { commandEngine, removeLeftBehind } from './command.js';
import type { Engine } from './engine.js';
import { OpenAiCompatible } from './openai_compatible.js';

type Chosen = Pick<
  Settings,
  | 'content_worker'
  | 'transcribe_url'
  | 'transcribe_key'
  | 'transcribe_model'
  | 'transcribe_diarize'
  | 'transcribe_command'
>;

/** Who makes text of audio, and which other host the audio goes to. */
export type Transcriber = { by: 'server' | 'program' | 'workers' | 'nobody'; host: string | null };

/** The built-in engine; null where there is none, or workers on the operator port are to do it. */
export function chooseEngine(settings: Chosen): Engine | null {
  const { transcribe_url: url, transcribe_key: key, transcribe_model: model, transcribe_diarize: diarize } = settings;
  switch (transcriberOf(settings).by) {
    case 'server':
      return new OpenAiCompatible({ url: url as string, key, model, diarize });
    case 'program':
      void removeLeftBehind(Date.now());
      return commandEngine(settings.transcribe_command as string[]);
    default:
      return null;
  }
}

export function transcriberOf(settings: Chosen): Transcriber {
  const { content_worker, transcribe_url, transcribe_command } = settings;
  if (!content_worker) return { by: 'workers', host: null };
  if (transcribe_url !== null) return { by: 'server', host: new URL(transcribe_url).host };
  return { by: transcribe_command === null ? 'nobody' : 'program', host: null };
}
