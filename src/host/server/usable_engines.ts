import { meaningProblem } from '../../features/search/index/built_in_embeddings.js';
import { builtInProblem } from '../../features/transcripts/engines/choose_engine.js';
import type { Settings } from '../settings.js';

/** Why a built-in engine cannot run here; null where it can, or is not wanted. */
export type EngineProblems = { speech: string | null; meaning: string | null };

/** Settings without the built-in engines that cannot run, and why. */
export async function withUsableEngines(settings: Settings): Promise<{ settings: Settings; problems: EngineProblems }> {
  const [speech, meaning] = await Promise.all([builtInProblem(settings), meaningProblem(settings)]);
  const usable = {
    ...settings,
    ...(speech !== null && { transcribe_built_in: false }),
    ...(meaning !== null && { embed_built_in: false }),
  };
  return { settings: usable, problems: { speech, meaning } };
}
