import { builtInProblem } from '../../features/transcripts/engines/choose_engine.js';
import type { Settings } from '../settings.js';

/** Settings without the built-in engine where it cannot run, and why. */
export async function withUsableSpeech(
  settings: Settings,
): Promise<{ settings: Settings; speech_problem: string | null }> {
  const speech_problem = await builtInProblem(settings);
  const usable = speech_problem === null ? settings : { ...settings, transcribe_built_in: false };
  return { settings: usable, speech_problem };
}
