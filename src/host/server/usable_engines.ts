import { meaningProblem } from '../../features/search/index/built_in_embeddings.js';
import { builtInProblem, transcriberOf } from '../../features/transcripts/engines/choose_engine.js';
import { chosenFolders } from '../../features/transcripts/speech_models/installed_models.js';
import type { Settings } from '../settings.js';

/** Why a built-in engine cannot run here; null where it can, or is not wanted. */
export type EngineProblems = { speech: string | null; meaning: string | null };

/** Settings without the built-in engines that cannot run, and why. */
export async function withUsableEngines(given: Settings): Promise<{ settings: Settings; problems: EngineProblems }> {
  const { settings, problem } = await withChosenModel(given);
  const [speech, meaning] = await Promise.all([problem ?? builtInProblem(settings), meaningProblem(settings)]);
  const usable = {
    ...settings,
    ...(speech !== null && { transcribe_built_in: false }),
    ...(meaning !== null && { embed_built_in: false }),
  };
  return { settings: usable, problems: { speech, meaning } };
}

/** Settings with the folders of installed models, and why one of them is not used: then there is no engine, and audio waits. */
async function withChosenModel(settings: Settings): Promise<{ settings: Settings; problem: string | null }> {
  if (transcriberOf(settings).by !== 'built_in') return { settings, problem: null };
  const { problem, ...folders } = await chosenFolders(settings);
  return { settings: { ...settings, ...folders }, problem };
}
