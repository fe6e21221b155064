import { OPERATORS_ENGINE } from '../../../../actors/insights/context_state.js';
import { commandEngine, removeLeftBehind } from './command.js';
import type { Engine } from './engine.js';
import type { EnginesFile } from './engines_file.js';
import { OpenAiCompatible } from './openai_compatible.js';

export type TranscriberSettings = {
  content_worker: boolean;
  transcribe_url: string | null;
  transcribe_key: string | null;
  transcribe_model: string | null;
  transcribe_diarize: boolean;
  transcribe_command: string[] | null;
};

/** Who makes text of audio, and which other host the audio goes to. */
export type Transcriber = { by: 'server' | 'program' | 'workers' | 'nobody'; host: string | null };

/** The built-in engine; null where there is none, or workers on the operator port are to do it. */
function chooseEngine(settings: TranscriberSettings): Engine | null {
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

/** Built-in engines by the names that pipelines have for them; none where nobody or others are to do it. */
export function transcriptionEngines(
  settings: TranscriberSettings,
  further: EnginesFile['transcription'],
): Map<string, Engine> {
  const own = chooseEngine(settings);
  if (own === null) return new Map();
  const named = Object.entries(further).map(([name, one]): [string, Engine] => {
    const { url, command, key = null, model = null, diarize = false } = one;
    if (url !== undefined) return [name, new OpenAiCompatible({ url, key, model, diarize })];
    return [name, commandEngine(command ?? [])];
  });
  return new Map([...named, [OPERATORS_ENGINE, own]]);
}

export function transcriberOf(settings: TranscriberSettings): Transcriber {
  const { content_worker, transcribe_url, transcribe_command } = settings;
  if (!content_worker) return { by: 'workers', host: null };
  if (transcribe_url !== null) return { by: 'server', host: new URL(transcribe_url).host };
  return { by: transcribe_command === null ? 'nobody' : 'program', host: null };
}

/** Hosts that audio may go to. */
export function transcriptionHosts(settings: TranscriberSettings, further: EnginesFile['transcription']): string[] {
  const { by, host } = transcriberOf(settings);
  const named = by === 'server' || by === 'program' ? Object.values(further).flatMap(({ url }) => url ?? []) : [];
  return [...new Set([...(host === null ? [] : [host]), ...named.map((url) => new URL(url).host)])].sort();
}
