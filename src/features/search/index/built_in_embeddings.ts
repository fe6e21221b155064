import { LIMITS } from '../../../domain/limits.js';
import { fingerprintOf } from '../../../domain/search/vectors.js';
import { hasMeaningModel, MEANING_MODEL } from '../../../engine/meaning/meaning_model.js';
import { MeaningProcess } from '../../../engine/meaning/meaning_process.js';
import { NoPlace } from '../../../engine/pools/shared_pool.js';
import { ProcessFailed } from '../../../engine/process/framed_process.js';
import { EngineFailed, type EngineFailure } from '../../transcripts/engines/engine.js';
import type { EmbeddingCall, EmbeddingEngine } from './embeddings.js';

/** A model of this server, in a process of its own. Text stays on this machine. */

/** Texts that are worked on at a time, about a quarter of a second of CPU: questions come between. */
const TEXTS_AT_ONCE = 4;
const CODES: Record<ProcessFailed['code'], EngineFailure['code']> = {
  NOT_DECODED: 'ENGINE_ERROR',
  FAILED: 'ENGINE_ERROR',
  EXITED: 'ENGINE_EXITED',
  TIMEOUT: 'ENGINE_TIMEOUT',
  STOPPED: 'ENGINE_STOPPED',
};

export type MeaningSettings = { embed_url: string | null; embed_built_in: boolean; transcribe_nice: number };

export class BuiltInEmbeddings implements EmbeddingEngine {
  readonly #process: MeaningProcess;
  readonly model = fingerprintOf([MEANING_MODEL.name]);
  readonly languages = MEANING_MODEL.languages;

  constructor(meaning_process: MeaningProcess) {
    this.#process = meaning_process;
  }

  async of(texts: readonly string[], { owner, signal, is_question = false }: EmbeddingCall): Promise<Int8Array[]> {
    const found: Int8Array[] = [];
    for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
      const some = texts.slice(from, from + TEXTS_AT_ONCE);
      const asked = is_question
        ? unlessLate(this.#process.embed(some, { owner, signal: NEVER, is_short: true, leaves: signal }), signal)
        : this.#process.embed(some, { owner, signal });
      found.push(...(await asked.catch(thrown)));
    }
    return found;
  }

  async close(): Promise<void> {
    await this.#process.close();
  }
}

const NEVER = new AbortController().signal;

/** Work of a late question goes on: a process that is ended would load its model anew for the next one. */
async function unlessLate<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const waiting = new AbortController();
  const late = new Promise<never>((_, reject) => {
    const onLate = () => reject(new EngineFailed('ENGINE_TIMEOUT', 'The vector of a question was late.'));
    signal.addEventListener('abort', onLate, { once: true, signal: waiting.signal });
  });
  // Its outcome may come when nobody waits for it any more.
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    waiting.abort();
  }
}

function thrown(error: unknown): never {
  if (error instanceof NoPlace) throw new EngineFailed('ENGINE_BUSY', 'Too much text waits for vectors.');
  if (!(error instanceof ProcessFailed)) throw error;
  throw new EngineFailed(CODES[error.code], error.message);
}

/** The process that makes vectors for the built-in model. */
export function openMeaningProcess(
  { transcribe_nice: priority }: Pick<MeaningSettings, 'transcribe_nice'>,
  folder: string = MEANING_MODEL.folder,
): MeaningProcess {
  const { meaning_idle_ms: idle_ms, meaning_silence_ms: silence_ms_max, meaning_bytes_max: memory_bytes_max } = LIMITS;
  return new MeaningProcess({ folder, idle_ms, silence_ms_max, memory_bytes_max, priority });
}

/** Why the built-in model cannot run here; null where it can, or is not wanted. */
export async function meaningProblem(
  settings: MeaningSettings,
  folder: string = MEANING_MODEL.folder,
): Promise<string | null> {
  if (settings.embed_url !== null || !settings.embed_built_in) return null;
  if (!hasMeaningModel(folder)) return 'the model of meaning is not there; `npm start` fetches it';
  const meaning = openMeaningProcess(settings, folder);
  try {
    await meaning.check();
    return null;
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error;
    return `the model of meaning does not run here (${error.message})`;
  } finally {
    await meaning.close();
  }
}
