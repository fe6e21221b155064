import { NO_SPEECH_BEFORE } from '../../../domain/speech_before.js';
import { pcm16Format, writeWav } from '../../../engine/audio/wav.js';
import { ProcessFailed } from '../../../engine/process/framed_process.js';
import { speechProcessFor } from '../engines/choose_engine.js';
import { ModelRefused } from './installed_models.js';

const SILENCE_S = 1;
const RATE = 16_000;

type Proved = { model_folder: string; speakers_folder: string | null };

/**
 * Loads models in a process of their own and has them recognize a second of silence. Gives the memory that they take, in
 * bytes, where the system says it. Throws ModelRefused.
 */
export async function proveModel({ model_folder, speakers_folder }: Proved): Promise<number | null> {
  const speech = speechProcessFor({ model_folder, speakers_folder, english_folder: null, priority: 0 });
  const format = { fmt: pcm16Format({ channels: 1, frames_per_second: RATE }) };
  const silence = writeWav(format, Buffer.alloc(SILENCE_S * RATE * 2));
  const options = {
    ...{ language: null, preview: false, diarize: false, goes_on: false },
    ...{ speech_before: NO_SPEECH_BEFORE, vocabulary: [] },
  };
  try {
    const call = { owner: '', signal: new AbortController().signal };
    await speech.recognize(silence, { ...options, length_s_max: SILENCE_S }, call);
    return await speech.memory();
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error;
    throw new ModelRefused(`The model does not run here: ${error.message}`);
  } finally {
    await speech.close();
  }
}
