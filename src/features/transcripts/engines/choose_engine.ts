import { basename } from 'node:path';
import { OPERATORS_ENGINE } from '../../../../actors/insights/context_state.js';
import { LIMITS } from '../../../domain/limits.js';
import { ProcessFailed } from '../../../engine/process/framed_process.js';
import { AudioDecoders } from '../../../engine/speech/audio_decoders.js';
import { BUILT_IN_MODEL, modelBytes, type SpeechModel, speechModelOf } from '../../../engine/speech/speech_model.js';
import { SpeechProcess } from '../../../engine/speech/speech_process.js';
import { BuiltInEngine } from './built_in.js';
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
  transcribe_built_in: boolean;
  transcribe_model_dir: string | null;
  transcribe_speakers_dir: string | null;
  transcribe_english_dir?: string | null;
  transcribe_nice: number;
};

type ModelFolders = Pick<
  TranscriberSettings,
  'transcribe_model_dir' | 'transcribe_speakers_dir' | 'transcribe_english_dir'
>;

/** Folders of models; null for none. `english_folder`: of the one that English goes to, beside the other. */
type SpeechFolders = { model_folder: string | null; speakers_folder: string | null; english_folder: string | null };

/** Who makes text of audio, and which other host the audio goes to. */
export type Transcriber = { by: 'server' | 'program' | 'built_in' | 'workers' | 'nobody'; host: string | null };

/**
 * The same, as operators are told. `hosts`: all other machines that audio may go to. `languages`: BCP 47 tags of those that
 * the engine knows; null where it knows many or does not say. `model`: that of the built-in engine.
 */
/** `tells_speakers`: by their number. */
export type TranscriberShown = Transcriber & {
  hosts: string[];
  languages: string[] | null;
  model: string | null;
  tells_speakers: boolean;
};

/** With half of what it may take a process is replaced, and a loaded model takes up to twice its files. */
const MEMORY_FACTOR = 4;

/** `speech`: for the built-in engine. `now`: the clock. */
type EngineParts = { speech: SpeechProcess; now: () => number };

/** The engine that the settings name; null if there is none, or workers on the operator port transcribe. */
function chooseEngine(settings: TranscriberSettings, { speech, now }: EngineParts): Engine | null {
  const { transcribe_url: url, transcribe_key: key, transcribe_model: model, transcribe_diarize: diarize } = settings;
  switch (transcriberOf(settings).by) {
    case 'server':
      return new OpenAiCompatible({ url: url as string, key, model, diarize, now });
    case 'program':
      void removeLeftBehind(Date.now());
      return commandEngine(settings.transcribe_command as string[]);
    case 'built_in':
      return builtInEngine(settings, speech, { preview: false });
    default:
      return null;
  }
}

/** The engine for preliminary text of recordings under way; null where the built-in engine is not the one that transcribes. */
export function previewEngine(settings: TranscriberSettings, speech: SpeechProcess): Engine | null {
  return transcriberOf(settings).by === 'built_in' ? builtInEngine(settings, speech, { preview: true }) : null;
}

/**
 * The engine for callers that wait for the text of a file. The built-in one runs in a process of their own, `speech`: they
 * do not wait behind windows of recordings.
 */
export function waitingEngine(
  settings: TranscriberSettings,
  parts: EngineParts,
): { engine: Engine | null; diarizes: boolean | null } {
  const engine = chooseEngine(settings, parts);
  switch (transcriberOf(settings).by) {
    case 'built_in':
      return { engine, diarizes: builtInModel(settings)?.speakers != null };
    case 'server':
      return { engine, diarizes: settings.transcribe_diarize };
    default:
      return { engine, diarizes: null };
  }
}

function builtInEngine(
  settings: TranscriberSettings,
  speech: SpeechProcess,
  options: { preview: boolean },
): Engine | null {
  const model = builtInModel(settings);
  return model === null ? null : new BuiltInEngine(speech, model, options);
}

/** Engines by the names that pipelines have for them; none where nobody or others are to do it. */
export function transcriptionEngines(
  settings: TranscriberSettings,
  further: EnginesFile['transcription'],
  parts: EngineParts,
): Map<string, Engine> {
  const own = chooseEngine(settings, parts);
  const { now } = parts;
  if (own === null) return new Map();
  const named = Object.entries(further).map(([name, one]): [string, Engine] => {
    const { url, command, key = null, model = null, diarize = false } = one;
    if (url !== undefined) return [name, new OpenAiCompatible({ url, key, model, diarize, now })];
    return [name, commandEngine(command ?? [])];
  });
  return new Map([...named, [OPERATORS_ENGINE, own]]);
}

export function transcriberOf(
  settings: Pick<
    TranscriberSettings,
    'content_worker' | 'transcribe_url' | 'transcribe_command' | 'transcribe_built_in'
  >,
): Transcriber {
  const { content_worker, transcribe_url, transcribe_command, transcribe_built_in } = settings;
  if (!content_worker) return { by: 'workers', host: null };
  if (transcribe_url !== null) return { by: 'server', host: new URL(transcribe_url).host };
  if (transcribe_command !== null) return { by: 'program', host: null };
  return { by: transcribe_built_in ? 'built_in' : 'nobody', host: null };
}

/** Hosts that may get audio. */
export function transcriptionHosts(settings: TranscriberSettings, further: EnginesFile['transcription']): string[] {
  const { by, host } = transcriberOf(settings);
  const named = by !== 'workers' && by !== 'nobody' ? Object.values(further).flatMap(({ url }) => url ?? []) : [];
  return [...new Set([...(host === null ? [] : [host]), ...named.map((url) => new URL(url).host)])].sort();
}

/** A process that recognizes speech for the built-in engine. `name`: in messages and metrics. */
export function openSpeechProcess(settings: TranscriberSettings, name = 'speech'): SpeechProcess {
  const { transcribe_nice: priority } = settings;
  const folders = builtInFolders(settings);
  const is_built_in = transcriberOf(settings).by === 'built_in';
  return speechProcessFor({ ...folders, ...(!is_built_in && { model_folder: null }), priority, name });
}

/** The folders of the models that the built-in engine uses. */
export function builtInFolders(settings: ModelFolders): SpeechFolders & { model_folder: string } {
  return {
    model_folder: modelFolder(settings),
    speakers_folder: settings.transcribe_speakers_dir,
    english_folder: settings.transcribe_english_dir ?? null,
  };
}

/** The same for any models. Its memory may grow with their files. */
export function speechProcessFor({
  priority,
  name = 'speech',
  ...folders
}: SpeechFolders & { priority: number; name?: string }): SpeechProcess {
  const { speech_idle_ms: idle_ms, engine_ms_max: silence_ms_max, speech_bytes_max } = LIMITS;
  const { model_folder, speakers_folder, english_folder } = folders;
  const models = [model_folder, english_folder].map((one) => one && speechModelOf(one, speakers_folder));
  const bytes = models.reduce((sum, model) => sum + (model ? modelBytes(model) : 0), 0);
  const memory_bytes_max = Math.max(speech_bytes_max, bytes * MEMORY_FACTOR + speech_bytes_max / 2);
  return new SpeechProcess({ name, ...folders, idle_ms, silence_ms_max, memory_bytes_max, priority });
}

/** The processes that only decode audio. */
export function openDecoders({
  transcribe_nice: priority,
}: Pick<TranscriberSettings, 'transcribe_nice'>): AudioDecoders {
  const { decoder_idle_ms: idle_ms, decoder_silence_ms: silence_ms_max, decoder_bytes_max: memory_bytes_max } = LIMITS;
  return new AudioDecoders({ idle_ms, silence_ms_max, memory_bytes_max, priority });
}

function modelFolder({ transcribe_model_dir }: Pick<TranscriberSettings, 'transcribe_model_dir'>): string {
  return transcribe_model_dir ?? BUILT_IN_MODEL;
}

/** The model in use, with the languages of the one that English goes to, and its name. */
function builtInModel(settings: ModelFolders): Pick<SpeechModel, 'name' | 'languages' | 'speakers'> | null {
  const model = speechModelOf(modelFolder(settings), settings.transcribe_speakers_dir);
  const { english_folder } = builtInFolders(settings);
  if (model === null || english_folder === null) return model;
  const languages = model.languages === null ? null : [...new Set(['en', ...model.languages])];
  return { ...model, languages, name: `${model.name}, English by ${basename(english_folder)}` };
}

/** Why the built-in engine cannot run here, to go on behind "none: "; null where it can, or is not wanted. */
export async function builtInProblem(settings: TranscriberSettings): Promise<string | null> {
  if (transcriberOf(settings).by !== 'built_in') return null;
  if (builtInModel(settings) === null) return 'the speech model is not there; `npm start` fetches it';
  const speech = openSpeechProcess(settings);
  try {
    await speech.check();
    return null;
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error;
    return `the speech runtime does not run here (${error.message})`;
  } finally {
    await speech.close();
  }
}

const SHOWN_MAX = 5;

/** The languages that the built-in engine transcribes, in words. */
export function builtInLanguages(settings: TranscriberSettings): string {
  const model = builtInModel(settings);
  const names = new Intl.DisplayNames('en', { type: 'language' });
  const languages = model?.languages ?? [];
  if (languages.length > SHOWN_MAX || languages.length === 0)
    return `${languages.length || 'many'} languages, model ${model?.name}`;
  return languages.map((tag) => names.of(tag)).join(', ');
}

export function transcriberShown(
  settings: TranscriberSettings,
  further: EnginesFile['transcription'],
): TranscriberShown {
  const transcriber = transcriberOf(settings);
  const model = transcriber.by === 'built_in' ? builtInModel(settings) : null;
  return {
    ...transcriber,
    hosts: transcriptionHosts(settings, further),
    languages: model?.languages?.slice() ?? null,
    model: model?.name ?? null,
    tells_speakers: model !== null && model.speakers !== null,
  };
}
